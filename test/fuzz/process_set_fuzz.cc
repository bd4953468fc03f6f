// links: processes
//
// A folder's file from any bytes: each object that is taken has a path of the API, and each
// ProcessSet among them has a command and a count within its bounds.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "absl/strings/match.h"
#include "processes/manifest_kinds.h"
#include "processes/process_set_spec.h"
#include "scaler/spec/document.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace processes = flyball::processes;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto objects = processes::ReadManifestJson(text);
  if (!objects.ok()) return 0;
  std::vector<flyball::kube::ResourceInfo> defined;
  for (const processes::ManifestJson& one : *objects) {
    if (one.defines.has_value()) defined.push_back(*one.defines);
  }
  const processes::ManifestKinds kinds(defined);
  for (const processes::ManifestJson& one : *objects) {
    Require(absl::StartsWith(processes::PathOf(one, kinds.Of(one)), "/api"));
    const auto node = flyball::scaler::ParseJson(one.object);
    if (!node.ok() || one.kind != processes::kProcessSetKind) continue;
    const auto spec = processes::ReadProcessSet(*node);
    if (!spec.ok()) continue;
    Require(!spec->command.empty() && !spec->command[0].empty());
    Require(spec->replicas >= 0 && spec->replicas <= processes::kMaxReplicas);
    Require(processes::PortOfReplica(*spec, processes::kMaxReplicas) <= 65535);
    for (const std::string& word : spec->command) {
      processes::Expand(word, processes::EnvironmentOf(*spec, 1));
    }
  }
  return 0;
}
