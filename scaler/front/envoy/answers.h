// Our answers when an Envoy asks about a request.
//
// Pure.
#pragma once

#include <optional>
#include <string>

#include "envoy.pb.h"
#include "scaler/front/refusal.h"

namespace flyball::front {

// Lets the request go on, to this pod ("10.0.0.7:8080") if one is given.
envoy::ProcessingResponse ReleaseMessage(const std::optional<std::string>& pod);
envoy::ProcessingResponse RefusalMessage(const Refusal& refusal);

// The answer that passes any other part of a request or response unchanged; nullopt if the message
// has no part that we know.
std::optional<envoy::ProcessingResponse> PassMessage(const envoy::ProcessingRequest& request);

}  // namespace flyball::front
