// Decides which events are new, which repeat an earlier one, and which are too many.
//
// Pure: time is passed in; not thread-safe. Source: k8s.io/client-go v0.34.4 tools/record
// events_cache.go with its defaults; replayed by test/data/kube/events.jsonl:
//   - Among events of one object, type and reason, each within ten minutes of the one before, the
//     tenth different message and every new one after it become one combined event, with the text
//     "(combined from similar events): " before the last message.
//   - An event equal to an earlier one raises that one's count; a combined one always does.
//   - An object has a budget for each type: a burst of 25, then one each 5 minutes.
// The original then forgets an arbitrary one of the ten messages, this program the newest, so that
// the nine oldest stay separate events. Of a message only a hash is kept, whose seed differs from
// process to process, since all messages would take a hundred megabytes. Limits: 4096 entries in
// each of the three tables; the least recently used one is dropped first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/recently_used.h"

namespace flyball::kube {

struct EventSubject {
  std::string api_version;  // "autoscaling/v2"
  std::string kind;
  std::string ns;  // "" for a cluster-scoped object: its events are in namespace default
  std::string name;
  std::string uid;
  std::string resource_version;
};

struct ObjectEventRecord {
  EventSubject about;
  std::string component;
  bool warning = false;
  std::string reason;
  std::string message;
  std::string name;  // metadata.name
  absl::Time first, last;
  int32_t count = 1;      // more than 1: the event of that name exists and gets a patch
  bool combined = false;  // has no reportingComponent
};

class EventCorrelator {
 public:
  explicit EventCorrelator(size_t max_entries = 4096) : max_entries_(max_entries) {}

  // What is to be sent instead of `event`; nullopt: nothing. `name` is for a combined one.
  std::optional<ObjectEventRecord> Correlate(const ObjectEventRecord& event, absl::Time wall,
                                             MonotonicTime now, absl::string_view name);

 private:
  struct Similar {
    std::set<size_t> messages;  // their hashes
    MonotonicTime last = -absl::InfiniteDuration();
  };
  struct Counted {
    int32_t count = 0;
    absl::Time first;
    std::string name;
  };
  struct Budget {
    std::optional<double> tokens;  // nullopt: all
    MonotonicTime filled_at;
  };

  // The value under `key`; if it is new, the least recently used one may be dropped.
  template <typename Value>
  Value& In(RecentlyUsed<Value>& table, const std::string& key) {
    Value& value = table[key];
    if (table.size() > max_entries_) table.EraseOldest();
    return value;
  }
  bool WithinBudget(const std::string& key, MonotonicTime now);

  const size_t max_entries_;  // of each table
  RecentlyUsed<Similar> similar_;
  RecentlyUsed<Counted> counted_;
  RecentlyUsed<Budget> budgets_;
};

}  // namespace flyball::kube
