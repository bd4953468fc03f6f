// A HorizontalPodAutoscaler or Autoscaler (CRD) that the scaler manages, as last seen.
//
// Plain values, immutable once made: a change of the object makes a new one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scaler/spec/autoscaler.h"
#include "scaler/spec/own_spec.h"

namespace flyball::scaler {

enum class AutoscalerKind { kHpa, kOwn };

struct AutoscalerKey {
  AutoscalerKind kind = AutoscalerKind::kHpa;
  std::string ns;
  std::string name;

  friend bool operator==(const AutoscalerKey&, const AutoscalerKey&) = default;
  friend auto operator<=>(const AutoscalerKey&, const AutoscalerKey&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const AutoscalerKey& k) {
    return H::combine(std::move(h), k.kind, k.ns, k.name);
  }
  // "shop/web".
  std::string ToString() const { return ns + "/" + name; }
};

struct Managed {
  AutoscalerKey key;
  Autoscaler autoscaler;  // without its labels; of its annotations only the mode
  OwnSpec own;
  absl::Time created;                     // this and the next: of Autoscalers (CRD) only
  std::optional<absl::Time> last_active;  // as the status says
  // Not empty: why it is never decided. The API should have refused it, or ReadManaged has a limit.
  std::string refused;
  // What cannot be read in its annotations, each with what follows from that: "follows only the
  // pauses of its schedules: ...".
  std::vector<std::string> ignored = {};
  uint64_t spec_hash = 0;  // differs whenever the spec differs
  // The same of the spec as it is written, whatever schedules make of it.
  uint64_t written_hash = 0;
  // In what ManagedAt returns: which schedules are open and what they change; "" otherwise.
  std::string scheduled = {};
};

using ManagedPtr = std::shared_ptr<const Managed>;

// The autoscaler as its schedules make it at that time: bounds, targets, own.paused.
// `written` itself where no schedule is open.
ManagedPtr ManagedAt(const ManagedPtr& written, absl::Time now);

}  // namespace flyball::scaler
