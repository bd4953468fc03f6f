// The table of the listener for hosts: for each host its routes, the most specific first.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "scaler/front/envoy/resource_message.h"

namespace flyball::front {
namespace {

// One route of one host.
struct PlacedRoute {
  const HostPlace* place = nullptr;
  const HostRouteResource* of = nullptr;
};

size_t HeadersWithValue(const HostRouteResource& route) {
  return static_cast<size_t>(
      std::count_if(route.routes.headers.begin(), route.routes.headers.end(),
                    [](const HeaderNeed& need) { return need.value.has_value(); }));
}

// Whether `a` comes before `b`, of two routes of one host.
bool IsMoreParticular(const PlacedRoute& a, const PlacedRoute& b) {
  const auto rank = [](const PlacedRoute& each) {
    return std::make_tuple(each.place->path == "/" ? 0 : each.place->path.size(),
                           each.of->routes.headers.size(), HeadersWithValue(*each.of));
  };
  if (rank(a) != rank(b)) return rank(a) > rank(b);
  return a.of->service < b.of->service;
}

envoy::RouteMatch MatchOf(const PlacedRoute& route) {
  envoy::RouteMatch match;
  if (route.place->path == "/") {
    match.set_prefix("/");
  } else {
    match.set_path_separated_prefix(route.place->path);
  }
  for (const HeaderNeed& need : route.of->routes.headers) {
    envoy::HeaderMatcher& header = *match.add_headers();
    header.set_name(need.name);
    if (need.value.has_value()) {
      header.mutable_string_match()->set_exact(*need.value);
    } else {
      header.set_present_match(true);
    }
  }
  return match;
}

}  // namespace

envoy::RouteConfiguration HostsMessage(absl::Span<const HostRouteResource* const> routes,
                                       const std::set<std::string>& still_gated,
                                       absl::string_view node) {
  std::map<std::string, std::vector<PlacedRoute>> hosts;
  for (const HostRouteResource* const route : routes) {
    for (const HostPlace& place : route->routes.places)
      hosts[place.host].push_back({&place, route});
  }
  for (auto& [host, placed] : hosts) std::sort(placed.begin(), placed.end(), IsMoreParticular);

  envoy::RouteConfiguration message;
  message.set_name(kHostsListener);
  message.mutable_validate_clusters();  // present and false, since a cluster may come later
  message.set_ignore_port_in_host_matching(true);
  for (const auto& [host, placed] : hosts) {
    envoy::VirtualHost& to = *message.add_virtual_hosts();
    to.set_name(host);
    to.add_domains(host);
    const auto add = [&](const std::vector<PlacedRoute>& all) {
      for (const PlacedRoute& each : all) {
        const HostRouteResource& of = *each.of;
        AddRoutes(to, MatchOf(each),
                  {.service = of.service,
                   .gated = of.gated || still_gated.contains(of.service),
                   .hard_limit = of.hard_limit,
                   .request_timeout = of.request_timeout},
                  node);
      }
    };
    add(placed);
    // Envoy uses the routes of one host entry only, so those of the wildcards are repeated in it.
    ForEachWildcardAbove(host, [&](const std::string& wildcard) {
      if (const auto found = hosts.find(wildcard); found != hosts.end()) add(found->second);
    });
  }
  return message;
}

}  // namespace flyball::front
