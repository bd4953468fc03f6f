#include "adapter/live/formats/text_scanner.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "promql/text.h"

namespace flyball::formats {
namespace {

enum : uint8_t { kNameStart = 1, kNamePart = 2, kColon = 4, kPlain = 8 };

// What each byte may be part of. kPlain: nothing to look at within quotes.
constexpr std::array<uint8_t, 256> kClasses = [] {
  std::array<uint8_t, 256> classes = {};
  for (int c = 0; c < 256; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (letter) classes[c] |= kNameStart;
    if (letter || digit) classes[c] |= kNamePart;
    if (c == ':') classes[c] |= kColon;
    if (c != '"' && c != '\\' && c != '\n') classes[c] |= kPlain;
  }
  return classes;
}();

bool Is(char c, uint8_t classes) { return (kClasses[static_cast<uint8_t>(c)] & classes) != 0; }

}  // namespace

bool TextScanner::Skip(absl::string_view word) {
  const absl::string_view rest(at_, static_cast<size_t>(end_ - at_));
  if (!absl::StartsWith(rest, word)) return false;
  at_ += word.size();
  return true;
}

absl::string_view TextScanner::TakeMetricName() {
  const char* const start = at_;
  if (at_ == end_ || !Is(*at_, kNameStart | kColon)) return "";
  while (at_ != end_ && Is(*at_, kNamePart | kColon)) ++at_;
  return Since(start);
}

absl::string_view TextScanner::TakeLabelName() {
  const char* const start = at_;
  if (at_ == end_ || !Is(*at_, kNameStart)) return "";
  while (at_ != end_ && Is(*at_, kNamePart)) ++at_;
  return Since(start);
}

absl::string_view TextScanner::TakeDigits() {
  const char* const start = at_;
  while (at_ != end_ && absl::ascii_isdigit(static_cast<unsigned char>(*at_))) ++at_;
  return Since(start);
}

absl::string_view TextScanner::TakeUntil(char stop, char second, char third) {
  const char* const start = at_;
  while (at_ != end_ && *at_ != '\n' && *at_ != stop && *at_ != second && *at_ != third) ++at_;
  return Since(start);
}

absl::string_view TextScanner::TakeLine() {
  const char* const start = at_;
  at_ = std::find(at_, end_, '\n');
  return Since(start);
}

bool TextScanner::TakeQuoted(bool line_breaks, absl::string_view& text) {
  const char* const start = ++at_;
  while (true) {
    while (at_ != end_ && Is(*at_, kPlain)) ++at_;
    if (at_ == end_) return FailAt(start - 1, "the quotes are not closed");
    if (*at_ == '"') break;
    if (*at_ == '\n' && !line_breaks) return Fail("a line break within quotes");
    if (*at_ == '\\') {
      ++at_;
      if (at_ == end_ || *at_ == '\n') return Fail("a backslash escapes nothing");
    }
    ++at_;
  }
  text = Since(start);
  ++at_;
  return true;
}

bool TextScanner::TakeFamilyName(absl::string_view& name) {
  if (Peek() == '"') return TakeQuoted(/*line_breaks=*/true, name);
  name = TakeMetricName();
  return !name.empty() || Fail("expected a metric's name");
}

absl::Status TextScanner::error() const {
  const char* line_start = begin_;
  int64_t line = 1;
  for (const char* c = begin_; c < failed_at_; ++c) {
    if (*c != '\n') continue;
    ++line;
    line_start = c + 1;
  }
  constexpr ptrdiff_t kShown = 20;
  const auto shown = static_cast<size_t>(std::min(kShown, end_ - failed_at_));
  const std::string found =
      shown == 0 ? std::string("the end") : promql::Quote(absl::string_view(failed_at_, shown));
  return absl::InvalidArgumentError(absl::StrCat(
      "line ", line, ", column ", failed_at_ - line_start + 1, ": ", failure_, ", found ", found));
}

}  // namespace flyball::formats
