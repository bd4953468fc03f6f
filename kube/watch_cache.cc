#include "kube/watch_cache.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kube/api_error.h"
#include "kube/url.h"
#include "spdlog/spdlog.h"

namespace flyball::kube {
namespace {

constexpr char kAcceptList[] =
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";
constexpr char kAcceptObject[] =
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json";
constexpr size_t kMaxLineBytes = 16u << 20;
// The server ends a watch after a time from this range, so that not all end at once.
constexpr int kMinWatchSeconds = 300;
constexpr int kMaxWatchSeconds = 600;
// A watch that lasted so long was none that failed.
constexpr absl::Duration kLongWatch = absl::Seconds(10);

// After which an old table says nothing about the present any more.
bool EndsTheTable(const absl::Status& status) {
  return absl::IsPermissionDenied(status) || absl::IsUnimplemented(status) ||
         absl::IsNotFound(status) || absl::IsResourceExhausted(status);
}

}  // namespace

std::string ResourcePath(const ResourceInfo& resource, absl::string_view ns) {
  const std::string root = resource.name.group.empty()
                               ? absl::StrCat("/api/", resource.version)
                               : absl::StrCat("/apis/", resource.name.group, "/", resource.version);
  if (ns.empty()) return absl::StrCat(root, "/", resource.name.resource);
  return absl::StrCat(root, "/namespaces/", UrlEscape(ns), "/", resource.name.resource);
}

std::string RunningOnlyQuery(bool running_only) {
  return running_only ? "&fieldSelector=status.phase%3DRunning" : "";
}

absl::StatusOr<ListedObjects> ListObjects(HttpTransport& server, const WatchCacheOptions& options,
                                          absl::string_view ns, MetadataReader& reader) {
  const std::string path = ResourcePath(options.resource, ns);
  ListedObjects listed;
  std::string continue_token;
  bool paged = true;
  while (true) {
    HttpCall call;
    call.target = absl::StrCat(path, "?", paged ? absl::StrCat("limit=", options.page_size) : "",
                               RunningOnlyQuery(options.running_only));
    if (!continue_token.empty()) {
      absl::StrAppend(&call.target, "&continue=", UrlEscape(continue_token));
    }
    call.headers = {{"Accept", kAcceptList}};
    call.timeout = options.list_timeout;
    call.max_body_bytes = 1u << 30;
    ASSIGN_OR_RETURN(HttpAnswer answer, server.Do(call));
    if (answer.status == 410 && !continue_token.empty()) {
      // The pages have expired while they were read: all in one piece, then.
      listed = ListedObjects();
      continue_token.clear();
      paged = false;
      continue;
    }
    if (answer.status != 200) {
      return ApiError(absl::StrCat("list ", path), answer.status, answer.body);
    }
    ASSIGN_OR_RETURN(MetadataPage page, reader.ReadList(answer.body));
    std::move(page.objects.begin(), page.objects.end(), std::back_inserter(listed.objects));
    if (listed.objects.size() > options.max_objects) {
      return absl::ResourceExhaustedError(absl::StrCat("list ", path, ": more than the limit of ",
                                                       options.max_objects, " objects"));
    }
    listed.resource_version = std::move(page.resource_version);
    continue_token = std::move(page.continue_token);
    if (continue_token.empty()) return listed;
  }
}

WatchCache::WatchCache(WatchCacheOptions options, std::unique_ptr<HttpTransport> server)
    : options_(std::move(options)),
      server_(std::move(server)),
      random_(std::random_device()()),
      backoff_(options_.first_backoff),
      current_(std::make_shared<const ObjectTable>()),
      thread_([this] { Run(); }) {}

WatchCache::~WatchCache() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  server_->Shutdown();
  thread_.join();
}

absl::StatusOr<std::shared_ptr<const ObjectTable>> WatchCache::Get(absl::Duration timeout) {
  absl::MutexLock lock(&mutex_);
  const auto known = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return table_ != nullptr || !failure_.ok();
  };
  if (!mutex_.AwaitWithTimeout(absl::Condition(&known), timeout)) {
    return absl::UnavailableError(absl::StrCat("list ", ResourcePath(options_.resource, ""),
                                               ": the API server has not answered yet"));
  }
  if (withdrawn_ || table_ == nullptr) return failure_;
  return table_;
}

bool WatchCache::stopping() {
  absl::MutexLock lock(&mutex_);
  return stopping_;
}

void WatchCache::Run() {
  while (!stopping()) {
    const absl::Status status = ListAndWatch();
    if (stopping()) return;
    if (!status.ok()) {
      ++counters_.failures;
      spdlog::debug("{}", std::string(status.message()));
      absl::MutexLock lock(&mutex_);
      failure_ = status;
      withdrawn_ = EndsTheTable(status);
    }
    // An expired resourceVersion is listed anew at once, but not in a tight loop.
    if (!Pause()) return;
  }
}

bool WatchCache::Pause() {
  const double jitter = std::uniform_real_distribution<double>(1.0, 2.0)(random_);
  const absl::Duration wait = std::min(backoff_ * jitter, options_.max_backoff);
  backoff_ = std::min(backoff_ * 2, options_.max_backoff);
  absl::MutexLock lock(&mutex_);
  return !mutex_.AwaitWithTimeout(absl::Condition(&stopping_), wait);
}

absl::Status WatchCache::ListAndWatch() {
  ++counters_.lists;
  ASSIGN_OR_RETURN(ListedObjects listed, ListObjects(*server_, options_, "", reader_));
  auto table = std::make_shared<const ObjectTable>(std::move(listed.objects));
  const bool first = [&] {
    absl::MutexLock lock(&mutex_);
    return table_ == nullptr;
  }();
  if (first || !table->SameAs(*current_)) Publish(std::move(table));
  std::string resource_version = std::move(listed.resource_version);
  while (!stopping()) {
    ++counters_.watches;
    const absl::Status status = WatchOnce(&resource_version);
    if (status.ok()) continue;
    if (absl::IsOutOfRange(status)) return absl::OkStatus();  // expired: a new list
    if (EndsTheTable(status)) return status;
    ++counters_.failures;
    spdlog::debug("{}", std::string(status.message()));
    if (!Pause()) break;
  }
  return absl::OkStatus();
}

absl::Status WatchCache::WatchOnce(std::string* resource_version) {
  const std::string path = ResourcePath(options_.resource, "");
  const int seconds =
      std::uniform_int_distribution<int>(kMinWatchSeconds, kMaxWatchSeconds)(random_);
  HttpCall call;
  call.target = absl::StrCat(
      path, "?watch=1&allowWatchBookmarks=true&resourceVersion=", UrlEscape(*resource_version),
      "&timeoutSeconds=", seconds, RunningOnlyQuery(options_.running_only));
  call.headers = {{"Accept", kAcceptObject}};
  call.timeout = absl::Seconds(seconds) + absl::Seconds(30);
  std::string buffer;
  absl::Status taken;
  bool anything = false;
  const MonotonicTime start = Clock::System().MonotonicNow();
  const absl::Status streamed = server_->Stream(call, [&](absl::string_view data) {
    buffer.append(data.data(), data.size());
    anything = true;
    taken = TakeLines(&buffer, resource_version);
    return taken.ok();
  });
  RETURN_IF_ERROR(taken);
  anything = anything || Clock::System().MonotonicNow() - start > kLongWatch;
  if (anything) backoff_ = options_.first_backoff;
  if (streamed.ok() && !anything) {
    // A server that ends each watch at once is not asked in a tight loop.
    return absl::UnavailableError(absl::StrCat("watch ", path, ": ended at once"));
  }
  if (streamed.ok()) return streamed;
  return absl::Status(streamed.code(),
                      ApiError(absl::StrCat("watch ", path), 0, streamed.message()).message());
}

absl::Status WatchCache::TakeLines(std::string* buffer, std::string* resource_version) {
  std::vector<ObjectChange> changes;
  absl::Status status;
  size_t start = 0;
  while (status.ok()) {
    const size_t end = buffer->find('\n', start);
    if (end == std::string::npos) break;
    const auto line = absl::string_view(*buffer).substr(start, end - start);
    start = end + 1;
    if (line.empty()) continue;
    ++counters_.events;
    absl::StatusOr<WatchEvent> event = reader_.ReadEvent(line);
    if (!event.ok()) {
      status = event.status();
      break;
    }
    if (event->type == WatchEvent::Type::kError) {
      // Whatever it says, the stream is of no more use; only a new list is certain to help.
      status = absl::OutOfRangeError(event->error_message);
      ++counters_.failures;
      break;
    }
    if (!event->resource_version.empty()) *resource_version = std::move(event->resource_version);
    if (event->object != nullptr) {
      changes.push_back({std::move(event->object), event->type == WatchEvent::Type::kDeleted});
    }
  }
  buffer->erase(0, start);
  if (buffer->size() > kMaxLineBytes) {
    status = absl::OutOfRangeError("a watch event larger than the limit");
  }
  if (auto next = current_->With(changes); next != nullptr) {
    if (next->size() > options_.max_objects) {
      return absl::OutOfRangeError("more objects than the limit");
    }
    Publish(std::move(next));
  }
  return status;
}

void WatchCache::Publish(std::shared_ptr<const ObjectTable> table) {
  current_ = table;
  {
    absl::MutexLock lock(&mutex_);
    table_.swap(table);
    failure_ = absl::OkStatus();
    withdrawn_ = false;
  }
  if (options_.on_change) options_.on_change();
}

}  // namespace flyball::kube
