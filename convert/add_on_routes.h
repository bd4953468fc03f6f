// Which requests KEDA's http-add-on sends to an object, as the metadata of an http trigger.
//
// Pure. The texts are what scaler/front/hosts/host_routes.h reads.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "convert/manifests.h"

namespace flyball::convert {

struct AddOnRoutes {
  std::string hosts;  // "": requests come by the Service alone
  std::string path_prefixes;
  std::string headers;
};

// `hosts`, `pathPrefixes` and `headers` of an HTTPScaledObject's spec. Without any of them the
// add-on sends it everything, and so does this.
AddOnRoutes RoutesOfObject(const nlohmann::ordered_json& spec, Manifests& out);
// `rules` of an InterceptorRoute's spec. Without a rule nothing is routed.
AddOnRoutes RoutesOfRules(const nlohmann::ordered_json& spec, Manifests& out);

}  // namespace flyball::convert
