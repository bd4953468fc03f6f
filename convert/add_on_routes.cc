#include "convert/add_on_routes.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "kube/objects/json_members.h"

namespace flyball::convert {
namespace {

using Json = nlohmann::ordered_json;
using kube::ItemsOf;
using kube::MemberOf;
using kube::TextOf;
using kube::TextsOf;

// One rule: a request fits with any of the hosts, any of the paths and all headers; an empty list
// fits every request.
struct Rule {
  std::vector<std::string> hosts, paths;
  std::string headers;
};

std::string HeadersOf(const Json& object, const std::string& path, Manifests& out) {
  std::vector<std::string> headers;
  const Json& written = ItemsOf(object, "headers");
  for (size_t i = 0; i < written.size(); ++i) {
    std::string header = TextOf(written[i], "name");
    const Json& value = MemberOf(written[i], "value");
    if (value.is_string()) absl::StrAppend(&header, "=", value.get<std::string>());
    if (header.find(',') != header.npos) {
      out.Refuse(absl::StrCat(path, ".headers[", i, "]"), "must not contain a comma");
    }
    headers.push_back(std::move(header));
  }
  return absl::StrJoin(headers, ",");
}

// The host without its port, which the add-on ignores. An IPv6 address is in brackets.
std::string WithoutPort(const std::string& host) {
  const size_t end = host.find(']');
  return host.substr(0, host.find(':', end == host.npos ? 0 : end));
}

// The hosts without ports, and with "*" for an empty one, as both mean any.
std::vector<std::string> HostsOf(std::vector<std::string> hosts) {
  for (std::string& host : hosts) {
    host = WithoutPort(host);
    if (host.empty()) host = "*";
  }
  if (hosts.empty()) hosts.push_back("*");
  return hosts;
}

// The path with one slash before it and none after it, as the add-on ignores slashes at both ends.
std::string PathOf(absl::string_view path) {
  while (!path.empty() && path.front() == '/') path.remove_prefix(1);
  while (!path.empty() && path.back() == '/') path.remove_suffix(1);
  return absl::StrCat("/", path);
}

std::string Joined(const std::vector<std::string>& texts, const std::string& path, Manifests& out) {
  for (const std::string& text : texts) {
    if (text.find(',') == text.npos) continue;
    out.Refuse(path, absl::StrCat("must not contain a comma: ", text));
  }
  return absl::StrJoin(texts, ",");
}

}  // namespace

AddOnRoutes RoutesOfObject(const Json& spec, Manifests& out) {
  std::vector<std::string> hosts = TextsOf(spec, "hosts");
  if (const std::string host = TextOf(spec, "host"); !host.empty()) hosts.push_back(host);
  std::vector<std::string> paths = TextsOf(spec, "pathPrefixes");
  for (std::string& path : paths) path = PathOf(path);
  return {.hosts = Joined(HostsOf(std::move(hosts)), "spec.hosts", out),
          .path_prefixes = Joined(paths, "spec.pathPrefixes", out),
          .headers = HeadersOf(spec, "spec", out)};
}

AddOnRoutes RoutesOfRules(const Json& spec, Manifests& out) {
  const Json& rules = ItemsOf(spec, "rules");
  AddOnRoutes routes;
  std::vector<std::string> places;
  for (size_t i = 0; i < rules.size(); ++i) {
    const std::string path = absl::StrCat("spec.rules[", i, "]");
    out.NameUnknown(rules[i], path, {"hosts", "paths", "headers"});
    const std::string headers = HeadersOf(rules[i], path, out);
    if (i > 0 && headers != routes.headers) {
      out.Refuse(absl::StrCat(path, ".headers"),
                 "an Autoscaler has the same headers for all its routes: make two objects with two "
                 "Deployments, or leave the headers out");
    }
    routes.headers = headers;
    std::vector<std::string> paths;
    for (const Json& each : ItemsOf(rules[i], "paths")) {
      paths.push_back(PathOf(TextOf(each, "value")));
    }
    if (paths.empty()) paths.push_back("/");
    for (const std::string& host : HostsOf(TextsOf(rules[i], "hosts"))) {
      for (const std::string& each : paths) {
        places.push_back(each == "/" ? host : absl::StrCat(host, each));
      }
    }
  }
  if (rules.empty()) out.Remark("It has no rules, so requests come by its Service alone.");
  routes.hosts = Joined(places, "spec.rules", out);
  return routes;
}

}  // namespace flyball::convert
