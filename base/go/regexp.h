// Regular expressions as Go reads them, and Go's expansion of `$1` and `${name}`.
//
// Immutable; thread-safe. RE2 is the engine; what Go's regexp accepts and this RE2 does not
// (`(?<name>…)`), or the other way round (`\C`), is evened out here.
#pragma once

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
  // kInvalidArgument: RE2's reason.
  static absl::StatusOr<Regexp> Compile(absl::string_view pattern);

  const std::string& pattern() const { return pattern_; }
  int groups() const;  // capturing groups
  // Names of the groups, "" where a group has none; [0] is the whole match.
  const std::vector<std::string>& group_names() const { return names_; }

  // Unanchored.
  bool Matches(absl::string_view text) const;
  // Leftmost-first match: [0] the whole, then the groups; a group that took no part is a null view.
  std::optional<std::vector<absl::string_view>> Find(absl::string_view text) const;
  // `as` expanded against the first match; nullopt: no match.
  std::optional<std::string> Expand(absl::string_view text, absl::string_view as) const;

 private:
  Regexp(std::string pattern, std::shared_ptr<const re2::RE2> regexp);

  std::string pattern_;
  std::shared_ptr<const re2::RE2> regexp_;
  std::vector<std::string> names_;
};

// regexp.QuoteMeta: the text as a pattern for itself.
std::string QuoteMeta(absl::string_view text);

}  // namespace flyball::go
