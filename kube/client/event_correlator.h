// Which events are new, which are one more of an old one, and which are too many.
//
// Pure: time is passed in; not thread-safe. Source: k8s.io/client-go v0.34.4 tools/record
// events_cache.go with its defaults; replayed by test/data/kube/events.jsonl:
//   - Of events of one object, type and reason, none more than ten minutes after the one before,
//     the tenth different message and every new one after it become one event, with the text
//     "(combined from similar events): " before the last message.
//   - An event equal to an earlier one raises that one's count; a combined one always does.
//   - An object has a budget for each type: a burst of 25, then one each 5 minutes.
// Of the ten messages the original then forgets any; here it is the newest, so that the nine oldest
// go on to be told apart. Limits: 4096 entries in each of the three tables, the least recently used
// going first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/client/event_recorder.h"

namespace flyball::kube {

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

// A map that forgets what was not used for longest.
template <typename Value>
class RecentlyUsed {
 public:
  explicit RecentlyUsed(size_t limit) : limit_(limit) {}

  // The value under `key`, made by default if there is none.
  Value& operator[](const std::string& key) {
    const auto found = by_key_.find(key);
    if (found != by_key_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->second;
    }
    entries_.emplace_front(key, Value());
    by_key_[key] = entries_.begin();
    if (entries_.size() > limit_) {
      by_key_.erase(entries_.back().first);
      entries_.pop_back();
    }
    return entries_.front().second;
  }

 private:
  using Entries = std::list<std::pair<std::string, Value>>;
  const size_t limit_;
  Entries entries_;  // the last used first
  absl::flat_hash_map<std::string, typename Entries::iterator> by_key_;
};

class EventCorrelator {
 public:
  explicit EventCorrelator(size_t max_entries = 4096)
      : similar_(max_entries), counted_(max_entries), budgets_(max_entries) {}

  // What is to be sent instead of `event`; nullopt: nothing. `name` is for a combined one.
  std::optional<ObjectEventRecord> Correlate(const ObjectEventRecord& event, absl::Time wall,
                                             MonotonicTime now, absl::string_view name);

 private:
  struct Similar {
    std::set<std::string> messages;
    MonotonicTime last = -absl::InfiniteDuration();
  };
  struct Counted {
    int32_t count = 0;
    absl::Time first;
    std::string name;
  };
  struct Budget {
    std::optional<double> tokens;  // none yet: full
    MonotonicTime filled_at;
  };

  bool WithinBudget(const std::string& key, MonotonicTime now);

  RecentlyUsed<Similar> similar_;
  RecentlyUsed<Counted> counted_;
  RecentlyUsed<Budget> budgets_;
};

}  // namespace flyball::kube
