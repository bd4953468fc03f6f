// Request targets: path segments and query parameters, decoded as Go's net/url does.
//
// Pure.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace flyball::apiservice {

// %XX decoded; nullopt on a malformed escape. `plus_is_space` in queries only.
std::optional<std::string> PercentDecode(absl::string_view text, bool plus_is_space);

class Query {
 public:
  Query() = default;
  // Pairs with a malformed escape or a `;` are dropped, as Go's URL.Query() drops them.
  explicit Query(absl::string_view raw);

  // The first value of a name; nullopt if absent.
  std::optional<absl::string_view> Get(absl::string_view name) const;
  // The first value, "" if absent.
  absl::string_view Value(absl::string_view name) const { return Get(name).value_or(""); }
  bool Has(absl::string_view name) const { return Get(name).has_value(); }
  std::vector<std::string> All(absl::string_view name) const;
  // As Go reads a boolean parameter: present and neither `false` nor `0`.
  bool Flag(absl::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

struct Target {
  std::string path;                   // decoded, as written otherwise: for messages and reviews
  std::vector<std::string> segments;  // decoded one by one; "" for `//` and a trailing slash
  Query query;
};

// nullopt: not a path, or a malformed percent escape in it. A segment may hold a decoded `/`, which
// no route matches.
std::optional<Target> ParseTarget(absl::string_view raw);

// time.ParseDuration of Go: `1m30s`, `1.5h`, `-2ms`. kInvalidArgument with Go's text. Values beyond
// int64 nanoseconds are errors.
absl::StatusOr<absl::Duration> ParseGoDuration(absl::string_view text);

}  // namespace flyball::apiservice
