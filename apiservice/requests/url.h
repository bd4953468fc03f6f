// Request targets: path segments and query parameters, decoded as Go's net/url does.
//
// Pure.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace flyball::apiservice {

// The parameters of a request, decoded only when they are read: a request that is refused mostly
// never reads them. It holds views of the text that it was made from, which must outlive it.
class Query {
 public:
  static constexpr size_t kMaxParameters = 1000;
  static constexpr size_t kMaxValues = 64;

  Query() = default;
  // Reads at most kMaxParameters. Pairs with a malformed escape or a `;` are ignored, as in Go's
  // URL.Query().
  explicit Query(absl::string_view raw);

  // The first value of a name; nullopt if absent.
  std::optional<std::string> Get(absl::string_view name) const;
  // The first value, "" if absent.
  std::string Value(absl::string_view name) const { return Get(name).value_or(""); }
  bool Has(absl::string_view name) const { return Find(name) != pairs_.end(); }
  // The first value in the form in which an error may repeat it: only the beginning of a long one.
  std::string Shown(absl::string_view name) const;
  // The same form of the first kMaxValues values of that name.
  std::vector<std::string> AllShown(absl::string_view name) const;
  // Go's reading of a boolean parameter: present and neither `false` nor `0`.
  bool Flag(absl::string_view name) const;
  // The length of the first value as it was sent; the decoded value is not longer.
  size_t BytesSent(absl::string_view name) const;

 private:
  using Pairs = absl::InlinedVector<std::pair<absl::string_view, absl::string_view>, 4>;
  Pairs::const_iterator Find(absl::string_view name) const;

  Pairs pairs_;  // well formed, percent-encoded
};

struct Target {
  static constexpr size_t kMaxPathBytes = 8 << 10;

  std::string path;                   // decoded, as written otherwise: for messages and reviews
  std::vector<std::string> segments;  // decoded one by one; "" for `//` and a trailing slash
  Query query;                        // views of what was parsed
};

// Takes a path or a whole URL (`http://host/path`), whose origin is ignored. A segment may contain
// a decoded `/`, which no route matches.
//   kInvalidArgument    neither of both, a malformed percent escape in the path, more parameters
//                       than a Query holds
//   kResourceExhausted  the path is longer than kMaxPathBytes
absl::StatusOr<Target> ParseTarget(absl::string_view raw);

}  // namespace flyball::apiservice
