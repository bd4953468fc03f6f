// The requests of one service that are held, first come first served over all Envoys.
//
// Not thread-safe. Memory: about 150 bytes a request; the caller of Add enforces the limits.
#pragma once

#include <cstddef>
#include <list>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "scaler/front/data_path.h"

namespace flyball::front {

struct HeldRequest {
  RequestId id = 0;
  NodeId node;  // the Envoy that holds it
  absl::Time arrived;
};

class WaitQueue {
 public:
  enum class Verdict { kGoes, kStays, kStop };  // kStop: this and all later ones stay

  void Add(HeldRequest request);
  // Returns whether it was in the queue.
  bool Remove(RequestId id);
  // Calls `verdict_of` for each request in order, and removes those that go.
  void Visit(absl::FunctionRef<Verdict(const HeldRequest&)> verdict_of);

  // The arrival of the first request.
  std::optional<absl::Time> oldest() const;
  size_t size() const { return requests_.size(); }
  bool empty() const { return requests_.empty(); }
  bool contains(RequestId id) const { return positions_.contains(id); }

 private:
  std::list<HeldRequest> requests_;
  absl::flat_hash_map<RequestId, std::list<HeldRequest>::iterator> positions_;
};

}  // namespace flyball::front
