// The parts of an http or https URL, as far as a client needs them.
//
// Pure.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace flyball::http {

struct Url {
  bool tls = false;
  std::string host;  // without brackets; lower case
  int port = 0;      // 80 or 443 if the text has none
  std::string path;  // "" or "/base/path", without a slash at the end and without the query
  std::string username, password;  // percent-decoded

  // kInvalidArgument without the password in its text.
  static absl::StatusOr<Url> Parse(absl::string_view text);

  bool SameOrigin(const Url& other) const {
    return tls == other.tls && host == other.host && port == other.port;
  }
  // "https://host:port", IPv6 in brackets.
  std::string Origin() const;
};

// Where a Location header leads from `from` + `target`: the URL of the origin and the target on it.
struct RedirectTarget {
  Url origin;
  std::string target;
};

// Characters that are not allowed in a request line are encoded.
absl::StatusOr<RedirectTarget> ResolveRedirect(const Url& from, absl::string_view target,
                                               absl::string_view location);

// The text of a transport's error without the origin of `url` at its beginning, for callers that
// name the server in their own words.
absl::string_view WithoutOrigin(absl::string_view message, absl::string_view url);

}  // namespace flyball::http
