// One pod as pod_index.h keeps it: it holds what differs between pods and shares the rest.
//
// Pure values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kube/objects/selector.h"
#include "scaler/math/pods.h"

namespace flyball::scaler {

class SelectedPods;
struct PodRecord;

// One set of labels, and the pods of one namespace that have exactly these labels.
struct LabelSet {
  std::string text;  // "key\0value\0…", sorted by key
  std::vector<PodRecord*> pods;
  std::vector<SelectedPods*> groups;  // the groups whose selector matches

  static void Write(const kube::Labels& labels, std::string& text);
  static kube::Labels Read(absl::string_view text);
  kube::Labels Labels() const { return Read(text); }
};

struct PodRecord {
  explicit PodRecord(const Pod& pod) : name(pod.name), row(pod) {}

  // Whether row, shape and node are the same.
  bool SameTo(const PodRecord& other) const {
    return row == other.row && shape == other.shape && node == other.node;
  }
  // Takes over from `other` what SameTo compares, and `list`.
  void TakeFrom(PodRecord& other);

  std::string name;
  PodTable::Row row;
  std::shared_ptr<const Pod> shape;         // containers, init containers, requests, overhead
  std::shared_ptr<const std::string> node;  // nullptr: not assigned yet
  LabelSet* labels = nullptr;
  uint64_t list = 0;   // number of the list in or after which the pod was last seen
  uint32_t place = 0;  // index in labels->pods
};

// Writes everything that ShapeOf keeps, so that equal shapes have equal keys.
void WriteShapeKey(const Pod& pod, std::string& key);
// What a pod shares with others of its template: the pod without its own values.
Pod ShapeOf(const Pod& pod);

}  // namespace flyball::scaler
