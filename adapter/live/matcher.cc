#include "adapter/live/matcher.h"

#include <re2/re2.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "adapter/live/promql/text.h"
#include "base/status_macros.h"

namespace flyball::adapter {
namespace {

re2::StringPiece Piece(absl::string_view text) { return {text.data(), text.size()}; }

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

absl::StatusOr<std::shared_ptr<const re2::RE2>> CompileAnchored(absl::string_view pattern,
                                                                bool dot_is_any) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  // The same wrapping as Prometheus's, so that the same odd patterns compile.
  const std::string text = absl::StrCat(dot_is_any ? "^(?s:" : "^(?:", pattern, ")$");
  auto regex = std::make_shared<const re2::RE2>(text, options);
  if (!regex->ok()) return absl::InvalidArgumentError(regex->error());
  return regex;
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
      return re2::RE2::FullMatch(Piece(value), *regex_);
    case Op::kNotRegex:
      return !re2::RE2::FullMatch(Piece(value), *regex_);
  }
  return false;
}

std::string Matcher::ToString() const {
  return absl::StrCat(label_, OpText(op_), promql::Quote(value_));
}

}  // namespace flyball::adapter
