#include "kube/watch/cluster_directory.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/thread_limit.h"
#include "kube/client/discovery.h"
#include "spdlog/spdlog.h"

namespace flyball::kube {
namespace {

constexpr absl::Duration kDefaultDiscoveryInterval = absl::Minutes(5);
constexpr absl::Duration kGetTimeout = absl::Seconds(45);

bool ArePods(const GroupResource& resource) { return resource == GroupResource{"", "pods"}; }

// Callers do not care why the API server does not answer: all reasons are kUnavailable.
absl::Status AsUnavailable(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kUnavailable: return status;
    default: return absl::UnavailableError(status.message());
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<ClusterDirectory>> ClusterDirectory::Make(
    MakeTransport make_transport, Clock& clock, ClusterDirectoryOptions options) {
  ASSIGN_OR_RETURN(std::unique_ptr<http::HttpTransport> server, make_transport());
  return std::unique_ptr<ClusterDirectory>(new ClusterDirectory(
      std::move(make_transport), std::move(server), clock, std::move(options)));
}

ClusterDirectory::ClusterDirectory(MakeTransport make_transport,
                                   std::unique_ptr<http::HttpTransport> server, Clock& clock,
                                   ClusterDirectoryOptions options)
    : make_transport_(std::move(make_transport)),
      server_(std::move(server)),
      clock_(clock),
      options_(std::move(options)),
      mapper_(std::make_shared<const RestMapper>(std::vector<ResourceInfo>())),
      lists_(options_.max_lists, std::numeric_limits<size_t>::max()),
      listing_(clock_, "list"),
      backoff_(options_.cache.watch.first_backoff),
      thread_(clock_, [this] { return Step(); }) {
  thread_.Start();
}

ClusterDirectory::~ClusterDirectory() {
  thread_.BeginStop();
  server_->Shutdown();
  thread_.Stop();
  kind_watch_.reset();
}

absl::StatusOr<std::vector<ObjectPtr>> ClusterDirectory::List(const ObjectQuery& query) {
  ASSIGN_OR_RETURN(const TablePtr table,
                   TableFor(query.resource, query.ns, query.running_only, query.timeout));
  return table->Select(query.ns, query.selector);
}

absl::StatusOr<ObjectPtr> ClusterDirectory::Get(const GroupResource& resource, absl::string_view ns,
                                                absl::string_view name, bool running_only) {
  ASSIGN_OR_RETURN(const TablePtr table, TableFor(resource, ns, running_only, kGetTimeout));
  return table->Find(ns, name);
}

absl::StatusOr<ClusterDirectory::TablePtr> ClusterDirectory::TableFor(const GroupResource& resource,
                                                                      absl::string_view ns,
                                                                      bool running_only,
                                                                      absl::Duration timeout) {
  const MonotonicTime deadline = clock_.MonotonicNow() + timeout;
  ASSIGN_OR_RETURN(const ResourceInfo info, Resolve(resource, deadline));
  running_only = running_only && ArePods(resource);
  if (info.watchable) {
    ASSIGN_OR_RETURN(const std::shared_ptr<Cached> cached, CacheFor(info, running_only));
    absl::StatusOr<TablePtr> table = cached->cache.Get(deadline);
    if (table.ok()) return table;
    if (!absl::IsPermissionDenied(table.status()) && !absl::IsUnimplemented(table.status())) {
      return AsUnavailable(table.status());
    }
  }
  absl::StatusOr<TablePtr> table =
      ListNow(info, info.namespaced ? ns : absl::string_view(), running_only, deadline);
  if (!table.ok()) return AsUnavailable(table.status());
  return table;
}

absl::StatusOr<ResourceInfo> ClusterDirectory::Resolve(const GroupResource& resource,
                                                       MonotonicTime deadline) {
  // Held while it is looked at: a discovery may replace it at any time.
  std::shared_ptr<const RestMapper> mapper = mapper_.Get();
  if (const ResourceInfo* info = mapper->FindExact(resource)) return *info;
  {
    absl::MutexLock lock(&mutex_);
    if (!clock_.Await(mutex_, absl::Condition(&asked_), deadline)) {
      return absl::UnavailableError("the API server has not answered discovery yet");
    }
    mapper = mapper_.Get();
    if (!discovered_.ok() && mapper->resources().empty()) {
      return absl::UnavailableError(discovered_.message());
    }
  }
  if (const ResourceInfo* info = mapper->FindExact(resource)) return *info;
  ResourceMissed();
  return absl::NotFoundError(absl::StrCat("the cluster has no resource ", resource.ToString()));
}

WatchCacheOptions ClusterDirectory::CacheOptions(const ResourceInfo& info, bool running_only) {
  WatchCacheOptions options = options_.cache;
  options.watch.resource = info;
  options.running_only = running_only;
  options.on_change = [this] { Grow(); };
  return options;
}

absl::StatusOr<std::shared_ptr<ClusterDirectory::Cached>> ClusterDirectory::MakeCache(
    const ResourceInfo& info, bool running_only) {
  WatchCacheOptions options = CacheOptions(info, running_only);
  if (options_.pods != nullptr && ArePods(info.name)) {
    return std::make_shared<Cached>(std::move(options), options_.pods, clock_);
  }
  ASSIGN_OR_RETURN(std::unique_ptr<http::HttpTransport> server, make_transport_());
  return UnlessNoThread(
      [&] { return std::make_shared<Cached>(std::move(options), std::move(server), clock_); });
}

absl::StatusOr<std::shared_ptr<ClusterDirectory::Cached>> ClusterDirectory::CacheFor(
    const ResourceInfo& info, bool running_only) {
  const MonotonicTime now = clock_.MonotonicNow();
  const Key key(info.name, running_only);
  {
    absl::ReaderMutexLock lock(&mutex_);
    const auto found = caches_.find(key);
    if (found != caches_.end()) {
      found->second->last_use_ns = absl::ToInt64Nanoseconds(now);
      return found->second;
    }
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<Cached> made, MakeCache(info, running_only));
  absl::MutexLock lock(&mutex_);
  // Another request may have been quicker; then `made` ends after the lock.
  const auto [entry, inserted] = caches_.emplace(key, made);
  entry->second->last_use_ns = absl::ToInt64Nanoseconds(now);
  return entry->second;
}

absl::StatusOr<ClusterDirectory::TablePtr> ClusterDirectory::ListNow(const ResourceInfo& info,
                                                                     absl::string_view ns,
                                                                     bool running_only,
                                                                     MonotonicTime deadline) {
  if (!info.listable) {
    return absl::UnavailableError(
        absl::StrCat(info.name.ToString(), " can be neither listed nor watched"));
  }
  const std::string key =
      absl::StrCat(info.name.ToString(), running_only ? " running in " : " in ", ns);
  const auto list = [&]() -> absl::StatusOr<TablePtr> {
    const MonotonicTime now = clock_.MonotonicNow();
    if (auto kept = lists_.Get(key, now)) return *std::move(kept);
    WatchCacheOptions options = CacheOptions(info, running_only);
    options.watch.list_timeout = deadline - now;
    absl::StatusOr<std::vector<ObjectPtr>> objects = ListObjects(*server_, options, ns);
    absl::StatusOr<TablePtr> table;
    if (objects.ok()) {
      table = std::make_shared<const ObjectTable>(*std::move(objects));
    } else {
      table = objects.status();
    }
    const MonotonicTime listed = clock_.MonotonicNow();
    lists_.Put(key, table, 0, listed, listed + options_.list_reuse);
    return table;
  };
  return listing_.Ask(key, deadline, list);
}

void ClusterDirectory::Keep(std::vector<ObjectSet> sets) {
  {
    absl::MutexLock lock(&mutex_);
    kept_ = std::move(sets);
  }
  thread_.Wake();
}

absl::Status ClusterDirectory::Kept() const {
  absl::ReaderMutexLock lock(&mutex_);
  for (const ObjectSet& set : kept_) {
    const auto cached = caches_.find(Key(set.resource, set.running_only));
    if (cached == caches_.end()) {
      return absl::UnavailableError(
          absl::StrCat("the cluster's resource ", set.resource.ToString(), " is not known yet"));
    }
    const absl::Status known = cached->second->cache.Get(-absl::InfiniteDuration()).status();
    if (!known.ok() && absl::IsUnavailable(AsUnavailable(known))) return known;
  }
  return absl::OkStatus();
}

// Makes the caches of the sets to be kept, and marks them as used, so that they stay.
void ClusterDirectory::UseKept() {
  std::vector<ObjectSet> sets;
  {
    absl::ReaderMutexLock lock(&mutex_);
    sets = kept_;
  }
  const std::shared_ptr<const RestMapper> mapper = mapper_.Get();
  for (const ObjectSet& set : sets) {
    const ResourceInfo* info = mapper->FindExact(set.resource);
    if (info == nullptr || !info->watchable) continue;
    const std::string failure(CacheFor(*info, set.running_only).status().message());
    std::string& last = keep_failures_[set.resource];
    if (!failure.empty() && failure != last) {
      spdlog::warn("{} are not watched: {}", set.resource.ToString(), failure);
    }
    last = failure;
  }
}

void ClusterDirectory::ResourceMissed() {
  absl::MutexLock lock(&mutex_);
  missed_ = true;
}

void ClusterDirectory::KindsChanged() {
  const MonotonicTime now = clock_.MonotonicNow();
  absl::MutexLock lock(&mutex_);
  missed_ = true;
  settled_at_ = now + options_.settle;
}

absl::Status ClusterDirectory::Ready() const {
  absl::MutexLock lock(&mutex_);
  if (!mapper_.Get()->resources().empty()) return absl::OkStatus();
  if (!asked_) return absl::UnavailableError("the API server has not answered discovery yet");
  return discovered_;
}

ClusterDirectory::Stats ClusterDirectory::stats() const {
  Stats stats;
  stats.discoveries = discoveries_;
  absl::ReaderMutexLock lock(&mutex_);
  stats.caches = caches_.size();
  for (const auto& [key, cached] : caches_) stats.events += cached->cache.counters().events;
  return stats;
}

absl::Duration ClusterDirectory::Step() {
  const MonotonicTime began = clock_.MonotonicNow();
  MonotonicTime now = began;
  bool missed = false;
  {
    absl::MutexLock lock(&mutex_);
    missed = missed_;
  }
  if (now >= next_discovery_ || (missed && now - last_discovery_ >= options_.missed_interval)) {
    DiscoverOnce();
    now = last_discovery_ = clock_.MonotonicNow();
    const bool failed = !failure_.empty();
    if (!failed && options_.watch_kinds && kind_watch_ == nullptr) {
      kind_watch_ = std::make_unique<KindWatch>(*mapper_.Get(), make_transport_, clock_,
                                                [this] { KindsChanged(); });
    }
    absl::MutexLock lock(&mutex_);
    missed_ = missed_ || began < settled_at_;
    const absl::Duration interval = options_.discovery_interval > absl::ZeroDuration()
                                        ? options_.discovery_interval
                                        : kDefaultDiscoveryInterval;
    next_discovery_ = now + (failed ? backoff_ : interval);
    backoff_ = failed ? std::min(backoff_ * 2, options_.cache.watch.max_backoff)
                      : options_.cache.watch.first_backoff;
  }
  UseKept();
  Tidy(now);
  return std::min(options_.list_reuse, next_discovery_ - now);
}

void ClusterDirectory::DiscoverOnce() {
  {
    absl::MutexLock lock(&mutex_);
    missed_ = false;
  }
  ++discoveries_;
  absl::StatusOr<Discovery> discovery =
      Discover(*server_, clock_, options_.discovery_timeout, mapper_.Get()->resources());
  const std::string failure(discovery.status().message());
  if (!discovery.ok()) {
    // A cancelled call at the end of the process is no failure.
    if (failure != failure_ && !absl::IsCancelled(discovery.status())) {
      spdlog::warn("discovery failed: {}", failure);
    }
  } else {
    if (discovery->problems != problems_ && !discovery->problems.empty()) {
      spdlog::warn("discovery is not complete: {}", absl::StrJoin(discovery->problems, "; "));
    }
    problems_ = std::move(discovery->problems);
    auto mapper = std::make_shared<const RestMapper>(std::move(discovery->resources));
    if (mapper->resources() != mapper_.Get()->resources()) {
      mapper_.Set(std::move(mapper));
      Grow();
    }
  }
  failure_ = failure;
  absl::MutexLock lock(&mutex_);
  discovered_ = discovery.status();
  asked_ = true;
}

// Stops the caches that are not used. After that, and each time a list may have become old, callers
// that keep answers by generation have to ask again, so the generation grows.
void ClusterDirectory::Tidy(MonotonicTime now) {
  std::vector<std::shared_ptr<Cached>> stopped;  // joined outside the lock
  bool changed = false;
  {
    absl::MutexLock lock(&mutex_);
    for (auto entry = caches_.begin(); entry != caches_.end();) {
      if (now - absl::Nanoseconds(entry->second->last_use_ns.load()) <= options_.unused_after) {
        ++entry;
        continue;
      }
      stopped.push_back(std::move(entry->second));
      entry = caches_.erase(entry);
    }
    changed = !stopped.empty() || lists_.size() > 0 || listing_.askers() > 0;
  }
  lists_.DropExpired(now);
  if (changed) Grow();
}

}  // namespace flyball::kube
