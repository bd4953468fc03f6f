// Converts the settings of a ScaledObject's spec that hold for all of its triggers: its fallback,
// and what it says of the HPA that KEDA makes.
//
// Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "convert/manifests.h"

namespace flyball::convert {

// Adds `fallback` and `behavior` to the spec of an Autoscaler (CRD), errors for what cannot be
// carried over, and remarks for what is left out. `path` is that of `spec` in messages.
void AddKedaSettings(const nlohmann::ordered_json& spec, const std::string& path,
                     nlohmann::ordered_json& own, Manifests& out);

}  // namespace flyball::convert
