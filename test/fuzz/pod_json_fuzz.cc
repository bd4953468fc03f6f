// links: scaler_inputs
//
// Both readers of a Pod agree: what one takes the other takes, with the same result, for texts that
// an API server can send (valid JSON without repeated keys).
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "scaler/inputs/document_reader.h"
#include "scaler/inputs/pod_json.h"
#include "scaler/spec/document.h"

namespace {

using flyball::scaler::Container;
using flyball::scaler::Node;
using flyball::scaler::Pod;
using flyball::scaler::ResourceList;

bool HasRepeatedKeys(const Node& node) {
  std::set<std::string> keys;
  for (const auto& member : node.members) {
    if (!keys.insert(member.key).second || HasRepeatedKeys(member.value)) return true;
  }
  for (const Node& item : node.items) {
    if (HasRepeatedKeys(item)) return true;
  }
  return false;
}

std::string TextOf(const ResourceList& list) {
  std::string out;
  for (const auto& [name, quantity] : list) {
    absl::StrAppend(&out, name, "=", quantity.ToString(), ";");
  }
  return out;
}

std::string TextOf(const std::vector<Container>& containers) {
  std::string out;
  for (const Container& container : containers) {
    absl::StrAppend(&out, container.name, ":", TextOf(container.requests),
                    container.restarts_always, ";");
  }
  return out;
}

std::string TextOf(const Pod& pod) {
  std::string out = absl::StrCat(pod.ns, "/", pod.name, pod.deleting, static_cast<int>(pod.phase));
  for (const auto& [key, value] : pod.labels) absl::StrAppend(&out, key, "=", value, ";");
  if (pod.start_time) absl::StrAppend(&out, absl::FormatTime(*pod.start_time));
  if (pod.ready) {
    absl::StrAppend(&out, static_cast<int>(pod.ready->status),
                    absl::FormatTime(pod.ready->last_transition_time));
  }
  absl::StrAppend(&out, TextOf(pod.containers), "|", TextOf(pod.init_containers), "|",
                  pod.pod_requests ? TextOf(*pod.pod_requests) : "-", "|", TextOf(pod.overhead));
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  static flyball::scaler::PodJsonReader reader;
  Pod fast;
  const bool read = reader.Read(text, fast).ok();
  const absl::StatusOr<Node> node = flyball::scaler::ParseJson(text);
  if (!node.ok() || HasRepeatedKeys(*node)) return 0;
  const absl::StatusOr<Pod> slow = flyball::scaler::ReadPod(*node);
  // The fast one does not look at what it has no use for and may take more.
  if (!read || !slow.ok()) return 0;
  if (TextOf(fast) != TextOf(*slow)) std::abort();
  return 0;
}
