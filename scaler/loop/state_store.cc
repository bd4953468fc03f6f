#include "scaler/loop/state_store.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/go_arithmetic.h"
#include "base/status_macros.h"
#include "base/steady_wait.h"
#include "scaler/loop/shards.h"
#include "scaler/loop/state_upkeep.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kEpochAnnotation[] = "flyball.dev/lease-transitions";
constexpr char kDataKey[] = "state";
constexpr absl::Duration kLongestPeriod = absl::Minutes(30);  // of a policy
// Times alone that moved on are not worth a write until they moved this far.
constexpr absl::Duration kTimesWorthAWrite = absl::Minutes(1);

// A stored ConfigMap, as far as we are interested.
struct Stored {
  std::string resource_version;
  int64_t epoch = -1;
  std::string bytes;
};

absl::StatusOr<Stored> ParseStored(const std::string& json) {
  const Json document = Json::parse(json, nullptr, false);
  Stored out;
  if (!document.is_object() || !document.contains("metadata") ||
      !document["metadata"].is_object()) {
    return absl::DataLossError("the answer is no ConfigMap");
  }
  const Json& metadata = document["metadata"];
  if (metadata.contains("resourceVersion") && metadata["resourceVersion"].is_string()) {
    out.resource_version = metadata["resourceVersion"];
  }
  const Json annotations = metadata.value("annotations", Json::object());
  if (annotations.is_object() && annotations.contains(kEpochAnnotation) &&
      annotations[kEpochAnnotation].is_string()) {
    const std::string text = annotations[kEpochAnnotation];
    if (!absl::SimpleAtoi(text, &out.epoch)) out.epoch = -1;
  }
  const Json data = document.value("binaryData", Json::object());
  if (data.is_object() && data.contains(kDataKey) && data[kDataKey].is_string()) {
    const std::string text = data[kDataKey];
    if (!absl::Base64Unescape(text, &out.bytes)) return absl::DataLossError("not base64");
  }
  return out;
}

// Whether the values, not the times, are the same.
bool SameValues(const ScalerState& a, const ScalerState& b) {
  const auto same_replicas = [](const Recommendation& x, const Recommendation& y) {
    return x.replicas == y.replicas;
  };
  return std::equal(a.recommendations.begin(), a.recommendations.end(), b.recommendations.begin(),
                    b.recommendations.end(), same_replicas) &&
         a.scale_ups == b.scale_ups && a.scale_downs == b.scale_downs;
}

absl::Time Newest(const ScalerState& state) {
  return state.recommendations.empty() ? absl::InfinitePast() : state.recommendations.back().time;
}

template <typename Item>
bool AnyAhead(const std::vector<Item>& items, absl::Time limit) {
  return std::any_of(items.begin(), items.end(),
                     [limit](const Item& item) { return item.time > limit; });
}

// Leaves out what is older than `oldest`, and moves to `now` what lies ahead of it.
template <typename Item>
void Settle(absl::Time oldest, absl::Time now, std::vector<Item>& items) {
  std::erase_if(items, [oldest](const Item& item) { return item.time < oldest; });
  for (Item& item : items) item.time = std::min(item.time, now);
}

}  // namespace

std::optional<ScalerState> BringForward(const KeptAutoscaler& kept, bool complete, int32_t current,
                                        absl::Time now, const StateStoreOptions& options) {
  const absl::Time limit = now + options.clock_skew;
  ScalerState state = kept.state;
  if (AnyAhead(state.recommendations, limit) || AnyAhead(state.scale_ups, limit) ||
      AnyAhead(state.scale_downs, limit)) {
    return std::nullopt;
  }
  Settle(now - options.longest_window, now, state.recommendations);
  Settle(now - kLongestPeriod, now, state.scale_ups);
  Settle(now - kLongestPeriod, now, state.scale_downs);
  if (current > kept.replicas) {
    state.scale_ups.push_back({.change = WrapSub32(current, kept.replicas), .time = now});
  } else if (current < kept.replicas) {
    state.scale_downs.push_back({.change = WrapSub32(kept.replicas, current), .time = now});
  }
  // As RecordInitialRecommendation stamps it: older than the recommendation that follows.
  if (!complete || current != kept.replicas || state.recommendations.empty()) {
    state.recommendations.push_back({.replicas = current, .time = now - absl::Microseconds(1)});
  }
  return state;
}

class StateStore::Impl {
 public:
  Impl(StateStoreOptions options, kube::ApiClient& client, Clock& clock)
      : options_(std::move(options)),
        client_(client),
        clock_(clock),
        shards_(static_cast<size_t>(options_.shards)) {}

  ~Impl() { Stop(); }

  void Start(std::function<bool(int)> may_write) {
    {
      absl::MutexLock lock(&mutex_);
      may_write_ = std::move(may_write);
    }
    thread_ = std::thread([this] {
      // Looked at more often than written, so that a shard taken in between is not late.
      const absl::Duration step = std::max(options_.interval / 8, absl::Milliseconds(10));
      for (;;) {
        {
          absl::MutexLock lock(&mutex_);
          if (AwaitFor(mutex_, absl::Condition(&stopping_), step)) return;
        }
        WriteWhatChanged();
      }
    });
  }

  void Stop() {
    {
      absl::MutexLock lock(&mutex_);
      stopping_ = true;
    }
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Load(int index, int64_t epoch) {
    absl::StatusOr<std::string> json = client_.Get(Path(index));
    if (!json.ok() && !absl::IsNotFound(json.status())) return json.status();
    Stored stored;
    KeptShard kept;
    if (json.ok()) {
      const absl::Status status = ReadKept(*json, stored, kept);
      if (!status.ok()) {
        spdlog::warn("ConfigMap {}/{}: what was kept of the scaler is ignored: {}", options_.ns,
                     Name(index), std::string(status.message()));
        kept = KeptShard();
      }
    }
    absl::MutexLock lock(&mutex_);
    Shard& shard = shards_[static_cast<size_t>(index)];
    shard = Shard();
    shard.loaded = true;
    // Also when the Lease was deleted and counts anew.
    shard.epoch = std::max(epoch, stored.epoch + 1);
    shard.resource_version = stored.resource_version;
    // An owner between that one and us would have decided without a trace.
    shard.complete = kept.complete && stored.epoch + 1 == epoch;
    shard.written_at = clock_.MonotonicNow();
    for (KeptAutoscaler& item : kept.autoscalers) {
      Entry& entry = shard.entries[item.key];
      entry.untaken = true;
      entry.replicas = item.replicas;
      entry.state = std::move(item.state);
    }
    return absl::OkStatus();
  }

  void Save(int index) { Write(index, true); }

  void Drop(int index) {
    absl::MutexLock lock(&mutex_);
    shards_[static_cast<size_t>(index)] = Shard();
  }

  std::optional<ScalerState> Take(const AutoscalerKey& key, int32_t current, absl::Time now) {
    KeptAutoscaler kept;
    bool complete = false;
    {
      absl::MutexLock lock(&mutex_);
      Shard& shard = ShardFor(key);
      const auto found = shard.entries.find(key);
      if (found == shard.entries.end() || !found->second.untaken) return std::nullopt;
      found->second.untaken = false;
      kept = {.key = key, .replicas = found->second.replicas, .state = found->second.state};
      complete = shard.complete;
    }
    return BringForward(kept, complete, current, now, options_);
  }

  void OnDecision(const DecisionRecord& record) {
    // In mode shadow nothing is written anywhere.
    if (record.mode == Mode::kShadow || record.decision == nullptr ||
        record.decision->outcome == Outcome::kScaleUnknown) {
      return;
    }
    const Decision& decision = *record.decision;
    thread_local ScalerState compact;
    CompactState(decision.state, compact);
    absl::MutexLock lock(&mutex_);
    Shard& shard = ShardFor(record.managed->key);
    if (!shard.loaded) return;
    Entry& entry = shard.entries[record.managed->key];
    const int32_t replicas = record.scale_written ? decision.desired : decision.current;
    if (entry.untaken || entry.replicas != replicas || !SameValues(entry.state, compact) ||
        Newest(compact) - entry.written_newest >= kTimesWorthAWrite) {
      shard.changed = true;
    }
    entry.untaken = false;
    entry.rest = RestShare();
    entry.replicas = replicas;
    std::swap(entry.state, compact);
  }

  void OnRest(const AutoscalerKey& key, int32_t recommendation, const RestShare& share) {
    absl::MutexLock lock(&mutex_);
    Shard& shard = ShardFor(key);
    const auto found = shard.entries.find(key);
    if (found == shard.entries.end()) return;
    TakeRest(found->second);
    found->second.rest = share;
    found->second.recommendation = recommendation;
  }

  void OnForgotten(const AutoscalerKey& key) {
    absl::MutexLock lock(&mutex_);
    const int index = ShardOf(key, options_.shards);
    Shard& shard = shards_[static_cast<size_t>(index)];
    // What is only not ours any more is still to be saved; Drop ends it.
    if (may_write_ && !may_write_(index)) return;
    if (shard.entries.erase(key) > 0) shard.changed = true;
  }

  void WriteWhatChanged() {
    for (int index = 0; index < options_.shards; ++index) Write(index, false);
  }

  Stats stats() const {
    absl::MutexLock lock(&mutex_);
    return stats_;
  }

 private:
  struct Entry {
    bool untaken = false;  // of an earlier owner, and not yet asked for
    int32_t replicas = 0;
    ScalerState state;  // compact
    absl::Time written_newest = absl::InfinitePast();
    RestShare rest;              // each of its rounds has renewed...
    int32_t recommendation = 0;  // ...the one for so many replicas
  };

  struct Shard {
    bool loaded = false;
    bool writing = false;  // one write at a time
    bool changed = false;
    bool complete = false;  // what was read
    bool said_dropped = false;
    int64_t epoch = 0;
    std::string resource_version;  // "" when there is no ConfigMap
    MonotonicTime written_at = absl::ZeroDuration();
    absl::flat_hash_map<AutoscalerKey, Entry> entries;
  };

  std::string Name(int index) const { return absl::StrCat(options_.prefix, "-", index); }
  std::string Path(int index) const {
    return kube::ObjectPath("", "v1", options_.ns, "configmaps", Name(index));
  }
  std::string FolderPath() const {
    return kube::ObjectPath("", "v1", options_.ns, "configmaps", "");
  }

  Shard& ShardFor(const AutoscalerKey& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return shards_[static_cast<size_t>(ShardOf(key, options_.shards))];
  }

  static void TakeRest(Entry& entry) {
    if (entry.rest.rounds() == 0) return;
    RenewRecommendation(entry.recommendation, entry.rest.rest->last(), entry.state);
  }

  // Whether what rests alone makes a write worth while.
  static bool RestedLong(Shard& shard) {
    return std::any_of(shard.entries.begin(), shard.entries.end(), [](const auto& item) {
      const Entry& entry = item.second;
      return entry.rest.rounds() > 0 &&
             entry.rest.rest->last() - entry.written_newest >= kTimesWorthAWrite;
    });
  }

  static absl::Status ReadKept(const std::string& json, Stored& stored, KeptShard& kept) {
    ASSIGN_OR_RETURN(stored, ParseStored(json));
    // Made for us to write into, as the Helm chart does.
    if (stored.bytes.empty() && stored.epoch < 0) return absl::OkStatus();
    if (stored.bytes.empty()) return absl::DataLossError("it is empty");
    ASSIGN_OR_RETURN(kept, DecodeShard(stored.bytes));
    return absl::OkStatus();
  }

  // The content of a shard, those first that were decided last.
  KeptShard Collect(Shard& shard) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    KeptShard out;
    out.saved_at = clock_.WallNow();
    const absl::Time oldest = out.saved_at - options_.longest_window;
    for (auto& [key, entry] : shard.entries) TakeRest(entry);
    absl::erase_if(shard.entries,
                   [oldest](const auto& item) { return Newest(item.second.state) < oldest; });
    for (auto& [key, entry] : shard.entries) {
      entry.written_newest = Newest(entry.state);
      out.autoscalers.push_back({.key = key, .replicas = entry.replicas, .state = entry.state});
    }
    std::sort(out.autoscalers.begin(), out.autoscalers.end(),
              [](const KeptAutoscaler& a, const KeptAutoscaler& b) {
                const absl::Time newest_a = Newest(a.state), newest_b = Newest(b.state);
                return newest_a != newest_b ? newest_a > newest_b : a.key < b.key;
              });
    return out;
  }

  // At a hand-over whatever it is, else when it changed, is due and the fence allows it.
  void Write(int index, bool hand_over) {
    KeptShard kept;
    int64_t epoch = 0;
    std::string resource_version;
    {
      absl::MutexLock lock(&mutex_);
      Shard& shard = shards_[static_cast<size_t>(index)];
      mutex_.Await(absl::Condition(
          +[](Shard* s) { return !s->writing; }, &shard));
      if (!shard.loaded) return;
      const bool due = clock_.MonotonicNow() - shard.written_at >= options_.interval;
      if (!hand_over && (!due || (!shard.changed && !RestedLong(shard)))) return;
      if (shard.entries.empty() && shard.resource_version.empty()) return;
      // At a hand-over the Lease is still ours, but writes to targets are not allowed any more.
      if (!hand_over && may_write_ && !may_write_(index)) return;
      shard.writing = true;
      shard.changed = false;
      shard.written_at = clock_.MonotonicNow();
      kept = Collect(shard);
      epoch = shard.epoch;
      resource_version = shard.resource_version;
    }
    kept.complete = hand_over;
    const EncodedShard encoded = EncodeShard(kept, options_.most_bytes);
    Finish(index, epoch, encoded.dropped, Put(index, epoch, encoded.bytes, resource_version));
  }

  void Finish(int index, int64_t epoch, size_t dropped,
              const absl::StatusOr<std::string>& resource_version) {
    absl::MutexLock lock(&mutex_);
    Shard& shard = shards_[static_cast<size_t>(index)];
    shard.writing = false;
    stats_.dropped += dropped;
    ++(resource_version.ok() ? stats_.written : stats_.failed);
    if (shard.loaded && shard.epoch == epoch) {
      if (resource_version.ok()) shard.resource_version = *resource_version;
      if (!resource_version.ok()) shard.changed = true;
      if (dropped > 0 && !shard.said_dropped) {
        spdlog::warn(
            "ConfigMap {}/{}: no room for {} of {} autoscalers: after a restart they "
            "begin anew; use more --scaler-shards",
            options_.ns, Name(index), dropped, shard.entries.size());
      }
      shard.said_dropped = dropped > 0;
    }
    if (!resource_version.ok()) {
      spdlog::warn("ConfigMap {}/{}: what the scaler remembers cannot be written: {}", options_.ns,
                   Name(index), std::string(resource_version.status().message()));
    }
  }

  std::string Document(int index, int64_t epoch, const std::string& bytes,
                       const std::string& resource_version) const {
    Json document = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}};
    Json& metadata = document["metadata"];
    metadata = {{"name", Name(index)}, {"namespace", options_.ns}};
    if (!resource_version.empty()) metadata["resourceVersion"] = resource_version;
    metadata["labels"] = {{"app.kubernetes.io/managed-by", "flyball"}};
    metadata["annotations"] = {{kEpochAnnotation, absl::StrCat(epoch)}};
    document["binaryData"] = {{kDataKey, absl::Base64Escape(bytes)}};
    return document.dump();
  }

  // Writes under `resource_version`; after a conflict once more, unless a later owner was faster.
  // The answer is the new resourceVersion.
  absl::StatusOr<std::string> Put(int index, int64_t epoch, const std::string& bytes,
                                  std::string resource_version) {
    for (int tries = 0;; ++tries) {
      const std::string document = Document(index, epoch, bytes, resource_version);
      const absl::StatusOr<std::string> answer = resource_version.empty()
                                                     ? client_.Create(FolderPath(), document)
                                                     : client_.Update(Path(index), document);
      if (answer.ok()) {
        ASSIGN_OR_RETURN(const Stored stored, ParseStored(*answer));
        return stored.resource_version;
      }
      const absl::Status& status = answer.status();
      const bool changed =
          absl::IsAborted(status) || absl::IsAlreadyExists(status) || absl::IsNotFound(status);
      if (!changed || tries > 0) return status;
      const absl::StatusOr<std::string> current = client_.Get(Path(index));
      if (absl::IsNotFound(current.status())) {
        resource_version.clear();
        continue;
      }
      RETURN_IF_ERROR(current.status());
      const absl::StatusOr<Stored> stored = ParseStored(*current);
      if (stored.ok() && stored->epoch > epoch) {
        return absl::AbortedError("a later owner of the shard has written it already");
      }
      RETURN_IF_ERROR(stored.status());
      resource_version = stored->resource_version;
    }
  }

  const StateStoreOptions options_;
  kube::ApiClient& client_;
  Clock& clock_;
  mutable absl::Mutex mutex_;
  std::vector<Shard> shards_ ABSL_GUARDED_BY(mutex_);
  Stats stats_ ABSL_GUARDED_BY(mutex_);
  std::function<bool(int)> may_write_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

StateStore::StateStore(StateStoreOptions options, kube::ApiClient& client, Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(options), client, clock)) {}
StateStore::~StateStore() = default;

void StateStore::Start(std::function<bool(int shard)> may_write) {
  impl_->Start(std::move(may_write));
}
void StateStore::Stop() { impl_->Stop(); }
absl::Status StateStore::Load(int shard, int64_t epoch) { return impl_->Load(shard, epoch); }
void StateStore::Save(int shard) { impl_->Save(shard); }
void StateStore::Drop(int shard) { impl_->Drop(shard); }
std::optional<ScalerState> StateStore::Take(const AutoscalerKey& key, int32_t current,
                                            absl::Time now) {
  return impl_->Take(key, current, now);
}
void StateStore::OnDecision(const DecisionRecord& record) { impl_->OnDecision(record); }
void StateStore::OnForgotten(const AutoscalerKey& key) { impl_->OnForgotten(key); }
void StateStore::OnRest(const AutoscalerKey& key, int32_t recommendation, const RestShare& share) {
  impl_->OnRest(key, recommendation, share);
}
void StateStore::OnRestOver(const AutoscalerKey& key) { impl_->OnRest(key, 0, {}); }
void StateStore::WriteWhatChanged() { impl_->WriteWhatChanged(); }
StateStore::Stats StateStore::stats() const { return impl_->stats(); }

}  // namespace flyball::scaler
