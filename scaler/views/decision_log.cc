#include "scaler/views/decision_log.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/hash/hash.h"

namespace flyball::scaler {
namespace {

// What makes two decisions worth telling apart. Proposals move with every sample and are not in it;
// which of them failed is.
uint64_t Conclusion(const DecisionRecord& record) {
  const Decision& decision = *record.decision;
  const bool held = decision.stabilization.has_value() &&
                    decision.stabilization->after != decision.stabilization->before;
  size_t hash = absl::HashOf(
      record.mode, decision.outcome, decision.current, decision.rescale,
      decision.rescale ? decision.desired : decision.current, held, record.scale_written,
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

bool SameTarget(const MetricTarget& a, const MetricTarget& b) {
  const auto same = [](const std::optional<TargetAmount>& x, const std::optional<TargetAmount>& y) {
    return x.has_value() == y.has_value() && (!x.has_value() || x->milli == y->milli);
  };
  return a.type == b.type && a.average_utilization == b.average_utilization &&
         same(a.value, b.value) && same(a.average_value, b.average_value);
}

bool SameMetric(const MetricSpec& a, const MetricSpec& b) {
  return a.type_text == b.type_text && a.resource == b.resource && a.container == b.container &&
         a.metric == b.metric && a.described_object == b.described_object &&
         SameTarget(a.target, b.target);
}

bool SameRules(const ScalingRules& a, const ScalingRules& b) {
  const auto same = [](const ScalingPolicy& x, const ScalingPolicy& y) {
    return std::tie(x.type, x.value, x.period_seconds) ==
           std::tie(y.type, y.value, y.period_seconds);
  };
  return a.stabilization_window_seconds == b.stabilization_window_seconds &&
         a.select_policy == b.select_policy && a.tolerance.has_value() == b.tolerance.has_value() &&
         (!a.tolerance.has_value() || a.tolerance->ratio == b.tolerance->ratio) &&
         std::equal(a.policies.begin(), a.policies.end(), b.policies.begin(), b.policies.end(),
                    same);
}

}  // namespace

bool SameSpec(const Autoscaler& a, const Autoscaler& b) {
  return a.uid == b.uid && a.scale_target == b.scale_target && a.min_replicas == b.min_replicas &&
         a.max_replicas == b.max_replicas &&
         std::equal(a.metrics.begin(), a.metrics.end(), b.metrics.begin(), b.metrics.end(),
                    SameMetric) &&
         a.behavior.has_value() == b.behavior.has_value() &&
         (!a.behavior.has_value() || (SameRules(a.behavior->scale_up, b.behavior->scale_up) &&
                                      SameRules(a.behavior->scale_down, b.behavior->scale_down)));
}

DecisionLog::Part& DecisionLog::PartOf(const AutoscalerKey& key) const {
  return parts_[absl::HashOf(key) % parts_.size()];
}

// The spec that is decided on now, as the object of its newest version: older ones are let go.
uint32_t DecisionLog::NumberOfSpec(const ManagedPtr& managed, Ring& ring) {
  if (!ring.specs.empty()) {
    auto& [number, last] = ring.specs.back();
    if (last == managed) return number;
    if (SameSpec(last->autoscaler, managed->autoscaler)) {
      last = managed;
      return number;
    }
  }
  const uint32_t number = ring.specs.empty() ? 0 : ring.specs.back().first + 1;
  ring.specs.emplace_back(number, managed);
  return number;
}

void DecisionLog::Trim(Ring& ring) const {
  size_t bytes = 0, keep = 0;
  for (auto entry = ring.entries.rbegin(); entry != ring.entries.rend(); ++entry, ++keep) {
    bytes += entry->bytes.capacity() + sizeof(EncodedDecisions);
    if (keep > 0 && (bytes > options_.bytes || keep == options_.entries)) break;
  }
  ring.entries.erase(ring.entries.begin(), ring.entries.end() - static_cast<std::ptrdiff_t>(keep));
  const uint32_t oldest = ring.entries.front().spec;
  std::erase_if(ring.specs, [oldest](const auto& spec) { return spec.first < oldest; });
}

void DecisionLog::OnDecision(const DecisionRecord& record) {
  if (record.decision == nullptr) return;
  const AutoscalerKey& key = record.managed->key;
  Part& part = PartOf(key);
  // One that is unchanged concludes what the last one did: it need not be worked out.
  uint64_t conclusion = record.unchanged ? 0 : Conclusion(record);
  thread_local std::string bytes;
  if (!record.unchanged) PackDecision(record, options_.samples, bytes);
  absl::MutexLock lock(&part.mutex);
  auto found = part.rings.find(key);
  if (found == part.rings.end()) {
    if (part.rings.size() >= options_.autoscalers / parts_.size()) {
      ++part.refused;
      return;
    }
    found = part.rings.try_emplace(key).first;
  }
  Ring& ring = found->second;
  const uint32_t spec = NumberOfSpec(record.managed, ring);
  EncodedDecisions* last = ring.entries.empty() ? nullptr : &ring.entries.back();
  const bool goes_on =
      last != nullptr && last->spec == spec && (record.unchanged || last->conclusion == conclusion);
  if (goes_on) {
    last->last = record.time;
    ++last->times;
    if (record.unchanged) return;
  } else {
    // An unchanged decision is not packed; here it is needed after all.
    if (record.unchanged) {
      conclusion = Conclusion(record);
      PackDecision(record, options_.samples, bytes);
    }
    if (ring.entries.size() == ring.entries.capacity()) {
      ring.entries.reserve(std::min(options_.entries + 1, ring.entries.size() + 4));
    }
    ring.entries.push_back({.first = record.time,
                            .last = record.time,
                            .times = 1,
                            .conclusion = conclusion,
                            .spec = spec,
                            .bytes = ""});
    last = &ring.entries.back();
  }
  last->bytes = bytes;
  if (last->bytes.capacity() > 2 * bytes.size()) last->bytes.shrink_to_fit();
  Trim(ring);
}

void DecisionLog::OnForgotten(const AutoscalerKey& key) {
  Part& part = PartOf(key);
  absl::MutexLock lock(&part.mutex);
  part.rings.erase(key);
}

void DecisionLog::OnRest(const AutoscalerKey& key, int32_t /*recommendation*/,
                         const RestShare& share) {
  Part& part = PartOf(key);
  absl::MutexLock lock(&part.mutex);
  const auto found = part.rings.find(key);
  if (found != part.rings.end()) found->second.rest = share;
}

void DecisionLog::OnRestOver(const AutoscalerKey& key) {
  Part& part = PartOf(key);
  absl::MutexLock lock(&part.mutex);
  const auto found = part.rings.find(key);
  if (found == part.rings.end()) return;
  CountRest(found->second);
  found->second.rest = RestShare();
}

// Adds what was decided at rest to the newest entry.
void DecisionLog::CountRest(Ring& ring) {
  const uint64_t rounds = ring.rest.rounds();
  if (rounds == 0 || ring.entries.empty()) return;
  ring.entries.back().times += rounds;
  ring.entries.back().last = ring.rest.rest->last();
  ring.rest.from += rounds;
}

std::vector<LoggedDecision> DecisionLog::Last(const AutoscalerKey& key) const {
  Ring ring;
  {
    const Part& part = PartOf(key);
    absl::MutexLock lock(&part.mutex);
    const auto found = part.rings.find(key);
    if (found == part.rings.end()) return {};
    ring = found->second;
  }
  CountRest(ring);
  std::vector<LoggedDecision> out;
  for (auto entry = ring.entries.rbegin(); entry != ring.entries.rend(); ++entry) {
    LoggedDecision& decision = out.emplace_back();
    decision.first = entry->first;
    decision.last = entry->last;
    decision.times = entry->times;
    for (const auto& [number, managed] : ring.specs) {
      if (number == entry->spec) decision.managed = managed;
    }
    if (!UnpackDecision(entry->bytes, decision)) out.pop_back();
  }
  return out;
}

std::vector<DecisionSummary> DecisionLog::List(const std::string& ns) const {
  std::vector<DecisionSummary> out;
  for (const Part& part : parts_) {
    absl::MutexLock lock(&part.mutex);
    for (const auto& [key, ring] : part.rings) {
      if (!ns.empty() && key.ns != ns) continue;
      const EncodedDecisions& entry = ring.entries.back();
      LoggedDecision last;
      if (!UnpackDecision(entry.bytes, last)) continue;
      out.push_back(
          {.key = key,
           .mode = last.mode,
           .outcome = last.decision.outcome,
           .current = last.decision.current,
           .desired = last.decision.rescale ? last.decision.desired : last.decision.current,
           .first = entry.first,
           .last = ring.rest.rounds() > 0 ? ring.rest.rest->last() : entry.last,
           .times = entry.times + ring.rest.rounds(),
           .error = last.decision.error});
    }
  }
  std::sort(out.begin(), out.end(),
            [](const DecisionSummary& a, const DecisionSummary& b) { return a.key < b.key; });
  return out;
}

DecisionLog::Stats DecisionLog::stats() const {
  Stats stats;
  for (const Part& part : parts_) {
    absl::MutexLock lock(&part.mutex);
    stats.autoscalers += part.rings.size();
    stats.refused += part.refused;
    for (const auto& [key, ring] : part.rings) {
      stats.bytes +=
          sizeof(AutoscalerKey) + sizeof(Ring) + ring.entries.capacity() * sizeof(EncodedDecisions);
      for (const EncodedDecisions& entry : ring.entries) {
        stats.bytes += entry.bytes.capacity();
        ++stats.entries;
      }
    }
  }
  return stats;
}

}  // namespace flyball::scaler
