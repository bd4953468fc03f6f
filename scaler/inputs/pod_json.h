// Makes the pods of the replica math from core/v1 Pods as the API server sends them, fast enough
// for large clusters.
//
// Not thread-safe: each thread has its own reader, which keeps its buffers. It reads what
// ReadPod (document_reader.h) reads, with the same result for every object that an API server can
// send. Not here: line numbers, repeated keys.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "scaler/math/pods.h"

namespace flyball::kube {
class JsonParser;
}

namespace flyball::scaler {

// A pod's owner reference with `controller: true`; empty if it has none.
struct PodController {
  std::string kind;
  std::string name;
};

class PodJsonReader {
 public:
  PodJsonReader();
  ~PodJsonReader();
  PodJsonReader(const PodJsonReader&) = delete;
  PodJsonReader& operator=(const PodJsonReader&) = delete;

  // Overwrites all of `pod`.
  //   kInvalidArgument  `json` is no pod, or a field that is needed has the wrong type
  absl::Status Read(absl::string_view json, Pod& pod);

  // spec.nodeName of the pod that was read last; "" if it is on no node.
  const std::string& node() const { return node_; }
  // The controller of the pod that was read last.
  const PodController& controller() const { return controller_; }

 private:
  const std::unique_ptr<kube::JsonParser> parser_;
  std::string node_;
  PodController controller_;
};

}  // namespace flyball::scaler
