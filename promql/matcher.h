// One condition of a series selector: label, operator, value.
//
// Pure, immutable, safe on any thread. Source: Prometheus 2.42.0 and 3.15.0, model/labels. Regular
// expressions are RE2, anchored at both ends. Limits: 8 MiB for each of them by RE2 itself, and
// RegexRoom for those of one query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/go/regexp.h"

namespace flyball::promql {

// Room for the regular expressions of one query, over all its selectors. Each takes 1 MiB of it,
// for its program and for what RE2 keeps while it matches, and a large one 8 MiB.
class RegexRoom {
 public:
  static constexpr int64_t kBytes = int64_t{64} << 20;
  static constexpr int64_t kUsualBytes = int64_t{1} << 20;

  // kResourceExhausted: there is none left.
  absl::Status Take(int64_t bytes);

 private:
  int64_t left_ = kBytes;
};

// A regular expression that must match the whole text, as Prometheus anchors it. `dot_is_any`: `.`
// matches a line break too (Prometheus 3); otherwise it does not (Prometheus 2). The expression
// takes its memory from `room`, if given.
//   kInvalidArgument    not an RE2 expression; the text is RE2's
//   kResourceExhausted  no room
absl::StatusOr<go::Regexp> CompileAnchored(absl::string_view pattern, bool dot_is_any = true,
                                           RegexRoom* room = nullptr);

class Matcher {
 public:
  enum class Op { kEqual, kNotEqual, kRegex, kNotRegex };

  static absl::StatusOr<Matcher> Make(absl::string_view label, Op op, absl::string_view value,
                                      bool dot_is_any = true, RegexRoom* room = nullptr);

  const std::string& label() const { return label_; }
  Op op() const { return op_; }
  const std::string& value() const { return value_; }

  // `value` is "" for a series without the label.
  bool Matches(absl::string_view value) const;

  // The most that a call of Matches costs, in comparisons of short texts.
  size_t cost() const { return regex_ ? 1 + regex_->program_size() / 16 : 1; }

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
