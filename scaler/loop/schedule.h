// Who is due when.
//
// Pure; not thread-safe. Times are monotonic. Due times of one period are spread by namespace: its
// autoscalers are due together, so that they share their questions, and namespaces one after the
// other, so that nobody herds. A slot that was missed is not made up for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"

namespace flyball::scaler {

// The first slot of the namespace after `now`.
MonotonicTime NextSlot(absl::string_view ns, absl::Duration period, MonotonicTime now);

class Schedule {
 public:
  using Id = uint64_t;

  // Due at `when` and at no other time.
  void Set(Id id, MonotonicTime when);
  void Remove(Id id);

  // Takes out all that are due, earliest first.
  std::vector<Id> PopDue(MonotonicTime now);
  // When somebody is due next; nullopt: never.
  std::optional<MonotonicTime> Next();
  size_t size() const { return due_.size(); }

 private:
  struct Slot {
    MonotonicTime when;
    Id id;
    friend bool operator>(const Slot& a, const Slot& b) {
      return a.when != b.when ? a.when > b.when : a.id > b.id;
    }
  };
  void DropStale();

  absl::flat_hash_map<Id, MonotonicTime> due_;
  // May hold slots that do not count any more: those that due_ does not confirm.
  std::priority_queue<Slot, std::vector<Slot>, std::greater<Slot>> slots_;
};

}  // namespace flyball::scaler
