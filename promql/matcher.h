// One condition of a series selector: label, operator, value.
//
// Pure, immutable, safe on any thread. Source: Prometheus 2.42.0 and 3.15.0, model/labels. Regular
// expressions are RE2, anchored at both ends, and limited in size by RE2 itself (8 MiB of program).
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/go/regexp.h"

namespace flyball::promql {

// A regular expression that must match the whole text, as Prometheus anchors it. `dot_is_any`: `.`
// matches a line break too (Prometheus 3); otherwise it does not (Prometheus 2).
//   kInvalidArgument  not an RE2 expression; the text is RE2's
absl::StatusOr<go::Regexp> CompileAnchored(absl::string_view pattern, bool dot_is_any = true);

class Matcher {
 public:
  enum class Op { kEqual, kNotEqual, kRegex, kNotRegex };

  static absl::StatusOr<Matcher> Make(absl::string_view label, Op op, absl::string_view value,
                                      bool dot_is_any = true);

  const std::string& label() const { return label_; }
  Op op() const { return op_; }
  const std::string& value() const { return value_; }

  // `value` is "" for a series without the label.
  bool Matches(absl::string_view value) const;

  // `label=~"value"`, the value quoted.
  std::string ToString() const;

 private:
  Matcher() = default;

  std::string label_;
  Op op_ = Op::kEqual;
  std::string value_;
  std::optional<go::Regexp> regex_;  // only for kRegex and kNotRegex
};

}  // namespace flyball::promql
