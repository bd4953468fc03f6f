#include "kube/watch/object_watch.h"

#include <algorithm>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/go/url.h"
#include "kube/client/api_error.h"
#include "kube/objects/object_json.h"
#include "kube/objects/resource_version.h"
#include "kube/watch/object_list.h"
#include "spdlog/spdlog.h"

namespace flyball::kube {
namespace {

constexpr char kAccept[] = "application/json";
constexpr char kAcceptMetadata[] =
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json";
constexpr size_t kMaxLineBytes = 16u << 20;
// The server ends a watch after a time from this range, so that not all end at once.
constexpr int kMinWatchSeconds = 300;
constexpr int kMaxWatchSeconds = 600;
// Bookmarks come each minute if anything has happened since the version that the watch began at.
constexpr absl::Duration kMaxQuiet = absl::Seconds(90);
constexpr absl::Duration kMaxOpening = absl::Seconds(30);
// One stream that ends at once may be due to a server that is stopping; a second one counts as a
// failure.
constexpr int kMaxShortStreams = 1;
// After so many streams in a row that ended well, but sooner than a pause, there are pauses.
constexpr int kMaxHastyStreams = 10;

// Errors after which only a list can tell whether the resource can still be watched, and from which
// version: the server may no longer take the one that it is asked for (400, 422).
bool IsRefusal(const absl::Status& status) {
  return absl::IsPermissionDenied(status) || absl::IsUnimplemented(status) ||
         absl::IsNotFound(status) || absl::IsInvalidArgument(status) ||
         absl::IsFailedPrecondition(status);
}

ChangeType ChangeOf(ObjectEvent::Type type) {
  if (type == ObjectEvent::Type::kAdded) return ChangeType::kAdded;
  return type == ObjectEvent::Type::kDeleted ? ChangeType::kDeleted : ChangeType::kModified;
}

}  // namespace

class ObjectWatch::Impl {
 public:
  Impl(ObjectWatchOptions options, std::shared_ptr<http::HttpTransport> server, Clock& clock,
       WatchHandler& handler)
      : options_(std::move(options)),
        path_(CollectionPath(options_)),
        server_(std::move(server)),
        clock_(clock),
        handler_(handler),
        random_(std::random_device()()),
        backoff_(options_.first_backoff),
        thread_([this] { Run(); }) {}

  ~Impl() {
    {
      absl::MutexLock lock(&mutex_);
      stopping_ = true;
    }
    server_->Shutdown();
    thread_.join();
  }

  const WatchCounters& counters() const { return counters_; }

 private:
  enum class Next { kWatch, kWatchAfterPause, kList, kListAfterPause };

  // The state of one stream.
  struct Stream {
    std::string buffer;     // the line that is not whole yet
    size_t scanned = 0;     // of the buffer, without a line's end
    bool opened = false;    // the server has said yes
    bool anything = false;  // and sent a change or a bookmark
    bool expired = false;   // the stream is of no more use; only a new list is certain to help
    absl::Status refused;   // by the handler
  };

  void Run() {
    while (!stopping()) {
      // An expired resourceVersion is listed anew at once, but not in a tight loop.
      if ((!List() || Follow() == Next::kListAfterPause) && !Pause()) return;
    }
  }

  bool List() {
    ++counters_.lists;
    // Only the first try lists in one piece. If that fails, whatever the reason, the next does not.
    const bool first = std::exchange(first_, false);
    const absl::string_view version = options_.begins_current ? "" : "0";
    absl::StatusOr<std::string> listed =
        first ? ListWhole(*server_, options_, version, reader_, handler_)
              : ListPages(*server_, options_, reader_, handler_);
    if (!listed.ok()) {
      Fail(listed.status());
      return false;
    }
    handler_.ListEnded();
    if (older_than_.has_value() && !IsOlder(*listed, *older_than_)) versions_grow_ = false;
    older_than_.reset();
    resource_version_ = *std::move(listed);
    return true;
  }

  // Watches until the resourceVersion is of no use any more.
  Next Follow() {
    while (!stopping()) {
      const Next next = WatchOnce();
      if (next == Next::kList || next == Next::kListAfterPause) return next;
      if (next != Next::kWatchAfterPause) continue;
      // A server that was gone may have been restored meanwhile.
      if (!Pause() || WasSetBack()) break;
    }
    return Next::kList;
  }

  http::HttpCall WatchCall() {
    const int seconds =
        std::uniform_int_distribution<int>(kMinWatchSeconds, kMaxWatchSeconds)(random_);
    http::HttpCall call;
    call.target = absl::StrCat(path_, "?watch=1&allowWatchBookmarks=true&resourceVersion=",
                               go::UrlEscape(resource_version_), "&timeoutSeconds=", seconds,
                               SelectorQuery(options_));
    call.headers = {{"Accept", options_.metadata_only ? kAcceptMetadata : kAccept}};
    // After streams that ended without an event, one that stays open long enough shows that it
    // works.
    call.timeout = IsFlapping() ? options_.long_stream : kMaxQuiet;
    call.head_timeout = kMaxOpening;
    return call;
  }

  Next WatchOnce() {
    ++counters_.watches;
    Stream stream;
    const bool was_flapping = IsFlapping();
    const MonotonicTime start = clock_.MonotonicNow();
    handler_.Opening();
    const absl::Status ended = server_->Stream(WatchCall(), [&](absl::string_view data) {
      if (!std::exchange(stream.opened, true)) handler_.Opened();
      stream.buffer.append(data.data(), data.size());
      TakeLines(&stream);
      if (stream.expired || !stream.refused.ok()) return false;
      if (!IsFlapping()) Report(absl::OkStatus());
      return true;
    });
    handler_.Opening();
    const absl::Duration took = clock_.MonotonicNow() - start;
    hasty_streams_ = took < options_.first_backoff ? hasty_streams_ + 1 : 0;
    const bool lasted = stream.anything || took >= options_.long_stream;
    if (lasted) {
      backoff_ = options_.first_backoff;
      short_streams_ = 0;
    } else if (stream.opened) {
      ++short_streams_;
    }
    if (!stream.refused.ok()) {
      Fail(stream.refused);
      return Next::kListAfterPause;
    }
    if (stream.expired) return Next::kListAfterPause;
    const bool quiet = stream.opened && absl::IsDeadlineExceeded(ended);
    if (!ended.ok() && !quiet) return AfterFailure(ended);
    if (!lasted) return AfterShortStream();
    Report(absl::OkStatus());  // a quiet stream is no failure
    const bool silent = quiet && !stream.anything && !was_flapping;
    if (silent && WasSetBack()) return Next::kList;
    // A server that sends one event each time must not be asked without a rest.
    return hasty_streams_ > kMaxHastyStreams ? Next::kWatchAfterPause : Next::kWatch;
  }

  // Whether the server no longer has the version that it is asked for, as after a restore of etcd
  // to an earlier state: nothing comes until it has reached that version again.
  bool WasSetBack() {
    const absl::StatusOr<std::string> newest = NewestVersion(*server_, options_, reader_);
    return newest.ok() && IsOlder(*newest, resource_version_);
  }

  // A server that opens each stream and ends it at once reports no change: it only looks healthy.
  Next AfterShortStream() {
    if (!IsFlapping()) return Next::kWatch;
    Fail(absl::UnavailableError(
        absl::StrCat("watch ", path_, ": the server ends it at once, again and again")));
    return Next::kWatchAfterPause;
  }

  bool IsFlapping() const { return short_streams_ > kMaxShortStreams; }

  Next AfterFailure(const absl::Status& ended) {
    // 429: too many requests, which is not too many objects.
    const absl::StatusCode code =
        absl::IsResourceExhausted(ended) ? absl::StatusCode::kUnavailable : ended.code();
    Fail(absl::Status(code, ApiError(absl::StrCat("watch ", path_), 0, ended.message()).message()));
    const bool expired = absl::IsOutOfRange(ended);
    return expired || IsRefusal(ended) ? Next::kListAfterPause : Next::kWatchAfterPause;
  }

  void TakeLines(Stream* stream) {
    std::string& buffer = stream->buffer;
    bool changed = false;
    size_t start = 0;
    while (!stream->expired) {
      const size_t end = buffer.find('\n', std::max(start, stream->scanned));
      if (end == std::string::npos) break;
      const auto line = absl::string_view(buffer).substr(start, end - start);
      start = end + 1;
      if (!line.empty()) changed = TakeEvent(line, stream) || changed;
    }
    buffer.erase(0, start);
    stream->scanned = buffer.size();
    if (buffer.size() > kMaxLineBytes) Expire(stream, "a watch event larger than the limit");
    if (!changed) return;
    handler_.Flushed();
    stream->refused = handler_.Acceptable();
  }

  // Whether it was a change.
  bool TakeEvent(absl::string_view line, Stream* stream) {
    ++counters_.events;
    absl::StatusOr<ObjectEvent> event = reader_.ReadEvent(line);
    if (!event.ok()) {
      Expire(stream, event.status().message());
      return false;
    }
    if (event->type == ObjectEvent::Type::kError) {
      Expire(stream, event->error_message);
      return false;
    }
    if (versions_grow_ && IsOlder(event->resource_version, resource_version_)) {
      older_than_ = resource_version_;
      Expire(stream, "the server has gone back to an earlier version");
      return false;
    }
    stream->anything = true;
    short_streams_ = 0;
    const bool change = event->type != ObjectEvent::Type::kBookmark;
    if (change) handler_.Changed(ChangeOf(event->type), event->object);
    if (!event->resource_version.empty()) resource_version_ = std::move(event->resource_version);
    return change;
  }

  // What happened in between is not known until the new list has arrived.
  void Expire(Stream* stream, absl::string_view why) {
    stream->expired = true;
    Fail(absl::OutOfRangeError(ApiError(absl::StrCat("watch ", path_), 0, why).message()));
  }

  void Fail(const absl::Status& status) {
    if (stopping()) return;
    ++counters_.failures;
    spdlog::debug("{}", std::string(status.message()));
    Report(status);
  }

  void Report(const absl::Status& status) {
    if (status == reported_) return;
    reported_ = status;
    handler_.StatusChanged(status);
  }

  // Waits for the next try; false if the watch is being destroyed.
  bool Pause() {
    const double jitter = std::uniform_real_distribution<double>(1.0, 2.0)(random_);
    const absl::Duration wait = std::min(backoff_ * jitter, options_.max_backoff);
    backoff_ = std::min(backoff_ * 2, options_.max_backoff);
    absl::MutexLock lock(&mutex_);
    return !clock_.Await(mutex_, absl::Condition(&stopping_), clock_.MonotonicNow() + wait);
  }

  bool stopping() {
    absl::MutexLock lock(&mutex_);
    return stopping_;
  }

  const ObjectWatchOptions options_;
  const std::string path_;
  const std::shared_ptr<http::HttpTransport> server_;
  Clock& clock_;
  WatchHandler& handler_;
  WatchCounters counters_;

  // The thread's own.
  ObjectReader reader_;
  std::minstd_rand random_;
  absl::Duration backoff_;
  bool first_ = true;
  std::string resource_version_;
  // Set from an event of an earlier version until the next list.
  std::optional<std::string> older_than_;
  // False once such a list was no older itself: this server's versions have another order.
  bool versions_grow_ = true;
  int short_streams_ = 0;  // in a row: opened, and ended soon without a word
  int hasty_streams_ = 0;  // in a row: over before a pause would be
  absl::Status reported_;

  absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

ObjectWatch::ObjectWatch(ObjectWatchOptions options, std::shared_ptr<http::HttpTransport> server,
                         Clock& clock, WatchHandler& handler)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(server), clock, handler)) {}

ObjectWatch::~ObjectWatch() = default;

const WatchCounters& ObjectWatch::counters() const { return impl_->counters(); }

}  // namespace flyball::kube
