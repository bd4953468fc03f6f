#include "scaler/stores/autoscaler_store.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "base/log_limiter.h"
#include "base/one_line.h"
#include "kube/objects/object_json.h"
#include "scaler/spec/document.h"
#include "scaler/spec/hpa/admission.h"
#include "scaler/spec/own/parser.h"
#include "scaler/spec/schedules_read.h"
#include "scaler/spec/shown_gates.h"
#include "scaler/triggers/types/trigger_types.h"
#include "spdlog/spdlog.h"

namespace flyball::scaler {
namespace {

// Of an HPA. The API server and the HPA controller take any number, but each metric is a question,
// and many can be a column of the pods' table, which is made under the lock of all pods.
constexpr size_t kMaxMetrics = 256;

constexpr size_t kMaxModeBytes = 256;

// Annotations that cannot be read are ignored, as by the stock controller, except for pauses, which
// are in force whatever else is wrong, even if their end cannot be read. `ignored` says so.
void ReadAnnotations(Managed& managed) {
  FieldErrors errors;
  managed.own.schedules = ReadScheduleAnnotations(managed.autoscaler, errors);
  for (const FieldError& error : std::move(errors).Sorted()) {
    managed.ignored.push_back(
        absl::StrCat("follows only the pauses of its schedules: ", error.ToString()));
  }
  managed.own.paused =
      managed.autoscaler.annotations.contains(std::string(kPausedUntilAnnotation)) &&
      !managed.own.schedules.paused_until.has_value();
  const auto& annotations = managed.autoscaler.annotations;
  const auto selection = annotations.find(std::string(kPodSelectionAnnotation));
  if (selection == annotations.end()) return;
  managed.own.owned_pods_only = selection->second == "OwnerReferences";
  if (!managed.own.owned_pods_only && selection->second != "LabelSelector") {
    managed.ignored.push_back(absl::StrCat("counts pods by their labels: ", kPodSelectionAnnotation,
                                           ": expected LabelSelector or OwnerReferences, got ",
                                           BriefText(selection->second)));
  }
}

void ReadHpa(const Node& document, Managed& managed) {
  // Admission checks are skipped: the API server has admitted the object by its own feature gates
  // and, on updates, by milder rules.
  AdmissionResult admitted = Admit(document, {.dialect = {}, .skip_admission = true});
  managed.refused = admitted.ErrorText();
  if (admitted.autoscaler.has_value()) managed.autoscaler = *std::move(admitted.autoscaler);
  managed.spec_hash = absl::HashOf(managed.autoscaler.uid, admitted.canonical_spec_json);
  if (managed.autoscaler.metrics.size() > kMaxMetrics) {
    managed.refused = absl::StrCat("spec.metrics: must have at most ", kMaxMetrics, " items, has ",
                                   managed.autoscaler.metrics.size());
    managed.autoscaler.metrics = {};
    managed.autoscaler.status.current_metrics = {};
    return;
  }
  ReadAnnotations(managed);
  managed.spec_hash = absl::HashOf(managed.spec_hash, managed.own.owned_pods_only);
}

void ReadOwn(const Node& document, Managed& managed) {
  OwnParseResult parsed = ParseOwnAutoscaler(document, TriggerTypeNames());
  managed.refused = parsed.ErrorText();
  managed.own = std::move(parsed.own);
  managed.created = parsed.created.value_or(absl::UnixEpoch());
  managed.last_active = parsed.last_active;
  if (parsed.autoscaler.has_value()) managed.autoscaler = *std::move(parsed.autoscaler);
  managed.spec_hash = absl::HashOf(managed.autoscaler.uid, managed.autoscaler.generation);
  for (const TriggerSpec& trigger : managed.own.triggers) {
    // An http trigger's metadata may come from annotations, which do not change the generation.
    if (trigger.type == kHttpTrigger) {
      managed.spec_hash = absl::HashOf(managed.spec_hash, trigger.metadata);
    }
  }
}

// The other annotations have been read. A mode that is too long is an unknown one as well after it
// has been cut.
void KeepMode(Autoscaler& autoscaler) {
  std::erase_if(autoscaler.annotations,
                [](const auto& annotation) { return annotation.first != kModeAnnotation; });
  for (auto& [name, value] : autoscaler.annotations) value = BriefText(value, kMaxModeBytes);
}

}  // namespace

ManagedPtr ReadManaged(AutoscalerKind kind, absl::string_view json) {
  const absl::StatusOr<Node> document = ParseJson(json);
  auto managed = std::make_shared<Managed>();
  if (!document.ok()) {
    const absl::StatusOr<kube::ObjectPtr> meta = kube::MetadataReader().Read(json);
    if (!meta.ok()) return nullptr;
    managed->key = {.kind = kind, .ns = (*meta)->ns, .name = (*meta)->name};
    managed->refused = std::string(document.status().message());
    return managed;
  }
  const Node* metadata = document->Find("metadata");
  if (metadata == nullptr) return nullptr;
  managed->key = {.kind = kind,
                  .ns = std::string(metadata->FindText("namespace")),
                  .name = std::string(metadata->FindText("name"))};
  if (managed->key.name.empty()) return nullptr;
  if (kind == AutoscalerKind::kHpa) {
    ReadHpa(*document, *managed);
  } else {
    ReadOwn(*document, *managed);
  }
  managed->written_hash = managed->spec_hash;
  managed->autoscaler.labels.clear();
  KeepMode(managed->autoscaler);
  return managed;
}

class AutoscalerStore::Feed : public kube::WatchHandler {
 public:
  Feed(AutoscalerStore& store, AutoscalerKind kind, const std::string& ns)
      : store_(store),
        kind_(kind),
        health_(kind == AutoscalerKind::kHpa ? "HorizontalPodAutoscalers" : "Autoscalers", ns,
                store.clock_),
        lines_(store.clock_, absl::Minutes(1), kNamespaceLines) {}

  void ListStarted() override { listed_.clear(); }
  void Listed(absl::string_view json) override {
    const ManagedPtr managed = Take(json);
    if (managed == nullptr) return;
    listed_.insert(managed->key);
    known_.insert(managed->key);  // also if this list breaks off, and the next has it no more
  }
  void ListEnded() override {
    for (const AutoscalerKey& key : known_) {
      if (!listed_.contains(key)) Forget(key);
    }
    known_ = std::move(listed_);
    listed_ = {};
    health_.Listed();
  }
  void Changed(kube::ChangeType type, absl::string_view json) override {
    if (type != kube::ChangeType::kDeleted) {
      if (const ManagedPtr managed = Take(json)) known_.insert(managed->key);
      return;
    }
    const ManagedPtr managed = ReadManaged(kind_, json);
    if (managed == nullptr) return;
    known_.erase(managed->key);
    Forget(managed->key);
  }
  void Flushed() override { health_.Flushed(); }
  void Opening() override { health_.Opening(); }
  void Opened() override { health_.Opened(); }
  void StatusChanged(const absl::Status& status) override {
    health_.StatusChanged(status);
    // The Autoscaler (CRD) need not be installed: then the list counts as empty.
    const bool missing = kind_ == AutoscalerKind::kOwn && absl::IsNotFound(status);
    if (missing) health_.Listed();
    // Another failure after that does not say that the kind, or any of its objects, is back.
    if (missing || status.ok()) definition_missing_ = missing;
  }

  const WatchHealth& health() const { return health_; }
  bool Tells(const AutoscalerKey& key) const { return key.kind == kind_ && health_.Covers(key.ns); }
  std::string Unusable() const { return definition_missing_ ? health_.Failure() : ""; }

 private:
  // How many of the lines about an object are logged.
  struct Said {
    size_t hash = 0;  // of all its lines
    size_t lines = 0;
  };

  void Forget(const AutoscalerKey& key) {
    said_.erase(key);
    store_.sink_.OnGone(key);
  }

  // Logs what is wrong with the object if that is new: each write of its status sends it again.
  // Whoever may change the object can make something else wrong each time, so the lines of a
  // namespace are limited. What there is no line left for is logged when the object is sent again.
  void Tell(const Managed& managed) {
    std::vector<std::string> wrong = managed.ignored;
    if (!managed.refused.empty()) wrong.push_back("is not decided: " + managed.refused);
    if (wrong.empty()) {
      said_.erase(managed.key);
      return;
    }
    const size_t hash = absl::HashOf(wrong);
    Said& said = said_[managed.key];
    if (said.hash != hash) said = {.hash = hash};
    for (; said.lines < wrong.size() && lines_.Due(managed.key.ns); ++said.lines) {
      spdlog::warn("scaler: {} {}", managed.key.ToString(),
                   BriefText(wrong[said.lines], kNamespaceLineBytes));
    }
  }

  ManagedPtr Take(absl::string_view json) {
    ManagedPtr managed = ReadManaged(kind_, json);
    if (managed == nullptr) {
      spdlog::error("scaler: an autoscaler without a name was sent");
      return nullptr;
    }
    Tell(*managed);
    if (kind_ == AutoscalerKind::kHpa) {
      const Autoscaler& hpa = managed->autoscaler;
      if (scaler::ShowsScaleToZero(hpa.status)) store_.shows_scale_to_zero_ = true;
      if (hpa.min_or_default() == 0) store_.has_zero_minimum_ = true;
    }
    store_.sink_.OnAutoscaler(managed);
    return managed;
  }

  AutoscalerStore& store_;
  const AutoscalerKind kind_;
  WatchHealth health_;
  std::atomic<bool> definition_missing_ = false;
  absl::flat_hash_set<AutoscalerKey> known_;
  absl::flat_hash_set<AutoscalerKey> listed_;
  absl::flat_hash_map<AutoscalerKey, Said> said_;
  LogLimiter lines_;  // by namespace
};

AutoscalerStore::AutoscalerStore(Clock& clock, AutoscalerSink& sink) : clock_(clock), sink_(sink) {}
AutoscalerStore::~AutoscalerStore() = default;

kube::WatchHandler& AutoscalerStore::AddFeed(AutoscalerKind kind, const std::string& ns) {
  feeds_.push_back(std::make_unique<Feed>(*this, kind, ns));
  return *feeds_.back();
}

const AutoscalerStore::Feed* AutoscalerStore::FeedOf(const AutoscalerKey& key) const {
  for (const auto& feed : feeds_) {
    if (feed->Tells(key)) return feed.get();
  }
  return nullptr;
}

std::string AutoscalerStore::Failure(const AutoscalerKey& key) const {
  const Feed* feed = FeedOf(key);
  return feed == nullptr ? "" : feed->health().Failure();
}

std::string AutoscalerStore::Unusable(const AutoscalerKey& key) const {
  const Feed* feed = FeedOf(key);
  return feed == nullptr ? "" : feed->Unusable();
}

absl::Status AutoscalerStore::Ready(absl::string_view ns) const {
  return FirstProblem(feeds_, &WatchHealth::Ready, ns);
}
absl::Status AutoscalerStore::Ready() const { return FirstProblem(feeds_, &WatchHealth::Ready); }
bool AutoscalerStore::Waits() const { return AnyWaits(feeds_); }

}  // namespace flyball::scaler
