#include "promql/matcher.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "promql/text.h"

namespace flyball::promql {
namespace {

absl::string_view OpText(Matcher::Op op) {
  switch (op) {
    case Matcher::Op::kEqual:
      return "=";
    case Matcher::Op::kNotEqual:
      return "!=";
    case Matcher::Op::kRegex:
      return "=~";
    case Matcher::Op::kNotRegex:
      return "!~";
  }
  return "";
}

}  // namespace

absl::StatusOr<go::Regexp> CompileAnchored(absl::string_view pattern, bool dot_is_any) {
  // The same wrapping as Prometheus's, so that the same odd patterns compile.
  return go::Regexp::Compile(absl::StrCat(dot_is_any ? "^(?s:" : "^(?:", pattern, ")$"));
}

absl::StatusOr<Matcher> Matcher::Make(absl::string_view label, Op op, absl::string_view value,
                                      bool dot_is_any) {
  Matcher matcher;
  matcher.label_ = std::string(label);
  matcher.op_ = op;
  matcher.value_ = std::string(value);
  if (op == Op::kRegex || op == Op::kNotRegex) {
    ASSIGN_OR_RETURN(matcher.regex_, CompileAnchored(value, dot_is_any));
  }
  return matcher;
}

bool Matcher::Matches(absl::string_view value) const {
  switch (op_) {
    case Op::kEqual:
      return value == value_;
    case Op::kNotEqual:
      return value != value_;
    case Op::kRegex:
      return regex_->Matches(value);
    case Op::kNotRegex:
      return !regex_->Matches(value);
  }
  return false;
}

std::string Matcher::ToString() const {
  return absl::StrCat(label_, OpText(op_), promql::Quote(value_));
}

}  // namespace flyball::promql
