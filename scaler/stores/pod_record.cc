#include "scaler/stores/pod_record.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace flyball::scaler {
namespace {

void WriteResources(const ResourceList& list, std::string& key) {
  for (const auto& [name, quantity] : list) {
    absl::StrAppend(&key, name, "=", quantity.ToString(), ";");
  }
  key.push_back('|');
}

void WriteContainers(const std::vector<Container>& containers, std::string& key) {
  for (const Container& container : containers) {
    absl::StrAppend(&key, container.name, container.restarts_always ? "*" : ":");
    WriteResources(container.requests, key);
  }
  key.push_back('/');
}

}  // namespace

void LabelSet::Write(const kube::Labels& labels, std::string& text) {
  text.clear();
  for (const auto& [key, value] : labels) {
    text.append(key).push_back('\0');
    text.append(value).push_back('\0');
  }
}

kube::Labels LabelSet::Read(absl::string_view text) {
  kube::Labels out;
  const auto next = [&text] {
    const size_t end = text.find('\0');
    std::string piece(text.substr(0, end));
    text.remove_prefix(end + 1);
    return piece;
  };
  while (!text.empty()) {
    std::string key = next();
    out.emplace_hint(out.end(), std::move(key), next());
  }
  return out;
}

void PodRecord::TakeFrom(PodRecord& other) {
  row = other.row;
  shape = std::move(other.shape);
  node = std::move(other.node);
  list = other.list;
}

void WriteShapeKey(const Pod& pod, std::string& key) {
  key.clear();
  WriteContainers(pod.containers, key);
  WriteContainers(pod.init_containers, key);
  if (pod.pod_requests.has_value()) {
    key.push_back('+');
    WriteResources(*pod.pod_requests, key);
  }
  WriteResources(pod.overhead, key);
}

Pod ShapeOf(const Pod& pod) {
  Pod shape;
  shape.containers = pod.containers;
  shape.init_containers = pod.init_containers;
  shape.pod_requests = pod.pod_requests;
  shape.overhead = pod.overhead;
  return shape;
}

}  // namespace flyball::scaler
