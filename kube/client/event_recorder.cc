#include "kube/client/event_recorder.h"

#include <algorithm>
#include <deque>
#include <random>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "kube/client/event_correlator.h"
#include "kube/objects/label_syntax.h"
#include "nlohmann/json.hpp"
#include "spdlog/spdlog.h"

namespace flyball::kube {
namespace {

using nlohmann::json;

constexpr absl::Duration kLastSends = absl::Seconds(1);

// metav1.Time: whole seconds.
std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

std::string NamespaceOf(const EventSubject& about) {
  return about.ns.empty() ? "default" : about.ns;
}

std::string Dump(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string EventJson(const ObjectEventRecord& event) {
  json about = {{"kind", event.about.kind},
                {"name", event.about.name},
                {"uid", event.about.uid},
                {"apiVersion", event.about.api_version},
                {"resourceVersion", event.about.resource_version}};
  if (!event.about.ns.empty()) about["namespace"] = event.about.ns;
  return Dump({{"kind", "Event"},
               {"apiVersion", "v1"},
               {"metadata", {{"name", event.name}, {"namespace", NamespaceOf(event.about)}}},
               {"involvedObject", about},
               {"reason", event.reason},
               {"message", event.message},
               {"source", {{"component", event.component}}},
               {"firstTimestamp", TimeText(event.first)},
               {"lastTimestamp", TimeText(event.last)},
               {"count", event.count},
               {"type", event.warning ? "Warning" : "Normal"},
               {"eventTime", nullptr},
               {"reportingComponent", event.combined ? "" : event.component},
               {"reportingInstance", ""}});
}

// What one more of an existing event changes.
std::string PatchJson(const ObjectEventRecord& event) {
  return Dump({{"count", event.count},
               {"lastTimestamp", TimeText(event.last)},
               {"message", event.message}});
}

bool MayBeTriedAgain(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
}

}  // namespace

class EventRecorder::Impl {
 public:
  Impl(ApiClient& client, Clock& clock, std::string component, EventRecorderOptions options)
      : client_(client),
        clock_(clock),
        component_(std::move(component)),
        options_(options),
        thread_([this] { Run(); }) {}

  ~Impl() {
    {
      absl::MutexLock lock(&mutex_);
      stopping_ = true;
      last_send_ = clock_.MonotonicNow() + kLastSends;
    }
    thread_.join();
  }

  void Record(const EventSubject& about, bool warning, absl::string_view reason,
              absl::string_view message) {
    ObjectEventRecord event;
    event.about = about;
    event.component = component_;
    event.warning = warning;
    event.reason = std::string(reason);
    event.message = std::string(message);
    const absl::Time now = clock_.WallNow();
    event.first = event.last = now;
    absl::MutexLock lock(&mutex_);
    if (queue_.size() >= options_.max_queue || stopping_) {
      ++stats_.dropped;
      return;
    }
    event.name = NewName(about.name, now);
    queue_.push_back(std::move(event));
  }

  Stats stats() const {
    absl::MutexLock lock(&mutex_);
    return stats_;
  }

 private:
  // Object name and time, a random name where the two make none. No two are the same, even if the
  // clock stands still.
  std::string NewName(absl::string_view object, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    last_nanos_ = std::max(last_nanos_ + 1, absl::ToUnixNanos(now));
    std::string name = absl::StrFormat("%s.%x", object, last_nanos_);
    constexpr size_t kLongestName = 253;
    if (name.size() <= kLongestName && IsSubdomain(name)) return name;
    return absl::StrFormat("%08x%08x%08x%08x", random_(), random_(), random_(), random_());
  }

  void Run() {
    while (true) {
      ObjectEventRecord event;
      std::string combined_name;
      {
        absl::MutexLock lock(&mutex_);
        const auto due = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
          return stopping_ || !queue_.empty();
        };
        mutex_.Await(absl::Condition(&due));
        if (queue_.empty()) return;
        if (stopping_ && clock_.MonotonicNow() > last_send_) {
          stats_.dropped += queue_.size();
          return;
        }
        event = std::move(queue_.front());
        queue_.pop_front();
        combined_name = NewName(event.about.name, clock_.WallNow());
      }
      const auto send =
          correlator_.Correlate(event, clock_.WallNow(), clock_.MonotonicNow(), combined_name);
      uint64_t Stats::*outcome = &Stats::filtered;
      if (send.has_value()) outcome = Send(*send) ? &Stats::sent : &Stats::failed;
      absl::MutexLock lock(&mutex_);
      ++(stats_.*outcome);
    }
  }

  bool Send(const ObjectEventRecord& event) {
    for (int tries = 1;; ++tries) {
      const absl::Status status = SendOnce(event);
      if (status.ok()) return true;
      if (!MayBeTriedAgain(status) || tries >= options_.max_tries || !Pause(tries == 1)) {
        spdlog::debug("event {} of {} {}/{} is lost: {}", event.reason, event.about.kind,
                      event.about.ns, event.about.name, std::string(status.message()));
        return false;
      }
    }
  }

  absl::Status SendOnce(const ObjectEventRecord& event) {
    const std::string ns = NamespaceOf(event.about);
    if (event.count > 1) {
      const absl::Status patched =
          client_.MergePatch(ObjectPath("", "v1", ns, "events", event.name), PatchJson(event))
              .status();
      // The server forgets events after a while.
      if (!absl::IsNotFound(patched)) return patched;
    }
    return client_.Create(ObjectPath("", "v1", ns, "events", ""), EventJson(event)).status();
  }

  // False when the recorder ends meanwhile. The first is random, so that not all who lost the
  // server come back to it at once.
  bool Pause(bool first) {
    absl::MutexLock lock(&mutex_);
    const double part = first ? std::uniform_real_distribution<double>(0.0, 1.0)(random_) : 1.0;
    return !clock_.Await(mutex_, absl::Condition(&stopping_),
                         clock_.MonotonicNow() + options_.retry_delay * part);
  }

  ApiClient& client_;
  Clock& clock_;
  const std::string component_;
  const EventRecorderOptions options_;
  EventCorrelator correlator_;  // the thread's own

  mutable absl::Mutex mutex_;
  std::random_device random_ ABSL_GUARDED_BY(mutex_);
  std::deque<ObjectEventRecord> queue_ ABSL_GUARDED_BY(mutex_);
  Stats stats_ ABSL_GUARDED_BY(mutex_);
  int64_t last_nanos_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  MonotonicTime last_send_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

EventRecorder::EventRecorder(ApiClient& client, Clock& clock, std::string component,
                             EventRecorderOptions options)
    : impl_(std::make_unique<Impl>(client, clock, std::move(component), options)) {}

EventRecorder::~EventRecorder() = default;

void EventRecorder::Record(const EventSubject& about, bool warning, absl::string_view reason,
                           absl::string_view message) {
  impl_->Record(about, warning, reason, message);
}

EventRecorder::Stats EventRecorder::stats() const { return impl_->stats(); }

}  // namespace flyball::kube
