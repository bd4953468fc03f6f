// One pod as pod_index.h keeps it: what differs from pod to pod, with the rest shared.
//
// Pure values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kube/objects/selector.h"
#include "scaler/math/pods.h"

namespace flyball::scaler {

class SelectedPods;
struct PodRecord;

// Equal labels of pods of one namespace.
struct LabelSet {
  std::string text;  // "key\0value\0…", sorted by key
  std::vector<PodRecord*> pods;
  std::vector<SelectedPods*> groups;  // whose selector matches

  static void Write(const kube::Labels& labels, std::string& text);
  kube::Labels Labels() const;
};

struct PodRecord {
  explicit PodRecord(const Pod& pod);

  // All but labels and place.
  bool SameTo(const PodRecord& other) const;
  void TakeFrom(PodRecord& other);

  std::string name;
  PodTable::Row row;
  std::shared_ptr<const Pod> shape;         // its containers, init containers, requests, overhead
  std::shared_ptr<const std::string> node;  // nullptr: not on one yet
  LabelSet* labels = nullptr;
  uint64_t list = 0;   // that it was last seen in
  uint32_t place = 0;  // in labels->pods
};

// Everything that ShapeOf keeps, as text.
void WriteShapeKey(const Pod& pod, std::string& key);
// The pod without what is its own.
Pod ShapeOf(const Pod& pod);

// Rows in the order of `pods`.
PodTable MakeTable(absl::Span<const PodRecord* const> pods, absl::Span<const MetricSpec> metrics,
                   bool pod_level_resources);

}  // namespace flyball::scaler
