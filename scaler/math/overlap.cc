#include "scaler/math/overlap.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace flyball::scaler {

std::vector<std::string> Selecting(const Selectors& selectors, absl::string_view ns,
                                   absl::Span<const Pod* const> pods) {
  std::vector<std::string> out;
  for (const auto& [autoscaler, selector] : selectors) {
    const bool selects = autoscaler.first == ns &&
                         std::any_of(pods.begin(), pods.end(),
                                     [&](const Pod* pod) { return selector.Matches(pod->labels); });
    if (selects) out.push_back(absl::StrCat(autoscaler.first, "/", autoscaler.second));
  }
  return out;
}

}  // namespace flyball::scaler
