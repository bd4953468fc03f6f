// Which requests of the listener for hosts are a service's: by host, path prefix and headers.
//
// Pure. As KEDA's http-add-on reads them: a port in the Host header does not matter, nor the case
// of hosts and header names; a prefix matches whole segments of a path, so that "/api" is not
// "/apis". Of several services the most particular counts: a host in full before wildcards, longer
// wildcards before shorter ones, then longer paths, then more headers.
// Differs: where the longest path's headers do not match, shorter paths are looked at; the add-on
// goes on with the next wildcard.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace flyball::front {

struct HostPlace {
  std::string host;        // in lower case: "shop.example.com", "*.example.com", or "*" for any
  std::string path = "/";  // "/api", without a slash at its end
  auto operator<=>(const HostPlace&) const = default;
};

struct HeaderNeed {
  std::string name;                  // in lower case
  std::optional<std::string> value;  // absent: it has to be there
  auto operator<=>(const HeaderNeed&) const = default;
};

struct HostRoutes {
  std::vector<HostPlace> places;    // any of them
  std::vector<HeaderNeed> headers;  // all of them
  bool empty() const { return places.empty(); }
  bool operator==(const HostRoutes&) const = default;
};

// The texts of a trigger's metadata, which are lists with commas: hosts as "HOST" or "HOST/PREFIX",
// the prefixes of those hosts that say none, and headers as "NAME" or "NAME=VALUE".
//   kInvalidArgument  `KEY: what`, by the name of the metadata
absl::StatusOr<HostRoutes> ReadHostRoutes(absl::string_view hosts, absl::string_view path_prefixes,
                                          absl::string_view headers);

// "shop.example.com/api with x-tenant=acme", for messages.
std::string TextOf(const HostPlace& place, const std::vector<HeaderNeed>& headers);

// Calls `visit` with each wildcard whose requests hold all those of `host`, longer ones first, and
// not with `host` itself: "*.b.example.com", "*.example.com", "*.com" and "*" for
// "a.b.example.com".
void ForEachWildcardAbove(absl::string_view host,
                          absl::FunctionRef<void(const std::string&)> visit);

}  // namespace flyball::front
