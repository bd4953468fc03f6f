// Regular expressions as Go reads them, and Go's expansion of `$1` and `${name}`.
//
// Immutable; thread-safe. RE2 is the engine; the differences between Go's regexp and this RE2
// (`(?<name>…)` only in Go, `\C` only in RE2) are removed here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace re2 {
class RE2;
}

namespace flyball::go {

class Regexp {
 public:
  // The most memory of RE2 for one expression: the program, and the states that it keeps.
  static constexpr int64_t kMaxBytes = int64_t{8} << 20;

  // Takes at most `usual_bytes` if the program fits in them, else kMaxBytes; a caller that holds
  // many expressions passes few. With fewer bytes large expressions match more slowly, with equal
  // results.
  //   kInvalidArgument  RE2's reason
  static absl::StatusOr<Regexp> Compile(absl::string_view pattern, int64_t usual_bytes = kMaxBytes);

  const std::string& pattern() const { return pattern_; }
  int64_t most_bytes() const;   // the most memory that it may take
  size_t program_size() const;  // instructions: each byte of a text may cost that many steps
  int groups() const;           // capturing groups
  // Names of the groups, "" where a group has none; [0] is the whole match.
  const std::vector<std::string>& group_names() const { return names_; }

  // Unanchored.
  bool Matches(absl::string_view text) const;
  // Leftmost-first match: [0] the whole, then the groups; a group that took no part is a null view.
  std::optional<std::vector<absl::string_view>> Find(absl::string_view text) const;
  // `as` expanded against the first match; nullopt: no match. Ends soon after `most_bytes`: a
  // longer result is incomplete.
  std::optional<std::string> Expand(absl::string_view text, absl::string_view as,
                                    size_t most_bytes = std::string::npos) const;

 private:
  Regexp(std::string pattern, std::shared_ptr<const re2::RE2> regexp);

  std::string pattern_;
  std::shared_ptr<const re2::RE2> regexp_;
  std::vector<std::string> names_;
};

// regexp.QuoteMeta: the text as a pattern for itself.
std::string QuoteMeta(absl::string_view text);

}  // namespace flyball::go
