#include "adapter/live/formats/text_escapes.h"

namespace flyball::formats {

absl::string_view Unescape(absl::string_view text, bool quotes, std::string& scratch) {
  if (text.find('\\') == absl::string_view::npos) return text;
  const size_t start = scratch.size();
  for (size_t at = 0; at < text.size(); ++at) {
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (text[at] != '\\' || (next != '\\' && next != 'n' && (next != '"' || !quotes))) {
      scratch.push_back(text[at]);
      continue;
    }
    scratch.push_back(next == 'n' ? '\n' : next);
    ++at;
  }
  return absl::string_view(scratch).substr(start);
}

void AppendEscaped(absl::string_view text, std::string& out) {
  for (const char c : text) {
    if (c == '\\' || c == '"') out.push_back('\\');
    if (c == '\n') {
      out.append("\\n");
    } else {
      out.push_back(c);
    }
  }
}

}  // namespace flyball::formats
