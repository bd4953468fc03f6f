// Chooses the members that serve a target: a subset that stays mostly the same while members come
// and go.
//
// Pure. All replicas that know the same members choose the same subset. Source: knative.dev/pkg
// hash/hash.go.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace flyball::scaler {

// `count` of the members, sorted; all if there are no more than that. Repeated members count once.
// At most kSubsetUniverse members are considered, the first in order.
inline constexpr size_t kSubsetUniverse = 2048;
std::vector<std::string> ChooseSubset(std::vector<std::string> members, size_t count,
                                      absl::string_view target);

}  // namespace flyball::scaler
