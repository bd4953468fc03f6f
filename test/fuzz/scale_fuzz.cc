// links: kube_watch
// A scale has a name, and its selector parses back to itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/match.h"
#include "kube/client/scale.h"
#include "kube/objects/selector.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

bool IsCanonical(const std::string& text) {
  const auto selector = flyball::kube::Selector::Parse(text);
  return selector.ok() && selector->ToString() == text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto scale = flyball::kube::ParseScale(bytes);
  Require(scale.ok() ? !scale->name.empty() : !scale.status().message().empty());
  Require(!scale.ok() || IsCanonical(scale->selector));
  const auto workload = flyball::kube::ScaleOfWorkload(bytes);
  Require(workload.ok() ? !workload->name.empty() : !workload.status().message().empty());
  // A controller's labels are taken as they are.
  if (workload.ok() && !absl::StrContains(bytes, "ReplicationController")) {
    Require(IsCanonical(workload->selector));
  }
  return 0;
}
