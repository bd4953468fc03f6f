#include "scaler/views/decision_line.h"

#include <nlohmann/json.hpp>

#include "absl/hash/hash.h"
#include "absl/time/time.h"
#include "scaler/views/limiting_reason.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;

const std::string& ErrorOf(const DecisionRecord& record) {
  return record.scale_error.empty() ? record.decision->error : record.scale_error;
}

void AddCounts(const DecisionRecord& record, Json& line) {
  const Decision& decision = *record.decision;
  if (decision.outcome == Outcome::kScaleUnknown) return;
  line["current"] = decision.current;
  line["desired"] = decision.count();
  line["min"] = record.managed->autoscaler.min_or_default();
  line["max"] = record.managed->autoscaler.max_replicas;
  if (decision.outcome == Outcome::kDecided) line["unbounded"] = decision.recommendation;
}

void AddMetric(const Decision& decision, Json& line) {
  if (decision.outcome != Outcome::kDecided || !decision.winner().has_value()) return;
  const Proposal& winner = decision.proposals[*decision.winner()];
  line["metric"] = winner.name;
  line["proposal"] = winner.replicas;
  if (winner.age.has_value()) line["readingAgeSeconds"] = absl::ToDoubleSeconds(*winner.age);
}

}  // namespace

std::string DecisionLine(const DecisionRecord& record) {
  const Decision& decision = *record.decision;
  const AutoscalerKey& key = record.managed->key;
  Json line = {
      {"time", absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", record.time, absl::UTCTimeZone())},
      {"kind", key.kind == AutoscalerKind::kHpa ? "HorizontalPodAutoscaler" : "Autoscaler"},
      {"namespace", key.ns},
      {"name", key.name},
      {"mode", ModeName(record.mode)},
      {"outcome", kOutcomeNames[static_cast<size_t>(decision.outcome)]}};
  AddCounts(record, line);
  const absl::string_view reason = LimitingReason(decision);
  line["reason"] = std::string(reason);
  AddMetric(decision, line);
  line["written"] = record.scale_written;
  if (!ErrorOf(record).empty()) line["error"] = ErrorOf(record);
  if (!record.managed->scheduled.empty()) line["schedules"] = record.managed->scheduled;
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

uint64_t DecisionNews(const DecisionRecord& record) {
  const Decision& decision = *record.decision;
  return absl::HashOf(record.mode, decision.outcome, decision.current, decision.count(),
                      record.scale_written, LimitingReason(decision), ErrorOf(record));
}

}  // namespace flyball::scaler
