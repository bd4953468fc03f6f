// Converts the routes by which KEDA's http-add-on finds an object to metadata of an http trigger.
//
// Pure. scaler/front/hosts/host_routes.h reads the texts.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "convert/manifests.h"

namespace flyball::convert {

struct AddOnRoutes {
  std::string hosts;  // "": only requests to the Service reach it
  std::string path_prefixes;
  std::string headers;
};

// Reads `hosts`, `pathPrefixes` and `headers` of an HTTPScaledObject's spec. If it has none of them
// all requests are routed to it, as with the add-on.
AddOnRoutes RoutesOfObject(const nlohmann::ordered_json& spec, Manifests& out);
// Reads `rules` of an InterceptorRoute's spec. Without a rule nothing is routed.
AddOnRoutes RoutesOfRules(const nlohmann::ordered_json& spec, Manifests& out);

}  // namespace flyball::convert
