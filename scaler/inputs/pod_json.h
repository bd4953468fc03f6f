// core/v1 Pods as the API server sends them -> the pods that the replica math knows, quickly.
//
// Not thread-safe: each thread has a reader of its own, which keeps its buffers. It reads what
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

// The owner reference of a pod with `controller: true`; empty: it has none.
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
  //   kInvalidArgument  no pod, or a field that is needed has the wrong type
  absl::Status Read(absl::string_view json, Pod& pod);

  // spec.nodeName of the last pod; "": it is on none.
  const std::string& node() const { return node_; }
  // Of the last pod.
  const PodController& controller() const { return controller_; }

 private:
  const std::unique_ptr<kube::JsonParser> parser_;
  std::string node_;
  PodController controller_;
};

}  // namespace flyball::scaler
