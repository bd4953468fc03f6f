#include "scaler/front/hosts/host_routes.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"

namespace flyball::front {
namespace {

constexpr size_t kMostPlaces = 100;
constexpr size_t kMostHeaders = 16;
constexpr size_t kLongestPath = 1024;
constexpr size_t kLongestValue = 1024;
constexpr size_t kMostHeaderBytes = 2048;  // of one service: each of its routes has them

absl::Status Wrong(absl::string_view key, absl::string_view what, absl::string_view problem) {
  return absl::InvalidArgumentError(absl::StrCat(key, ": \"", what, "\" ", problem));
}

std::vector<absl::string_view> ListOf(absl::string_view text) {
  std::vector<absl::string_view> items;
  for (absl::string_view item : absl::StrSplit(text, ',')) {
    item = absl::StripAsciiWhitespace(item);
    if (!item.empty()) items.push_back(item);
  }
  return items;
}

bool IsLabel(absl::string_view label) {
  return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
         std::all_of(label.begin(), label.end(), [](unsigned char c) {
           return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-' || c == '_';
         });
}

absl::StatusOr<std::string> ReadHost(absl::string_view text) {
  const std::string host = absl::AsciiStrToLower(text);
  if (host == "*") return host;
  absl::string_view name = host;
  absl::ConsumePrefix(&name, "*.");
  const std::vector<absl::string_view> labels = absl::StrSplit(name, '.');
  if (name.size() > 253 || !std::all_of(labels.begin(), labels.end(), IsLabel)) {
    return Wrong("hosts", text, "is no host: shop.example.com, *.example.com or *, without port");
  }
  return host;
}

absl::StatusOr<std::string> ReadPath(absl::string_view key, absl::string_view text) {
  absl::string_view path = text;
  while (absl::ConsumeSuffix(&path, "/")) continue;
  if (path.empty()) return std::string("/");
  const bool plain = std::all_of(path.begin(), path.end(), [](unsigned char c) {
    return absl::ascii_isgraph(c) && c != '?' && c != '#' && c != '"' && c != '\\';
  });
  if (path.front() != '/' || !plain || path.size() > kLongestPath) {
    return Wrong(key, text, "is no path: /api, without query");
  }
  return std::string(path);
}

absl::StatusOr<HeaderNeed> ReadHeader(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('=', 1));
  HeaderNeed need{.name = absl::AsciiStrToLower(absl::StripAsciiWhitespace(parts.first)),
                  .value = std::nullopt};
  const bool name_ok = !need.name.empty() && need.name.size() <= 256 &&
                       std::all_of(need.name.begin(), need.name.end(), [](unsigned char c) {
                         return absl::ascii_isalnum(c) || absl::StrContains("!#$%&'*+-.^_`|~", c);
                       });
  if (!name_ok) return Wrong("headers", text, "is no header: x-tenant, or x-tenant=acme");
  if (!absl::StrContains(text, '=')) return need;
  need.value = std::string(absl::StripAsciiWhitespace(parts.second));
  const bool value_ok = need.value->size() <= kLongestValue &&
                        std::all_of(need.value->begin(), need.value->end(),
                                    [](unsigned char c) { return absl::ascii_isprint(c); });
  // Envoy takes an empty exact value as "no value given", so it cannot be matched.
  if (!value_ok || need.value->empty()) return Wrong("headers", text, "has no value to compare");
  return need;
}

// Both lists are untrusted and may have many thousand items, so nothing of the size of their
// product is computed or stored: repeated items are taken once, and never more than the limit are
// kept.
absl::StatusOr<std::vector<HostPlace>> ReadPlaces(absl::string_view hosts,
                                                  absl::string_view path_prefixes) {
  std::set<std::string> prefixes;
  for (const absl::string_view text : ListOf(path_prefixes)) {
    ASSIGN_OR_RETURN(std::string path, ReadPath("pathPrefixes", text));
    // One beyond the limit is enough for any host to be refused.
    if (prefixes.size() <= kMostPlaces) prefixes.insert(std::move(path));
  }
  if (prefixes.empty()) prefixes.insert("/");
  std::set<HostPlace> places;
  std::set<std::string> with_prefixes;  // the hosts that have them
  for (const absl::string_view text : ListOf(hosts)) {
    const size_t slash = text.find('/');
    ASSIGN_OR_RETURN(const std::string host, ReadHost(text.substr(0, slash)));
    if (slash != text.npos) {
      ASSIGN_OR_RETURN(std::string path, ReadPath("hosts", text.substr(slash)));
      places.insert({host, std::move(path)});
    } else if (with_prefixes.insert(host).second) {
      for (const std::string& path : prefixes) places.insert({host, path});
    }
    if (places.size() > kMostPlaces) {
      return absl::InvalidArgumentError(
          absl::StrCat("hosts: with their paths they must be at most ", kMostPlaces));
    }
  }
  return std::vector<HostPlace>(places.begin(), places.end());
}

}  // namespace

absl::StatusOr<HostRoutes> ReadHostRoutes(absl::string_view hosts, absl::string_view path_prefixes,
                                          absl::string_view headers) {
  HostRoutes routes;
  ASSIGN_OR_RETURN(routes.places, ReadPlaces(hosts, path_prefixes));
  if (routes.places.empty()) {
    const bool alone = !ListOf(path_prefixes).empty() || !ListOf(headers).empty();
    if (!alone) return routes;
    return absl::InvalidArgumentError(
        "hosts: pathPrefixes and headers are looked at only with hosts; any host is *");
  }
  for (const absl::string_view text : ListOf(headers)) {
    ASSIGN_OR_RETURN(HeaderNeed need, ReadHeader(text));
    routes.headers.push_back(std::move(need));
  }
  std::sort(routes.headers.begin(), routes.headers.end());
  routes.headers.erase(std::unique(routes.headers.begin(), routes.headers.end()),
                       routes.headers.end());
  if (routes.headers.size() > kMostHeaders) {
    return absl::InvalidArgumentError(absl::StrCat("headers: must be at most ", kMostHeaders));
  }
  size_t bytes = 0;
  for (const HeaderNeed& need : routes.headers) {
    bytes += need.name.size() + need.value.value_or("").size();
  }
  if (bytes > kMostHeaderBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("headers: must have at most ", kMostHeaderBytes, " bytes together"));
  }
  return routes;
}

std::vector<std::string> TextsOf(const std::vector<HostPlace>& places) {
  std::vector<std::string> texts;
  for (const HostPlace& place : places) texts.push_back(TextOf(place, {}));
  return texts;
}

std::vector<std::string> TextsOf(const std::vector<HeaderNeed>& headers) {
  std::vector<std::string> texts;
  for (const HeaderNeed& need : headers) {
    texts.push_back(need.value.has_value() ? absl::StrCat(need.name, "=", *need.value) : need.name);
  }
  return texts;
}

std::string TextOf(const HostPlace& place, const std::vector<HeaderNeed>& headers) {
  return absl::StrCat(place.host, place.path == "/" ? "" : place.path,
                      headers.empty() ? "" : " with ", absl::StrJoin(TextsOf(headers), ","));
}

void ForEachWildcardAbove(absl::string_view host,
                          absl::FunctionRef<void(const std::string&)> visit) {
  if (host == "*") return;
  absl::string_view name = host;
  absl::ConsumePrefix(&name, "*.");
  const bool itself_is_one = name.size() != host.size();
  if (itself_is_one) name = host.substr(1);
  for (size_t dot = name.find('.', itself_is_one ? 1 : 0); dot != name.npos;
       dot = name.find('.', dot + 1)) {
    visit(absl::StrCat("*", name.substr(dot)));
  }
  visit("*");
}

}  // namespace flyball::front
