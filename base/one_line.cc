#include "base/one_line.h"

#include "absl/strings/str_cat.h"

namespace flyball {

std::string OneLine(absl::string_view text) {
  constexpr absl::string_view kHex = "0123456789abcdef";
  std::string line;
  line.reserve(text.size());
  bool second = false;  // of the two bytes of a control character
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // C1 controls are two bytes in UTF-8, of which the first is 0xc2.
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool first = byte == 0xc2 && next >= 0x80 && next < 0xa0;
    if (byte == '\n') {
      line.append("\\n");
    } else if (byte < 0x20 || byte == 0x7f || first || second) {
      line.append({'\\', 'x', kHex[byte >> 4], kHex[byte & 15]});
    } else {
      line.push_back(text[i]);
    }
    second = first;
  }
  return line;
}

absl::string_view Beginning(absl::string_view text, size_t max) {
  if (text.size() <= max) return text;
  // Not within a character of several bytes; of bytes that are no UTF-8, at most its longest.
  for (int i = 0; i < 3 && max > 0 && (text[max] & 0xC0) == 0x80; ++i) --max;
  return text.substr(0, max);
}

std::string BriefText(absl::string_view text, size_t max) {
  return absl::StrCat(Beginning(text, max), text.size() > max ? "..." : "");
}

std::string Abridged(absl::string_view text, size_t max) {
  const absl::string_view shown = Beginning(text, max);
  if (shown.size() == text.size()) return std::string(text);
  return absl::StrCat(shown, "... (", text.size() - shown.size(), " bytes more)");
}

}  // namespace flyball
