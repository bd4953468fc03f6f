#include "kube/client/event_recorder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/one_line.h"
#include "kube/objects/json_members.h"
#include "kube/objects/label_syntax.h"
#include "nlohmann/json.hpp"
#include "spdlog/spdlog.h"

namespace flyball::kube {
namespace {

using nlohmann::json;

constexpr absl::Duration kLastSends = absl::Seconds(1);

// Thousands of events may wait to be sent, and whoever causes one may put long names into its
// message.
constexpr size_t kMaxMessageBytes = 4096;

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

// The patch that counts one more occurrence of an existing event.
std::string PatchJson(const ObjectEventRecord& event) {
  return Dump({{"count", event.count},
               {"lastTimestamp", TimeText(event.last)},
               {"message", event.message}});
}

bool MayBeTriedAgain(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
}

}  // namespace

EventRecorder::EventRecorder(ApiClient& client, Clock& clock, std::string component,
                             EventRecorderOptions options)
    : client_(client),
      clock_(clock),
      component_(std::move(component)),
      options_(options),
      thread_([this] { Run(); }) {}

EventRecorder::~EventRecorder() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    last_send_ = clock_.MonotonicNow() + kLastSends;
  }
  thread_.join();
}

void EventRecorder::Record(const EventSubject& about, bool warning, absl::string_view reason,
                           absl::string_view message) {
  ObjectEventRecord event;
  event.about = about;
  event.component = component_;
  event.warning = warning;
  event.reason = std::string(reason);
  event.message = BriefText(message, kMaxMessageBytes);
  const absl::Time now = clock_.WallNow();
  event.first = event.last = now;
  absl::MutexLock lock(&mutex_);
  if (queue_.size() + queue_.SizeOf(about.ns) >= options_.max_queue || stopping_) {
    ++stats_.dropped;
    return;
  }
  event.name = NewName(about.name, now);
  queue_.Push(about.ns, std::move(event));
}

EventRecorder::Stats EventRecorder::stats() const {
  absl::MutexLock lock(&mutex_);
  return stats_;
}

std::string EventRecorder::NewName(absl::string_view object, absl::Time now) {
  last_nanos_ = std::max(last_nanos_ + 1, absl::ToUnixNanos(now));
  std::string name = absl::StrFormat("%s.%x", object, last_nanos_);
  constexpr size_t kLongestName = 253;
  if (name.size() <= kLongestName && IsSubdomain(name)) return name;
  return absl::StrFormat("%08x%08x%08x%08x", random_(), random_(), random_(), random_());
}

void EventRecorder::Run() {
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
      event = queue_.Pop();
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

bool EventRecorder::Send(const ObjectEventRecord& event) {
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

absl::Status EventRecorder::SendOnce(const ObjectEventRecord& event) {
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

// The first pause is random, so that not all clients that lost the server come back at once.
bool EventRecorder::Pause(bool first) {
  absl::MutexLock lock(&mutex_);
  const double part = first ? std::uniform_real_distribution<double>(0.0, 1.0)(random_) : 1.0;
  return !clock_.Await(mutex_, absl::Condition(&stopping_),
                       clock_.MonotonicNow() + options_.retry_delay * part);
}

}  // namespace flyball::kube
