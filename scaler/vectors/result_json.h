// A replayed scenario as one line of JSON, in the form that the vectors expect.
//
// Pure.
#pragma once

#include <string>

#include "scaler/vectors/replay.h"

namespace flyball::scaler {

std::string ResultJson(const ReplayResult& result);

}  // namespace flyball::scaler
