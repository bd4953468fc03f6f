#include "scaler/views/decision_log.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"

namespace flyball::scaler {
namespace {

// A hash of what makes a decision worth an entry of its own. It does not cover proposals, which
// change with every sample, but covers which of them failed.
uint64_t Conclusion(const DecisionRecord& record) {
  const Decision& decision = *record.decision;
  const bool held = decision.stabilization.has_value() && decision.stabilization->held();
  size_t hash = absl::HashOf(
      record.mode, decision.outcome, decision.current, decision.rescale, decision.count(), held,
      record.scale_written,
      decision.limiting.has_value() ? static_cast<int>(decision.limiting->by) : -1,
      record.scale_error, record.activation == nullptr ? "" : record.activation->reason);
  for (const Proposal& proposal : decision.proposals) {
    hash = absl::HashOf(hash, proposal.valid, proposal.reason);
  }
  for (const Condition& condition : decision.status.conditions) {
    hash = absl::HashOf(hash, condition.type, condition.status, condition.reason);
  }
  return hash;
}

// Returns shared bytes that equal `bytes`, stored once. The pool's key is a hash, so that the pool
// does not hold the bytes a second time.
std::shared_ptr<const std::string> Shared(const std::string& bytes, SharedPool<std::string>& pool) {
  const size_t hash = absl::HashOf(bytes);
  const absl::string_view key(reinterpret_cast<const char*>(&hash), sizeof(hash));
  std::shared_ptr<const std::string> stored = pool.Get(key, [&] { return bytes; });
  return *stored == bytes ? stored : std::make_shared<const std::string>(bytes);
}

// How many of the shared bytes are counted for each run that shares them.
size_t ShareOf(const std::shared_ptr<const std::string>& bytes) {
  return bytes->capacity() / static_cast<size_t>(bytes.use_count());
}

// When the reading was sampled whose proposal decided; InfinitePast: there is none, or its time is
// not known.
absl::Time DecidingSample(const DecisionRecord& record) {
  const std::optional<size_t> winner = record.decision->winner();
  if (!winner.has_value() || *winner >= record.readings.size()) return absl::InfinitePast();
  return record.readings[*winner].timestamp.value_or(absl::InfinitePast());
}

}  // namespace

size_t DecisionLog::Run::bytes() const {
  return sizeof(Run) + values.capacity() + ShareOf(conclusion) + ShareOf(pods);
}

Striped<DecisionLog::LoggedAutoscalers>::Locked DecisionLog::PartOf(
    const AutoscalerKey& key) const {
  return logged_.Lock(absl::HashOf(key));
}

// Whether the newest run was decided on this spec. If so, the run then keeps `managed` and releases
// the older version of the object.
bool DecisionLog::IsNewestSpec(const ManagedPtr& managed, std::vector<Run>& runs) {
  if (runs.empty()) return false;
  for (auto run = runs.rbegin(); run != runs.rend() && run->managed != managed; ++run) {
    if (run->managed->spec_hash != managed->spec_hash) break;
    run->managed = managed;
  }
  return runs.back().managed == managed;
}

void DecisionLog::Trim(std::vector<Run>& runs) const {
  size_t bytes = 0, keep = 0;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run, ++keep) {
    bytes += run->bytes();
    if (keep > 0 && (bytes > options_.bytes || keep == options_.entries)) break;
  }
  runs.erase(runs.begin(), runs.end() - static_cast<std::ptrdiff_t>(keep));
}

// Counts an unchanged decision in the newest run. False: the spec is another one, so it begins a
// new run.
bool DecisionLog::CountRepeat(const DecisionRecord& record) {
  const auto part = PartOf(record.managed->key);
  const auto found = part->by_key.find(record.managed->key);
  if (found == part->by_key.end()) return false;
  TakeRounds(found->second);
  std::vector<Run>& runs = found->second.runs;
  if (!IsNewestSpec(record.managed, runs)) return false;
  runs.back().last = record.time;
  runs.back().sampled = DecidingSample(record);
  ++runs.back().times;
  return true;
}

void DecisionLog::OnDecision(const DecisionRecord& record) {
  if (record.unchanged && CountRepeat(record)) return;
  const AutoscalerKey& key = record.managed->key;
  const uint64_t concluded = Conclusion(record);
  thread_local PackedDecision packed;
  PackDecision(record, options_.samples, packed);
  const auto part = PartOf(key);
  if (part->by_key.size() >= options_.autoscalers / logged_.size() && !part->by_key.contains(key)) {
    ++part->refused;
    return;
  }
  LoggedAutoscaler& logged = part->by_key[key];
  TakeRounds(logged);
  std::vector<Run>& runs = logged.runs;
  if (!IsNewestSpec(record.managed, runs) || runs.back().concluded != concluded) {
    if (runs.size() == runs.capacity()) {
      runs.reserve(std::min(options_.entries + 1, runs.size() + 4));
    }
    Run& run = runs.emplace_back();
    run.first = record.time;
    run.concluded = concluded;
    run.managed = record.managed;
  }
  Run& run = runs.back();
  run.last = record.time;
  run.sampled = DecidingSample(record);
  ++run.times;
  run.values = packed.values;
  if (run.values.capacity() > 2 * packed.values.size()) run.values.shrink_to_fit();
  run.conclusion = Shared(packed.conclusion, part->pool);
  run.pods = Shared(packed.pods, part->pool);
  Trim(runs);
}

void DecisionLog::OnForgotten(const AutoscalerKey& key) { PartOf(key)->by_key.erase(key); }

void DecisionLog::OnSteady(const AutoscalerKey& key, int32_t /*recommendation*/,
                           const SteadinessPtr& steadiness) {
  const auto part = PartOf(key);
  const auto found = part->by_key.find(key);
  if (found != part->by_key.end()) found->second.steadiness = steadiness;
}

// Adds the rounds of the steady autoscaler to the newest run.
void DecisionLog::CountRounds(const SteadinessPtr& steadiness, Run& newest) {
  if (steadiness == nullptr || steadiness->rounds() == 0) return;
  newest.times += steadiness->rounds();
  newest.last = steadiness->last();
  newest.sampled = steadiness->sampled();
}

// Takes over the final count of rounds when an autoscaler is no longer steady.
void DecisionLog::TakeRounds(LoggedAutoscaler& logged) {
  const SteadinessPtr over = std::exchange(logged.steadiness, nullptr);
  if (over != nullptr) CountRounds(over, logged.runs.back());
}

LoggedDecision DecisionLog::Unpacked(const Run& run) {
  LoggedDecision out = UnpackDecision(run.values, *run.conclusion, *run.pods);
  out.first = run.first;
  out.last = run.last;
  out.sampled = run.sampled;
  out.times = run.times;
  out.managed = run.managed;
  return out;
}

std::vector<LoggedDecision> DecisionLog::Last(const AutoscalerKey& key) const {
  std::vector<Run> runs;
  {
    const auto part = PartOf(key);
    const auto found = part->by_key.find(key);
    if (found == part->by_key.end()) return {};
    runs = found->second.runs;
    CountRounds(found->second.steadiness, runs.back());
  }
  std::vector<LoggedDecision> out;
  std::transform(runs.rbegin(), runs.rend(), std::back_inserter(out), Unpacked);
  return out;
}

void DecisionLog::ForEachNewest(
    absl::FunctionRef<void(const AutoscalerKey&, const LoggedDecision&)> visit) const {
  logged_.ForEach([&](const LoggedAutoscalers& part) {
    for (const auto& [key, logged] : part.by_key) {
      Run newest = logged.runs.back();
      CountRounds(logged.steadiness, newest);
      visit(key, Unpacked(newest));
    }
  });
}

std::vector<DecisionSummary> DecisionLog::List(const std::string& ns) const {
  std::vector<DecisionSummary> out;
  ForEachNewest([&](const AutoscalerKey& key, const LoggedDecision& last) {
    if (!ns.empty() && key.ns != ns) return;
    const Decision& decision = last.decision;
    out.push_back({.key = key,
                   .mode = last.mode,
                   .outcome = decision.outcome,
                   .current = decision.current,
                   .desired = decision.count(),
                   .first = last.first,
                   .last = last.last,
                   .times = last.times,
                   .error = decision.error});
  });
  std::sort(out.begin(), out.end(),
            [](const DecisionSummary& a, const DecisionSummary& b) { return a.key < b.key; });
  return out;
}

DecisionLog::Stats DecisionLog::stats() const {
  Stats stats;
  logged_.ForEach([&](const LoggedAutoscalers& part) {
    stats.autoscalers += part.by_key.size();
    stats.refused += part.refused;
    for (const auto& [key, logged] : part.by_key) {
      stats.bytes += sizeof(AutoscalerKey) + sizeof(LoggedAutoscaler) +
                     (logged.runs.capacity() - logged.runs.size()) * sizeof(Run);
      for (const Run& run : logged.runs) stats.bytes += run.bytes();
      stats.entries += logged.runs.size();
    }
  });
  return stats;
}

}  // namespace flyball::scaler
