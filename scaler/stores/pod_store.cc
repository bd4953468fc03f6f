#include "scaler/stores/pod_store.h"

#include <utility>

#include "absl/status/status.h"
#include "scaler/stores/pod_owner.h"
#include "spdlog/spdlog.h"

namespace flyball::scaler {
namespace {

kube::PodState StateOf(PodPhase phase) {
  return phase == PodPhase::kRunning ? kube::PodState::kRunning : kube::PodState::kNotRunning;
}

}  // namespace

// One watch. Pods are parsed outside the store's lock.
class PodStore::Feed : public kube::WatchHandler {
 public:
  Feed(PodStore& store, std::string ns)
      : store_(store),
        followers_(ns.empty() ? store.followers_.get() : nullptr),
        health_("pods", std::move(ns), store.clock_) {}

  void ListStarted() override {
    absl::MutexLock lock(&store_.mutex_);
    list_ = ++store_.last_list_;
  }
  void Listed(absl::string_view json) override {
    if (Read(json)) Put();
  }
  void ListEnded() override {
    {
      absl::MutexLock lock(&store_.mutex_);
      store_.index_.RemoveBefore(health_.ns(), list_);
    }
    if (followers_ != nullptr) followers_->Listed();
    health_.Listed();
  }
  void Changed(kube::ChangeType type, absl::string_view json) override {
    if (!Read(json)) return;
    if (type != kube::ChangeType::kDeleted) {
      Put();
      return Note(StateOf(pod_.phase));
    }
    {
      absl::MutexLock lock(&store_.mutex_);
      store_.index_.Remove(pod_.ns, pod_.name);
    }
    Note(kube::PodState::kGone);
  }
  void Flushed() override {
    if (!changes_.empty()) followers_->Changed(std::exchange(changes_, {}));
    health_.Flushed();
  }
  void StatusChanged(const absl::Status& status) override {
    if (followers_ != nullptr) followers_->StatusChanged(status);
    health_.StatusChanged(status);
  }
  void Opening() override { health_.Opening(); }
  void Opened() override { health_.Opened(); }

  const WatchHealth& health() const { return health_; }

 private:
  bool Read(absl::string_view json) {
    const absl::Status status = reader_.Read(json, pod_);
    if (!status.ok()) spdlog::error("scaler: {}", std::string(status.message()));
    return status.ok();
  }
  void Put() {
    AddOwners(reader_.controller(), pod_.labels);
    {
      absl::MutexLock lock(&store_.mutex_);
      store_.index_.Put(pod_, reader_.node(), list_);
    }
    RemoveOwners(pod_.labels);
  }
  // Notes a change of the last pod that was read, for the followers. The index has it already.
  void Note(kube::PodState state) {
    if (followers_ == nullptr || !followers_->followed()) return;
    changes_.push_back({std::make_shared<const kube::ObjectMeta>(kube::ObjectMeta{
                            .ns = pod_.ns, .name = pod_.name, .labels = pod_.labels}),
                        state});
  }

  PodStore& store_;
  kube::PodFeed* const followers_;  // nullptr: there are none
  WatchHealth health_;
  PodJsonReader reader_;
  Pod pod_;
  uint64_t list_ = 0;
  std::vector<kube::WatchedPod> changes_;  // since the last flush
};

PodStore::PodStore(Clock& clock, std::shared_ptr<kube::PodFeed> followers)
    : clock_(clock), followers_(std::move(followers)) {
  if (followers_ != nullptr) followers_->Begin([this] { return Known(); });
}

PodStore::~PodStore() {
  if (followers_ != nullptr) followers_->End();
}

// The lock is taken for one namespace at a time, so that decisions go on meanwhile.
std::vector<kube::WatchedPod> PodStore::Known() const {
  std::vector<std::string> namespaces;
  std::vector<kube::WatchedPod> pods;
  {
    absl::MutexLock lock(&mutex_);
    namespaces = index_.Namespaces();
    pods.reserve(index_.size());
  }
  for (const std::string& ns : namespaces) {
    absl::MutexLock lock(&mutex_);
    index_.ForEachPod(ns, [&](absl::string_view name, const kube::Labels& labels, PodPhase phase) {
      auto meta = std::make_shared<kube::ObjectMeta>(
          kube::ObjectMeta{.ns = ns, .name = std::string(name), .labels = labels});
      RemoveOwners(meta->labels);
      pods.push_back({std::move(meta), StateOf(phase)});
    });
  }
  return pods;
}

kube::WatchHandler& PodStore::AddFeed(const std::string& ns) {
  feeds_.push_back(std::make_unique<Feed>(*this, ns));
  return *feeds_.back();
}

SelectedPods* PodStore::Select(const AutoscalerKey& who, const kube::Selector& selector,
                               absl::string_view text, bool rival) {
  absl::MutexLock lock(&mutex_);
  return index_.Select(who, selector, text, rival);
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
                       absl::Span<const MetricSpec> metrics, const RequestRules& rules) const {
  absl::MutexLock lock(&mutex_);
  return index_.View(group, kind, metrics, rules);
}

absl::StatusOr<int64_t> PodStore::Count(absl::string_view ns, const kube::Selector& selector,
                                        bool distinct_nodes) const {
  if (std::string why = Unusable(ns); !why.empty()) return absl::UnavailableError(why);
  std::vector<AlikePods> candidates;
  {
    absl::MutexLock lock(&mutex_);
    candidates = index_.Candidates(ns, selector);
  }
  return CountMatching(candidates, selector, distinct_nodes);
}

std::string PodStore::Failure(absl::string_view ns) const {
  return FirstProblem(feeds_, &WatchHealth::Failure, ns);
}
std::string PodStore::Unusable(absl::string_view ns) const {
  return FirstProblem(feeds_, &WatchHealth::Unusable, ns);
}
absl::Status PodStore::Ready(absl::string_view ns) const {
  return FirstProblem(feeds_, &WatchHealth::Ready, ns);
}
absl::Status PodStore::Ready() const { return FirstProblem(feeds_, &WatchHealth::Ready); }
bool PodStore::Waits() const { return AnyWaits(feeds_); }

std::vector<std::string> PodStore::Namespaces() const {
  std::vector<std::string> namespaces;
  for (const auto& feed : feeds_) namespaces.push_back(feed->health().ns());
  return namespaces;
}

size_t PodStore::size() const {
  absl::MutexLock lock(&mutex_);
  return index_.size();
}

}  // namespace flyball::scaler
