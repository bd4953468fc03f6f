// A scripted metric source, a fixed object directory and a small cluster, for the adapter's tests.
//
// Thread-safe.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/synchronization/mutex.h"
#include "adapter/queries/metric_source.h"
#include "kube/objects/object_directory.h"

namespace flyball::adapter {

// Answers queries and series requests as scripted and remembers them.
class FakeSource : public MetricSource {
 public:
  using Result = absl::StatusOr<std::shared_ptr<const QueryResult>>;
  using QueryScript = std::function<Result(const std::string& promql)>;
  using SeriesScript =
      std::function<absl::StatusOr<std::vector<SeriesName>>(const std::string& selector)>;

  Result Query(absl::string_view promql, absl::Time /*at*/, absl::Duration timeout) override {
    QueryScript script;
    {
      absl::MutexLock lock(&mutex_);
      queries_.emplace_back(promql);
      timeouts_.push_back(timeout);
      script = query_script_;
    }
    return script(std::string(promql));
  }

  absl::StatusOr<StandingResult> Ask(StandingQuery& query, absl::Time at,
                                     absl::Duration timeout) override {
    Result result = Query(query.promql, at, timeout);
    if (!result.ok()) return result.status();
    absl::MutexLock lock(&mutex_);
    const bool same = same_at_.has_value() && absl::StrContains(query.promql, same_text_);
    if (same && query.last.has_value()) return StandingResult{.result = nullptr, .time = same_at_};
    query.last.reset();
    const std::vector<Sample>& samples = (*result)->samples;
    if (samples.empty()) return StandingResult{.result = *std::move(result)};
    query.last.emplace();
    return StandingResult{.result = *result, .time = samples[0].time};
  }

  // Answers a repeated query with this text with "only the time has changed"; nullopt: with a new
  // result.
  void SayTheSameAt(std::optional<int64_t> seconds, const std::string& text = "") {
    absl::MutexLock lock(&mutex_);
    same_at_.reset();
    same_text_ = text;
    if (seconds.has_value()) same_at_ = absl::FromUnixSeconds(*seconds);
  }

  absl::StatusOr<std::vector<SeriesName>> Series(absl::string_view selector, absl::Time start,
                                                 absl::Duration /*timeout*/) override {
    SeriesScript script;
    {
      absl::MutexLock lock(&mutex_);
      selectors_.emplace_back(selector);
      starts_.push_back(start);
      script = series_script_;
    }
    return script(std::string(selector));
  }

  void OnQuery(QueryScript script) {
    absl::MutexLock lock(&mutex_);
    query_script_ = std::move(script);
  }
  void OnSeries(SeriesScript script) {
    absl::MutexLock lock(&mutex_);
    series_script_ = std::move(script);
  }

  std::vector<std::string> queries() const {
    absl::MutexLock lock(&mutex_);
    return queries_;
  }
  std::vector<std::string> selectors() const {
    absl::MutexLock lock(&mutex_);
    return selectors_;
  }
  std::vector<absl::Time> starts() const {
    absl::MutexLock lock(&mutex_);
    return starts_;
  }
  std::vector<absl::Duration> timeouts() const {
    absl::MutexLock lock(&mutex_);
    return timeouts_;
  }

 private:
  mutable absl::Mutex mutex_;
  QueryScript query_script_ ABSL_GUARDED_BY(mutex_) = [](const std::string&) -> Result {
    return std::make_shared<const QueryResult>();
  };
  SeriesScript series_script_ ABSL_GUARDED_BY(mutex_) = [](const std::string&) {
    return std::vector<SeriesName>();
  };
  std::optional<absl::Time> same_at_ ABSL_GUARDED_BY(mutex_);
  std::string same_text_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> queries_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> selectors_ ABSL_GUARDED_BY(mutex_);
  std::vector<absl::Time> starts_ ABSL_GUARDED_BY(mutex_);
  std::vector<absl::Duration> timeouts_ ABSL_GUARDED_BY(mutex_);
};

inline std::shared_ptr<const QueryResult> VectorOf(std::vector<Sample> samples) {
  auto result = std::make_shared<QueryResult>();
  result->samples = std::move(samples);
  return result;
}

inline kube::ResourceInfo Kind(std::string group, std::string plural, std::string singular,
                               std::string kind, bool namespaced = true,
                               std::string version = "v1") {
  return {.name = {std::move(group), std::move(plural)},
          .version = std::move(version),
          .kind = std::move(kind),
          .singular = std::move(singular),
          .namespaced = namespaced,
          .listable = true,
          .watchable = true};
}

inline std::vector<kube::ResourceInfo> SmallCluster() {
  return {Kind("", "pods", "pod", "Pod"),
          Kind("", "services", "service", "Service"),
          Kind("", "namespaces", "namespace", "Namespace", false),
          Kind("", "nodes", "node", "Node", false),
          Kind("apps", "deployments", "deployment", "Deployment"),
          Kind("batch", "jobs", "job", "Job"),
          Kind("networking.k8s.io", "ingresses", "ingress", "Ingress"),
          Kind("cheese.example", "farms", "farm", "Farm", false)};
}

class FakeDirectory : public kube::ObjectDirectory {
 public:
  explicit FakeDirectory(std::vector<kube::ResourceInfo> resources = SmallCluster())
      : mapper_(std::make_shared<const kube::RestMapper>(std::move(resources))) {}

  void Add(const std::string& resource, const std::string& ns, const std::string& name,
           kube::Labels labels = {}) {
    absl::MutexLock lock(&mutex_);
    objects_[resource].push_back(std::make_shared<const kube::ObjectMeta>(
        kube::ObjectMeta{.ns = ns, .name = name, .labels = std::move(labels)}));
    ++generation_;
  }
  void SetMapper(std::vector<kube::ResourceInfo> resources) {
    absl::MutexLock lock(&mutex_);
    mapper_ = std::make_shared<const kube::RestMapper>(std::move(resources));
    ++generation_;
  }
  void FailLists(absl::Status status) {
    absl::MutexLock lock(&mutex_);
    list_failure_ = std::move(status);
  }
  int lists() const {
    absl::MutexLock lock(&mutex_);
    return lists_;
  }

  absl::StatusOr<std::vector<kube::ObjectPtr>> List(const kube::ObjectQuery& query) override {
    absl::MutexLock lock(&mutex_);
    ++lists_;
    if (!list_failure_.ok()) return list_failure_;
    std::vector<kube::ObjectPtr> found;
    for (const kube::ObjectPtr& object : objects_[query.resource.ToString()]) {
      if (!query.ns.empty() && object->ns != query.ns) continue;
      if (query.selector.Matches(object->labels)) found.push_back(object);
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return std::tie(a->ns, a->name) < std::tie(b->ns, b->name);
    });
    return found;
  }
  absl::StatusOr<kube::ObjectPtr> Get(const kube::GroupResource& resource, absl::string_view ns,
                                      absl::string_view name, bool /*running_only*/) override {
    absl::MutexLock lock(&mutex_);
    for (const kube::ObjectPtr& object : objects_[resource.ToString()]) {
      if (object->ns == ns && object->name == name) return object;
    }
    return kube::ObjectPtr();
  }
  std::shared_ptr<const kube::RestMapper> mapper() const override {
    absl::MutexLock lock(&mutex_);
    return mapper_;
  }
  uint64_t Generation() const override {
    absl::MutexLock lock(&mutex_);
    return generation_;
  }

 private:
  mutable absl::Mutex mutex_;
  std::shared_ptr<const kube::RestMapper> mapper_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, std::vector<kube::ObjectPtr>> objects_ ABSL_GUARDED_BY(mutex_);
  absl::Status list_failure_ ABSL_GUARDED_BY(mutex_);
  int lists_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t generation_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace flyball::adapter
