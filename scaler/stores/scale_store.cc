#include "scaler/stores/scale_store.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kube/objects/resource_version.h"
#include "spdlog/spdlog.h"

namespace flyball::scaler {
namespace {

// The number of places of a kind at which unused ones are first searched for.
constexpr size_t kFirstSweep = 64;

// Where a scale comes from: a watch reports changes in order, an answer to a call may come late.
enum class Source { kList, kChange, kAnswer };

}  // namespace

class ScaleStore::Kind {
 public:
  Kind(Clock& clock, kube::ResourceInfo info, const std::string& ns);

  void Start(const StartWatch& start);

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
      // Only the watch reports the generation, which does not count in a comparison.
      if (*known == scale && (scale.generation == 0 || known->generation != 0)) return;
      if (source != Source::kList && kube::IsOlder(scale.resource_version, known->resource_version))
        return;
    }
    Set(object, std::make_shared<const kube::Scale>(scale));
  }
  void Replace(const kube::Scale& before, const kube::Scale& scale) {
    absl::MutexLock lock(&mutex_);
    ObjectScale& object = *ScaleOf(scale.ns, scale.name);
    const std::shared_ptr<const kube::Scale> known = object.scale.Get();
    // A later one may have been reported meanwhile.
    if (known == nullptr || known->resource_version != before.resource_version) return;
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
  // Removes the objects that are not in `listed`.
  void KeepOnly(const absl::flat_hash_set<std::string>& listed) {
    absl::MutexLock lock(&mutex_);
    absl::erase_if(objects_, [&](const auto& item) {
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

  const WatchHealth& health() const { return health_; }

 private:
  class Feed;

  std::shared_ptr<ObjectScale>& ScaleOf(absl::string_view ns, absl::string_view name)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (objects_.size() >= sweep_at_) Sweep();
    std::shared_ptr<ObjectScale>& object = objects_[absl::StrCat(ns, "/", name)];
    if (object == nullptr) object = std::make_shared<ObjectScale>();
    return object;
  }

  // A place whose object does not exist is needed only by those that hold it.
  void Sweep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    absl::erase_if(objects_, [](const auto& item) {
      return item.second.use_count() == 1 && item.second->scale.Get() == nullptr;
    });
    sweep_at_ = kFirstSweep + 2 * objects_.size();
  }

  const kube::ResourceInfo info_;
  WatchHealth health_;
  const std::unique_ptr<Feed> feed_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<ObjectScale>> objects_ ABSL_GUARDED_BY(mutex_);
  size_t sweep_at_ ABSL_GUARDED_BY(mutex_) = kFirstSweep;
};

// The handler of its watch.
class ScaleStore::Kind::Feed : public kube::WatchHandler {
 public:
  explicit Feed(Kind& kind) : kind_(kind) {}

  void ListStarted() override { listed_.clear(); }
  void Listed(absl::string_view json) override {
    const absl::StatusOr<kube::Scale> scale = Read(json);
    if (!scale.ok()) return;
    listed_.insert(absl::StrCat(scale->ns, "/", scale->name));
    kind_.Learn(*scale, Source::kList);
  }
  void ListEnded() override {
    kind_.KeepOnly(listed_);
    listed_ = {};
    kind_.health_.Listed();
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
  void Flushed() override { kind_.health_.Flushed(); }
  void StatusChanged(const absl::Status& status) override { kind_.health_.StatusChanged(status); }
  void Opening() override { kind_.health_.Opening(); }
  void Opened() override { kind_.health_.Opened(); }

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
  absl::flat_hash_set<std::string> listed_;
};

ScaleStore::Kind::Kind(Clock& clock, kube::ResourceInfo info, const std::string& ns)
    : info_(std::move(info)),
      health_(info_.name.ToString(), ns, clock),
      feed_(std::make_unique<Feed>(*this)) {}

void ScaleStore::Kind::Start(const StartWatch& start) { start(info_, health_.ns(), *feed_); }

ScaleStore::ScaleStore(Clock& clock, const std::vector<std::string>& namespaces, StartWatch start)
    : clock_(clock), all_namespaces_(namespaces.empty()), start_(std::move(start)) {}
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
  const KindKey key = KeyOf(target, ns);
  std::unique_ptr<Kind>& kind = kinds_[key];
  if (kind == nullptr) {
    kind = std::make_unique<Kind>(clock_, target, key.second);
    kind->Start(start_);
  }
  return {.object = kind->Find(ns, name), .kind = kind.get()};
}

ScaleStore::Usable ScaleStore::IsUsable(const Kind& kind) {
  if (kind.health().Unusable().empty()) return Usable::kYes;
  // A list that fails is not waited for: a request for the one object either succeeds or says why
  // not.
  return kind.health().Waits() ? Usable::kNotListed : Usable::kBroken;
}

std::string ScaleStore::Failure(const Kind& kind) { return kind.health().Failure(); }

absl::Status ScaleStore::Ready() const {
  absl::MutexLock lock(&mutex_);
  for (const auto& [key, kind] : kinds_) RETURN_IF_ERROR(kind->health().Ready());
  return absl::OkStatus();
}

void ScaleStore::Learn(const kube::ResourceInfo& target, const kube::Scale& scale) {
  absl::MutexLock lock(&mutex_);
  if (const auto found = kinds_.find(KeyOf(target, scale.ns)); found != kinds_.end()) {
    found->second->Learn(scale, Source::kAnswer);
  }
}

void ScaleStore::LearnAfterConflict(const kube::ResourceInfo& target, const kube::Scale& before,
                                    const kube::Scale& scale) {
  if (!kube::IsOlder(scale.resource_version, before.resource_version)) return Learn(target, scale);
  absl::MutexLock lock(&mutex_);
  if (const auto found = kinds_.find(KeyOf(target, scale.ns)); found != kinds_.end()) {
    found->second->Replace(before, scale);
  }
}

}  // namespace flyball::scaler
