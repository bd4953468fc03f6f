#include "promql/matcher.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "promql/text.h"

namespace flyball::promql {
namespace {

absl::string_view OpText(Matcher::Op op) {
  switch (op) {
    case Matcher::Op::kEqual: return "=";
    case Matcher::Op::kNotEqual: return "!=";
    case Matcher::Op::kRegex: return "=~";
    case Matcher::Op::kNotRegex: return "!~";
  }
  return "";
}

// RE2 limits programs, but not the trees from which it makes them: there a Unicode class, three
// bytes of text, takes five kilobytes and much time.
int64_t TreeBytes(absl::string_view pattern) {
  constexpr int64_t kClassBytes = 8 << 10;
  int64_t classes = 0;
  for (size_t at = 0; at + 1 < pattern.size(); ++at) {
    if (pattern[at] == '\\' && (pattern[at + 1] == 'p' || pattern[at + 1] == 'P')) ++classes;
  }
  return classes * kClassBytes;
}

}  // namespace

absl::Status RegexRoom::Take(int64_t bytes) {
  left_ -= bytes;
  if (left_ >= 0) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the regular expressions of the query take more than ", kBytes >> 20, " MiB"));
}

absl::StatusOr<go::Regexp> CompileAnchored(absl::string_view pattern, bool dot_is_any,
                                           RegexRoom* room) {
  // The same wrapping as Prometheus's, so that the same odd patterns compile.
  const std::string anchored = absl::StrCat(dot_is_any ? "^(?s:" : "^(?:", pattern, ")$");
  if (room == nullptr) return go::Regexp::Compile(anchored);
  const int64_t before = std::max(RegexRoom::kUsualBytes, TreeBytes(pattern));
  RETURN_IF_ERROR(room->Take(before));
  ASSIGN_OR_RETURN(go::Regexp regexp, go::Regexp::Compile(anchored, RegexRoom::kUsualBytes));
  RETURN_IF_ERROR(room->Take(std::max(regexp.most_bytes() - before, int64_t{0})));
  return regexp;
}

absl::StatusOr<Matcher> Matcher::Make(absl::string_view label, Op op, absl::string_view value,
                                      bool dot_is_any, RegexRoom* room) {
  Matcher matcher;
  matcher.label_ = std::string(label);
  matcher.op_ = op;
  matcher.value_ = std::string(value);
  if (op == Op::kRegex || op == Op::kNotRegex) {
    ASSIGN_OR_RETURN(matcher.regex_, CompileAnchored(value, dot_is_any, room));
  }
  return matcher;
}

bool Matcher::Matches(absl::string_view value) const {
  switch (op_) {
    case Op::kEqual: return value == value_;
    case Op::kNotEqual: return value != value_;
    case Op::kRegex: return regex_->Matches(value);
    case Op::kNotRegex: return !regex_->Matches(value);
  }
  return false;
}

std::string Matcher::ToString() const {
  return absl::StrCat(label_, OpText(op_), promql::Quote(value_));
}

}  // namespace flyball::promql
