#include "kube/watch/watch_cache.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kube/watch/object_list.h"

namespace flyball::kube {
namespace {

// Errors after which the old table must not be served any more.
bool EndsTheTable(const absl::Status& status) {
  return absl::IsPermissionDenied(status) || absl::IsUnimplemented(status) ||
         absl::IsNotFound(status) || absl::IsResourceExhausted(status);
}

ObjectWatchOptions WatchOptions(const WatchCacheOptions& options, absl::string_view ns) {
  ObjectWatchOptions watch = options.watch;
  watch.ns = std::string(ns);
  if (options.running_only) watch.field_selector = "status.phase=Running";
  watch.metadata_only = true;
  return watch;
}

absl::Status CheckCount(const WatchCacheOptions& options, absl::string_view ns, size_t count) {
  if (count <= options.max_objects) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("list ", CollectionPath(WatchOptions(options, ns)), ": more than the limit of ",
                   options.max_objects, " objects"));
}

// nullptr for what has no name, with the reason in `unreadable`.
ObjectPtr Read(MetadataReader& reader, absl::string_view object_json, absl::Status* unreadable) {
  absl::StatusOr<ObjectPtr> object = reader.Read(object_json);
  if (object.ok()) return *std::move(object);
  *unreadable = object.status();
  return nullptr;
}

// Keeps the metadata of one list.
class Collector : public WatchHandler {
 public:
  Collector(const WatchCacheOptions& options, absl::string_view ns) : options_(options), ns_(ns) {}

  void ListStarted() override { objects_.clear(); }
  void Listed(absl::string_view object_json) override {
    ObjectPtr object = Read(reader_, object_json, &unreadable_);
    if (object != nullptr) objects_.push_back(std::move(object));
  }
  absl::Status Acceptable() override {
    RETURN_IF_ERROR(unreadable_);
    return CheckCount(options_, ns_, objects_.size());
  }

  std::vector<ObjectPtr> Take() { return std::move(objects_); }

 private:
  const WatchCacheOptions& options_;
  const absl::string_view ns_;
  MetadataReader reader_;
  absl::Status unreadable_;
  std::vector<ObjectPtr> objects_;
};

}  // namespace

absl::StatusOr<std::vector<ObjectPtr>> ListObjects(http::HttpTransport& server,
                                                   const WatchCacheOptions& options,
                                                   absl::string_view ns) {
  ObjectReader reader;
  Collector collector(options, ns);
  RETURN_IF_ERROR(ListPages(server, WatchOptions(options, ns), reader, collector).status());
  return collector.Take();
}

WatchCache::WatchCache(WatchCacheOptions options, std::unique_ptr<http::HttpTransport> server,
                       Clock& clock)
    : options_(std::move(options)), clock_(clock) {
  WatchHandler& handler = *this;
  watch_.emplace(WatchOptions(options_, ""), std::move(server), clock, handler);
}

WatchCache::WatchCache(WatchCacheOptions options, std::shared_ptr<PodFeed> feed, Clock& clock)
    : options_(std::move(options)), clock_(clock), feed_(std::move(feed)) {
  feed_->Follow(*this, options_.running_only);
}

WatchCache::~WatchCache() {
  if (feed_ != nullptr) feed_->Unfollow(*this);
}

const WatchCounters& WatchCache::counters() const {
  static const WatchCounters none;
  return watch_.has_value() ? watch_->counters() : none;
}

absl::StatusOr<std::shared_ptr<const ObjectTable>> WatchCache::Get(MonotonicTime deadline) {
  absl::MutexLock lock(&mutex_);
  const auto known = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return table_ != nullptr || !failure_.ok();
  };
  if (!clock_.Await(mutex_, absl::Condition(&known), deadline)) {
    return absl::UnavailableError(absl::StrCat("list ", CollectionPath(WatchOptions(options_, "")),
                                               ": the API server has not answered yet"));
  }
  if (withdrawn_ || table_ == nullptr) return failure_;
  return table_;
}

void WatchCache::ListStarted() {
  listing_ = true;
  listed_.clear();
  unreadable_ = absl::OkStatus();
}

void WatchCache::Listed(absl::string_view object_json) {
  ObjectPtr object = Read(reader_, object_json, &unreadable_);
  if (object != nullptr) listed_.push_back(std::move(object));
}

void WatchCache::ListEnded() {
  listing_ = false;
  Replace(std::exchange(listed_, {}));
}

void WatchCache::Replace(std::vector<ObjectPtr> objects) {
  auto table = std::make_shared<const ObjectTable>(std::move(objects));
  const bool first = [&] {
    absl::MutexLock lock(&mutex_);
    return table_ == nullptr;
  }();
  if (first || !table->SameAs(*current_)) Adopt(std::move(table));
}

void WatchCache::Changed(ChangeType type, absl::string_view object_json) {
  ObjectPtr object = Read(reader_, object_json, &unreadable_);
  if (object != nullptr) batch_.push_back({std::move(object), type == ChangeType::kDeleted});
}

void WatchCache::Flushed() { Apply(std::exchange(batch_, {})); }

void WatchCache::Apply(const std::vector<ObjectChange>& changes) {
  auto next = current_->With(changes);
  if (next != nullptr) Adopt(std::move(next));
}

void WatchCache::Adopt(std::shared_ptr<const ObjectTable> table) {
  current_ = table;
  // A table that is too large is not served; Acceptable says why.
  if (table->size() > options_.max_objects) return;
  {
    absl::MutexLock lock(&mutex_);
    table_.swap(table);
  }
  if (options_.on_change) options_.on_change();
}

absl::Status WatchCache::Acceptable() {
  RETURN_IF_ERROR(unreadable_);
  return CheckCount(options_, "", listing_ ? listed_.size() : current_->size());
}

void WatchCache::StatusChanged(const absl::Status& status) {
  bool changed = false;
  {
    absl::MutexLock lock(&mutex_);
    failure_ = status;
    changed = withdrawn_ != EndsTheTable(status);
    withdrawn_ = EndsTheTable(status);
  }
  if (changed && options_.on_change) options_.on_change();
}

void WatchCache::Replaced(std::vector<ObjectPtr> objects) {
  Replace(std::move(objects));
  JudgeFeed();
}

void WatchCache::Changed(std::vector<ObjectChange> changes) {
  Apply(changes);
  JudgeFeed();
}

void WatchCache::SourceStatusChanged(const absl::Status& status) {
  feed_status_ = status;
  JudgeFeed();
}

// When this cache exceeds its limit the feed continues, and so does the cache, so that it can be
// served again once enough objects have been removed.
void WatchCache::JudgeFeed() { StatusChanged(feed_status_.ok() ? Acceptable() : feed_status_); }

}  // namespace flyball::kube
