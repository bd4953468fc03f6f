// A page for people that depends on the query of its URL; answered by what lies beside this floor.
#pragma once

#include <functional>
#include <string>

namespace flyball::apiservice {

// The value of a parameter of the query, decoded; "" when it is not given.
using DebugParameter = std::function<std::string(const char* name)>;
// The page as JSON.
using DebugPage = std::function<std::string(const DebugParameter& parameter)>;

}  // namespace flyball::apiservice
