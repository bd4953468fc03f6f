// links: kube_watch
// A scale has a name, and the selector made of a workload's parses back to itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/match.h"
#include "kube/client/scale.h"
#include "kube/objects/selector.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto scale = flyball::kube::ParseScale(bytes);
  Require(scale.ok() ? !scale->name.empty() : !scale.status().message().empty());
  const auto workload = flyball::kube::ScaleOfWorkload(bytes);
  Require(workload.ok() ? !workload->name.empty() : !workload.status().message().empty());
  // A controller's labels are taken as they are.
  if (workload.ok() && !absl::StrContains(bytes, "ReplicationController")) {
    const auto selector = flyball::kube::Selector::Parse(workload->selector);
    // A value of an expression that is given twice is printed twice, as Go does, and read once.
    const bool expressions = absl::StrContains(bytes, "matchExpressions");
    Require(selector.ok() && (expressions || selector->ToString() == workload->selector));
    const auto again = flyball::kube::Selector::Parse(selector->ToString());
    Require(again.ok() && again->ToString() == selector->ToString());
  }
  return 0;
}
