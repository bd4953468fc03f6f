// Which autoscalers select which pods: two that share a pod must both stop.
//
// No I/O. There is one for each process, used by one thread at a time.
//
// Source:  Kubernetes v1.34.4 pkg/controller/util/selectors/bimultimap.go as horizontal.go uses it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kube/objects/selector.h"
#include "scaler/math/pods.h"

namespace flyball::scaler {

class SelectorRegistry {
 public:
  // Adds a new autoscaler, which selects nothing until its selector is known.
  void Register(absl::string_view ns, absl::string_view name);
  // Replaces the selector of a registered autoscaler; others are ignored. A selector with the same
  // text as the one in force changes nothing, as upstream's.
  void Replace(absl::string_view ns, absl::string_view name, const kube::Selector& selector);
  void Remove(absl::string_view ns, absl::string_view name);

  // "ns/name", sorted, of all autoscalers of `ns` that select one of the pods.
  std::vector<std::string> Selecting(absl::string_view ns, absl::Span<const Pod* const> pods) const;

 private:
  struct RegisteredSelector {
    bool selects_nothing = true;
    kube::Selector selector;
    std::string text;  // of the selector; "" also for nothing
  };
  // By namespace and name.
  std::map<std::pair<std::string, std::string>, RegisteredSelector> selectors_;
};

}  // namespace flyball::scaler
