// Who is due when.
//
// Pure; not thread-safe. Times are monotonic. Due times of one period are spread by namespace: its
// autoscalers are due together, so that they share their questions, and namespaces one after the
// other, so that nobody herds. A slot that was missed is not made up for.
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

class Schedule {
 public:
  // Somebody who may be due. Taken out before it ends.
  class Item {
   private:
    friend class Schedule;
    std::optional<MonotonicTime> due_;  // nullopt: at no time
    size_t place_ = 0;                  // among those that are due then
  };

  // Due at `when` and at no other time.
  void Set(Item& item, MonotonicTime when);
  void Remove(Item& item);

  // Takes out all that are due, earliest first.
  std::vector<Item*> PopDue(MonotonicTime now);
  // When somebody is due next; nullopt: never.
  std::optional<MonotonicTime> Next() const;

 private:
  // Those of one namespace and period are due at the same time: slots are few.
  std::map<MonotonicTime, std::vector<Item*>> slots_;
};

}  // namespace flyball::scaler
