#include "scaler/stores/scale_store.h"

#include <atomic>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kube/objects/resource_version.h"
#include "spdlog/spdlog.h"

namespace flyball::scaler {
namespace {

// Where a scale comes from: a watch reports changes in order, an answer to a call may come late.
enum class Source { kList, kChange, kAnswer };

}  // namespace

class ScaleStore::Kind {
 public:
  Kind(Clock& clock, kube::ResourceInfo info) : clock_(clock), info_(std::move(info)) {}

  void Start(const std::string& ns, const StartWatch& start);

  std::shared_ptr<const ObjectScale> Find(absl::string_view ns, absl::string_view name) {
    absl::MutexLock lock(&mutex_);
    return ScaleOf(ns, name);
  }
  void Learn(const kube::Scale& scale, Source source) {
    absl::MutexLock lock(&mutex_);
    ObjectScale& object = *ScaleOf(scale.ns, scale.name);
    const std::shared_ptr<const kube::Scale> known = object.scale.Get();
    // The answer to a write may arrive after the object was removed.
    if (source == Source::kAnswer && !scale.uid.empty() && scale.uid == object.removed_uid) return;
    if (known != nullptr) {
      if (*known == scale) return;
      if (source != Source::kList && kube::IsOlder(scale.resource_version, known->resource_version))
        return;
    }
    Set(object, std::make_shared<const kube::Scale>(scale));
  }
  void Remove(const kube::Scale& gone) {
    absl::MutexLock lock(&mutex_);
    const auto found = objects_.find(absl::StrCat(gone.ns, "/", gone.name));
    if (found == objects_.end()) return;
    // An answer to a call may have reported its successor already.
    const std::shared_ptr<const kube::Scale> known = found->second->scale.Get();
    if (known != nullptr && !gone.uid.empty() && known->uid != gone.uid) return;
    End(*found->second);
    if (found->second.use_count() == 1) objects_.erase(found);
  }
  // Removes the objects of `ns` ("": all) that are not in `listed`.
  void KeepOnly(absl::string_view ns, const absl::flat_hash_set<std::string>& listed) {
    absl::MutexLock lock(&mutex_);
    const std::string prefix = ns.empty() ? "" : absl::StrCat(ns, "/");
    absl::erase_if(objects_, [&](const auto& item) {
      if (item.first.compare(0, prefix.size(), prefix) != 0) return false;
      if (listed.contains(item.first)) return false;
      End(*item.second);
      return item.second.use_count() == 1;
    });
  }

  void End(ObjectScale& object) {
    if (const auto known = object.scale.Get(); known != nullptr) object.removed_uid = known->uid;
    Set(object, nullptr);
  }
  void Set(ObjectScale& object, std::shared_ptr<const kube::Scale> scale) {
    object.scale.Set(std::move(scale));
    object.version.fetch_add(1, std::memory_order_release);
  }

  // The first problem of its watches (watch_health.h).
  template <typename Problem>
  Problem First(Problem (WatchHealth::*ask)() const) const {
    return FirstProblem(feeds_, ask);
  }

 private:
  class Feed;

  std::shared_ptr<ObjectScale>& ScaleOf(absl::string_view ns, absl::string_view name)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::shared_ptr<ObjectScale>& object = objects_[absl::StrCat(ns, "/", name)];
    if (object == nullptr) object = std::make_shared<ObjectScale>();
    return object;
  }

  Clock& clock_;
  const kube::ResourceInfo info_;
  std::vector<std::unique_ptr<Feed>> feeds_;  // made by Start, before anybody asks
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<ObjectScale>> objects_ ABSL_GUARDED_BY(mutex_);
};

// One watch of the kind.
class ScaleStore::Kind::Feed : public kube::WatchHandler {
 public:
  Feed(Kind& kind, std::string ns)
      : kind_(kind),
        ns_(std::move(ns)),
        health_(absl::StrCat(kind.info_.name.ToString(), ns_.empty() ? "" : " of ", ns_),
                kind.clock_) {}

  void ListStarted() override { listed_.clear(); }
  void Listed(absl::string_view json) override {
    const absl::StatusOr<kube::Scale> scale = Read(json);
    if (!scale.ok()) return;
    listed_.insert(absl::StrCat(scale->ns, "/", scale->name));
    kind_.Learn(*scale, Source::kList);
  }
  void ListEnded() override {
    kind_.KeepOnly(ns_, listed_);
    listed_ = {};
    health_.Listed();
  }
  void Changed(kube::ChangeType type, absl::string_view json) override {
    const absl::StatusOr<kube::Scale> scale = Read(json);
    if (!scale.ok()) return;
    if (type == kube::ChangeType::kDeleted) {
      kind_.Remove(*scale);
    } else {
      kind_.Learn(*scale, Source::kChange);
    }
  }
  void StatusChanged(const absl::Status& status) override { health_.StatusChanged(status); }

  const WatchHealth& health() const { return health_; }

 private:
  absl::StatusOr<kube::Scale> Read(absl::string_view json) {
    absl::StatusOr<kube::Scale> scale = kube::ScaleOfWorkload(json);
    if (!scale.ok()) {
      spdlog::error("scaler: {}: {}", kind_.info_.name.ToString(),
                    std::string(scale.status().message()));
    }
    return scale;
  }

  Kind& kind_;
  const std::string ns_;
  WatchHealth health_;
  absl::flat_hash_set<std::string> listed_;
};

void ScaleStore::Kind::Start(const std::string& ns, const StartWatch& start) {
  feeds_.push_back(std::make_unique<Feed>(*this, ns));
  start(info_, ns, *feeds_.back());
}

ScaleStore::ScaleStore(Clock& clock, std::vector<std::string> namespaces, StartWatch start)
    : clock_(clock), namespaces_(std::move(namespaces)), start_(std::move(start)) {}
ScaleStore::~ScaleStore() = default;

bool ScaleStore::Reads(const kube::ResourceInfo& target) {
  const std::string& resource = target.name.resource;
  if (target.name.group.empty()) return resource == "replicationcontrollers";
  if (target.name.group != "apps" || target.version != "v1") return false;
  return resource == "deployments" || resource == "replicasets" || resource == "statefulsets";
}

ScaleStore::Place ScaleStore::Find(const kube::ResourceInfo& target, absl::string_view ns,
                                   absl::string_view name) {
  absl::MutexLock lock(&mutex_);
  std::unique_ptr<Kind>& kind = kinds_[target.name];
  if (kind == nullptr) {
    kind = std::make_unique<Kind>(clock_, target);
    if (namespaces_.empty()) kind->Start("", start_);
    for (const std::string& space : namespaces_) kind->Start(space, start_);
  }
  return {.object = kind->Find(ns, name), .kind = kind.get()};
}

ScaleStore::Usable ScaleStore::IsUsable(const Kind& kind) {
  if (kind.First(&WatchHealth::Unusable).empty()) return Usable::kYes;
  // A list that fails is not waited for: a request for the one object either succeeds or says why
  // not.
  const bool waiting =
      !kind.First(&WatchHealth::Ready).ok() && kind.First(&WatchHealth::Failure).empty();
  return waiting ? Usable::kNotListed : Usable::kBroken;
}

std::string ScaleStore::Failure(const Kind& kind) { return kind.First(&WatchHealth::Failure); }

absl::Status ScaleStore::Ready() const {
  absl::MutexLock lock(&mutex_);
  for (const auto& [name, kind] : kinds_) {
    RETURN_IF_ERROR(kind->First(&WatchHealth::Ready));
  }
  return absl::OkStatus();
}

void ScaleStore::Learn(const kube::ResourceInfo& target, const kube::Scale& scale) {
  absl::MutexLock lock(&mutex_);
  if (const auto found = kinds_.find(target.name); found != kinds_.end()) {
    found->second->Learn(scale, Source::kAnswer);
  }
}

}  // namespace flyball::scaler
