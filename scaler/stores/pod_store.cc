#include "scaler/stores/pod_store.h"

#include <utility>

#include "absl/status/status.h"
#include "spdlog/spdlog.h"

namespace flyball::scaler {

// One watch. Pods are parsed outside the store's lock.
class PodStore::Feed : public kube::WatchHandler {
 public:
  Feed(PodStore& store, std::string ns)
      : store_(store),
        ns_(std::move(ns)),
        health_(ns_.empty() ? "pods" : "pods of " + ns_, store.clock_) {}

  void ListStarted() override {
    absl::MutexLock lock(&store_.mutex_);
    list_ = ++store_.last_list_;
  }
  void Listed(absl::string_view json) override { Put(json); }
  void ListEnded() override {
    {
      absl::MutexLock lock(&store_.mutex_);
      store_.index_.RemoveBefore(ns_, list_);
    }
    health_.Listed();
  }
  void Changed(kube::ChangeType type, absl::string_view json) override {
    if (type != kube::ChangeType::kDeleted) return Put(json);
    if (!Read(json)) return;
    absl::MutexLock lock(&store_.mutex_);
    store_.index_.Remove(pod_.ns, pod_.name);
  }
  void StatusChanged(const absl::Status& status) override { health_.StatusChanged(status); }

  const WatchHealth& health() const { return health_; }

 private:
  bool Read(absl::string_view json) {
    const absl::Status status = reader_.Read(json, pod_);
    if (!status.ok()) spdlog::error("scaler: {}", std::string(status.message()));
    return status.ok();
  }
  void Put(absl::string_view json) {
    if (!Read(json)) return;
    absl::MutexLock lock(&store_.mutex_);
    store_.index_.Put(pod_, reader_.node(), list_);
  }

  PodStore& store_;
  const std::string ns_;
  WatchHealth health_;
  PodJsonReader reader_;
  Pod pod_;
  uint64_t list_ = 0;
};

PodStore::PodStore(Clock& clock, bool pod_level_resources)
    : clock_(clock), pod_level_resources_(pod_level_resources) {}
PodStore::~PodStore() = default;

kube::WatchHandler& PodStore::AddFeed(const std::string& ns) {
  feeds_.push_back(std::make_unique<Feed>(*this, ns));
  return *feeds_.back();
}

SelectedPods* PodStore::Select(const AutoscalerKey& who, const kube::Selector& selector,
                               absl::string_view text) {
  absl::MutexLock lock(&mutex_);
  return index_.Select(who, selector, text);
}

void PodStore::Retire(const AutoscalerKey& who) {
  absl::MutexLock lock(&mutex_);
  index_.Retire(who);
}

void PodStore::Forget(const AutoscalerKey& who) {
  absl::MutexLock lock(&mutex_);
  index_.Forget(who);
}

PodView PodStore::View(const SelectedPods& group, AutoscalerKind kind,
                       absl::Span<const MetricSpec> metrics) const {
  absl::MutexLock lock(&mutex_);
  return index_.View(group, kind, metrics, pod_level_resources_);
}

absl::StatusOr<int64_t> PodStore::Count(absl::string_view ns, const kube::Selector& selector,
                                        bool distinct_nodes) const {
  if (std::string why = Unusable(); !why.empty()) return absl::UnavailableError(why);
  absl::MutexLock lock(&mutex_);
  return index_.Count(ns, selector, distinct_nodes);
}

uint64_t PodStore::Changes() const {
  absl::MutexLock lock(&mutex_);
  return index_.last_version();
}

std::string PodStore::Failure() const {
  for (const auto& feed : feeds_) {
    if (std::string why = feed->health().Failure(); !why.empty()) return why;
  }
  return "";
}

std::string PodStore::Unusable() const {
  for (const auto& feed : feeds_) {
    if (std::string why = feed->health().Unusable(); !why.empty()) return why;
  }
  return "";
}

absl::Status PodStore::Ready() const {
  for (const auto& feed : feeds_) {
    if (absl::Status status = feed->health().Ready(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

size_t PodStore::size() const {
  absl::MutexLock lock(&mutex_);
  return index_.size();
}

}  // namespace flyball::scaler
