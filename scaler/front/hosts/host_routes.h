// Which requests at the listener for hosts belong to a service: by host, path prefix and headers.
//
// Pure. As in KEDA's http-add-on, a port in the Host header does not matter, nor the case of hosts
// and header names; a prefix matches whole segments of a path, so "/api" does not match "/apis". If
// several services match, the most specific one counts: a full host before wildcards, longer
// wildcards before shorter ones, then longer paths, then more headers.
// Difference: if the headers of the longest path do not match, shorter paths are tried; the add-on
// goes on with the next wildcard.
#pragma once

#include <optional>
#include <string>
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
  std::optional<std::string> value;  // absent: any value will do
  auto operator<=>(const HeaderNeed&) const = default;
};

struct HostRoutes {
  std::vector<HostPlace> places;    // any of them
  std::vector<HeaderNeed> headers;  // all of them
  bool empty() const { return places.empty(); }
  bool operator==(const HostRoutes&) const = default;
};

// Reads the texts of a trigger's metadata, which are comma-separated lists: hosts as "HOST" or
// "HOST/PREFIX", prefixes for the hosts that have none, and headers as "NAME" or "NAME=VALUE".
//   kInvalidArgument  `KEY: what`, by the name of the metadata
absl::StatusOr<HostRoutes> ReadHostRoutes(absl::string_view hosts, absl::string_view path_prefixes,
                                          absl::string_view headers);

// The places and the headers in the form that ReadHostRoutes reads.
std::vector<std::string> TextsOf(const std::vector<HostPlace>& places);
std::vector<std::string> TextsOf(const std::vector<HeaderNeed>& headers);

// "shop.example.com/api with x-tenant=acme", for messages.
std::string TextOf(const HostPlace& place, const std::vector<HeaderNeed>& headers);

// Calls `visit` with each wildcard that covers all of `host`, longer ones first, but not with
// `host` itself: "*.b.example.com", "*.example.com", "*.com" and "*" for "a.b.example.com".
void ForEachWildcardAbove(absl::string_view host,
                          absl::FunctionRef<void(const std::string&)> visit);

}  // namespace flyball::front
