// Keeps the times at which autoscalers, and groups of them, are due. Not to be confused with the
// schedules of a spec, which change bounds and targets (spec/schedules.h).
//
// No I/O; not thread-safe. Times are monotonic. The due times of one period are called its slots.
// Autoscalers of one namespace have the same slots, so that they share their questions; those of
// different namespaces are spread over the period, so that not all come at once. A slot that was
// missed is not made up for.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/clock.h"

namespace flyball::scaler {

// The first slot of the namespace after `now`.
MonotonicTime NextSlot(absl::string_view ns, absl::Duration period, MonotonicTime now);
// Does the same, given the previous slot. It need not be computed from `ns` unless a slot was
// missed.
MonotonicTime SlotAfter(MonotonicTime slot, absl::string_view ns, absl::Duration period,
                        MonotonicTime now);

class Schedule {
 public:
  // Base of whatever can be due. It is removed from the schedule before it is destroyed.
  class Item {
   private:
    friend class Schedule;
    std::optional<MonotonicTime> due_;  // nullopt: not in the schedule
    size_t place_ = 0;                  // its index among those that are due at that time
  };

  // Makes the item due at `when` and at no other time.
  void Set(Item& item, MonotonicTime when);
  void Remove(Item& item);

  // Removes all items that are due and returns them, earliest first.
  std::vector<Item*> PopDue(MonotonicTime now);
  // When the next item is due; nullopt: there is none.
  std::optional<MonotonicTime> Next() const;
  // nullopt: the item is not in the schedule.
  static std::optional<MonotonicTime> DueAt(const Item& item) { return item.due_; }
  static bool IsDue(const Item& item, MonotonicTime now) {
    return item.due_.has_value() && *item.due_ <= now;
  }

 private:
  // By due time. There are few entries, as all items of one namespace and period are due at the
  // same time.
  std::map<MonotonicTime, std::vector<Item*>> slots_;
};

}  // namespace flyball::scaler
