#include "http/client/url.h"

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/go/url.h"
#include "base/status_macros.h"

namespace flyball::http {
namespace {

absl::Status SplitAuthority(absl::string_view authority, Url* url) {
  absl::string_view port;
  if (absl::StartsWith(authority, "[")) {
    const size_t end = authority.find(']');
    if (end == absl::string_view::npos) return absl::InvalidArgumentError("no ] after [ in URL");
    url->host = absl::AsciiStrToLower(authority.substr(1, end - 1));
    port = authority.substr(end + 1);
  } else {
    const size_t colon = authority.find(':');
    url->host = absl::AsciiStrToLower(authority.substr(0, colon));
    if (colon != absl::string_view::npos) port = authority.substr(colon);
  }
  if (url->host.empty()) return absl::InvalidArgumentError("URL has no host");
  for (const char c : url->host) {
    if (!absl::ascii_isgraph(c) || absl::StrContains("\"<>\\^`{|}[]@", c)) {
      return absl::InvalidArgumentError("URL has a host that is no host name");
    }
  }
  if (port.empty() || port == ":") return absl::OkStatus();
  if (port.front() != ':' || !absl::SimpleAtoi(port.substr(1), &url->port) || url->port < 1 ||
      url->port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("URL has no port from 1 to 65535 after the host ", url->host));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Url> Url::Parse(absl::string_view text) {
  Url url;
  text = absl::StripAsciiWhitespace(text);
  const size_t scheme_end = text.find("://");
  const std::string scheme = absl::AsciiStrToLower(
      scheme_end == absl::string_view::npos ? absl::string_view() : text.substr(0, scheme_end));
  if (scheme != "http" && scheme != "https") {
    return absl::InvalidArgumentError("URL does not start with http:// or https://");
  }
  url.tls = scheme == "https";
  url.port = url.tls ? 443 : 80;
  text.remove_prefix(scheme_end + 3);
  const size_t authority_end = text.find_first_of("/?#");
  absl::string_view authority = text.substr(0, authority_end);
  const size_t at = authority.rfind('@');
  if (at != absl::string_view::npos) {
    const absl::string_view user = authority.substr(0, at);
    const size_t colon = user.find(':');
    url.username = go::Unescape(user.substr(0, colon), false);
    if (colon != absl::string_view::npos)
      url.password = go::Unescape(user.substr(colon + 1), false);
    authority.remove_prefix(at + 1);
  }
  RETURN_IF_ERROR(SplitAuthority(authority, &url));
  if (authority_end != absl::string_view::npos) {
    absl::string_view path = text.substr(authority_end);
    path = path.substr(0, path.find_first_of("?#"));
    while (absl::ConsumeSuffix(&path, "/")) {
    }
    url.path = std::string(path);
  }
  return url;
}

std::string Url::Origin() const {
  const bool ipv6 = absl::StrContains(host, ":");
  return absl::StrCat(tls ? "https://" : "http://", ipv6 ? "[" : "", host, ipv6 ? "]" : "", ":",
                      port);
}

absl::StatusOr<RedirectTarget> ResolveRedirect(const Url& from, absl::string_view target,
                                               absl::string_view location) {
  RedirectTarget out;
  out.origin = from;
  out.origin.path.clear();
  location = location.substr(0, location.find('#'));
  if (location.empty()) return absl::InvalidArgumentError("redirect without a Location");
  if (absl::StartsWith(location, "//") || absl::StrContains(location.substr(0, 8), "://")) {
    const std::string whole = absl::StartsWith(location, "//")
                                  ? absl::StrCat(from.tls ? "https:" : "http:", location)
                                  : std::string(location);
    ASSIGN_OR_RETURN(out.origin, Url::Parse(whole));
    out.origin.path.clear();
    const size_t start = location.find_first_of("/?", location.find("//") + 2);
    location = start == absl::string_view::npos ? absl::string_view("/") : location.substr(start);
  }
  const absl::string_view old_path = target.substr(0, target.find('?'));
  const absl::string_view new_path = location.substr(0, location.find('?'));
  const absl::string_view new_query = location.substr(new_path.size());
  if (new_path.empty()) {
    out.target = std::string(old_path);
  } else {
    // Relative to the folder of the old path, unless it begins at the root.
    const absl::string_view folder =
        new_path[0] == '/' ? absl::string_view() : old_path.substr(0, old_path.rfind('/') + 1);
    out.target = absl::StrCat(folder, go::EscapeForRequestLine(new_path));
  }
  absl::StrAppend(&out.target, go::EscapeForRequestLine(new_query));
  return out;
}

absl::string_view WithoutOrigin(absl::string_view message, absl::string_view url) {
  if (const absl::StatusOr<Url> parsed = Url::Parse(url); parsed.ok()) {
    absl::ConsumePrefix(&message, absl::StrCat(parsed->Origin(), ": "));
  }
  return message;
}

}  // namespace flyball::http
