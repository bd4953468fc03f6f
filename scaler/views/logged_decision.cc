#include "scaler/views/logged_decision.h"

#include <algorithm>
#include <concepts>
#include <limits>

#include "scaler/stores/packed.h"
#include "scaler/stores/state_store_codec.h"

namespace flyball::scaler {
namespace {

// ---- what is kept of each struct ----------------------------------------------------------------
//
// A list of fields is both written (`io` a FieldWriter, `it` const) and read (`io` a FieldReader).
// The bytes live in this process only: the order is free, and the reader trusts them.

template <typename T, typename Kept>
concept Is = std::same_as<std::remove_const_t<T>, Kept>;

void Fields(auto& io, Is<TriggerMetric> auto& it) { io(it.name, it.target_type, it.target_milli); }
void Fields(auto& io, Is<ScaleAnswer> auto& it) {
  io(it.failure, it.error, it.spec_replicas, it.status_replicas, it.selector);
}
void Fields(auto& io, Is<PodSample> auto& it) {
  io(it.row, it.value_milli, it.timestamp, it.window);
}
void Fields(auto& io, Is<Reading> auto& it) {
  io(it.error, it.timestamp, it.samples, it.amounts_milli);
}
void Fields(auto& io, Is<GroupCounts> auto& it) {
  io(it.ready, it.unready, it.missing, it.ignored, it.strangers);
}
void Fields(auto& io, Is<Proposal> auto& it) {
  io(it.valid, it.replicas, it.name, it.activity_only, it.error, it.reason, it.formula, it.verdict,
     it.items, it.groups, it.tolerance.down, it.tolerance.up, it.base_replicas, it.sum_milli,
     it.samples_counted, it.requests_milli, it.measured_milli, it.utilization, it.target_milli,
     it.target_utilization, it.ratio, it.multiplier, it.refilled, it.missing_milli,
     it.missing_percent, it.unready_as_zero, it.refilled_sum_milli, it.refilled_samples,
     it.refilled_requests_milli, it.refilled_ratio, it.discarded_replicas);
}
void Fields(auto& io, Is<Combination> auto& it) {
  io(it.invalid, it.total, it.winner, it.replicas, it.error, it.gave_up);
}
void Fields(auto& io, Is<Recommendation> auto& it) { io(it.replicas, it.time); }
void Fields(auto& io, Is<Stabilization> auto& it) {
  io(it.with_behavior, it.up_window, it.down_window, it.before, it.up_lowest, it.down_highest,
     it.after, it.by);
}
void Fields(auto& io, Is<PendingHold> auto& it) {
  io(it.loading, it.settling, it.before, it.after);
}
void Fields(auto& io, Is<PolicyLimit> auto& it) {
  io(it.policy, it.added, it.removed, it.period_start, it.limit);
}
void Fields(auto& io, Is<Limiting> auto& it) {
  io(it.by, it.up, it.down, it.before, it.rate_limit, it.disabled, it.policies, it.policy,
     it.lowest, it.highest, it.after);
}
void Fields(auto& io, Is<Condition> auto& it) { io(it.type, it.status, it.reason, it.message); }
void Fields(auto& io, Is<Event> auto& it) { io(it.warning, it.reason, it.message); }
void Fields(auto& io, Is<ScaleEvent> auto& it) { io(it.change, it.time); }
void Fields(auto& io, Is<ScalerState> auto& it) {
  io(it.recommendations, it.scale_ups, it.scale_downs);
}
void Fields(auto& io, Is<Decision> auto& it) {
  io(it.outcome, it.current, it.status_replicas, it.min_replicas, it.max_replicas,
     it.metrics_computed, it.proposals, it.combination, it.recommendation, it.pending,
     it.stabilization, it.limiting, it.rescale, it.desired, it.rescale_reason, it.rescaled,
     it.error);
}
void Fields(auto& io, Is<LoggedDecision> auto& it) {
  io(it.mode, it.newest_sample, it.took, it.scale_written, it.scale_error, it.activation,
     it.trigger_metrics, it.scale, it.pods_in_all, it.readings);
}

// ---- how a field is written and read ------------------------------------------------------------

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

class FieldWriter {
 public:
  // Times are written as their distance from `base`.
  FieldWriter(absl::Time base, std::string& bytes)
      : base_(absl::FromUnixMicros(absl::ToUnixMicros(base))), out_(bytes) {}

  void operator()(const auto&... fields) { (Put(fields), ...); }

 private:
  void Put(double value) { out_.Double(value); }
  void Put(absl::Duration value) {
    out_.Signed(absl::ToInt64Microseconds(absl::Ceil(value, absl::Microseconds(1))));
  }
  void Put(absl::Time value) { Put(value - base_); }
  void Put(const std::string& value) { out_.Text(value); }
  template <typename T>
  void Put(const std::optional<T>& value) {
    out_.Bool(value.has_value());
    if (value.has_value()) Put(*value);
  }
  template <typename T>
  void Put(const std::vector<T>& values) {
    out_.Unsigned(values.size());
    for (const T& value : values) Put(value);
  }
  template <typename T>
  void Put(const T& value) {
    if constexpr (std::is_class_v<T>) {
      Fields(*this, value);
    } else {
      out_.Signed(static_cast<int64_t>(value));
    }
  }

  const absl::Time base_;
  PackedWriter out_;
};

class FieldReader {
 public:
  FieldReader(absl::Time base, PackedReader in) : base_(base), in_(in) {}

  void operator()(auto&... fields) { (Get(fields), ...); }

 private:
  void Get(double& value) { value = in_.Double(); }
  void Get(absl::Duration& value) {
    const int64_t micros = in_.Signed();
    value = micros == kLeast  ? -absl::InfiniteDuration()
            : micros == kMost ? absl::InfiniteDuration()
                              : absl::Microseconds(micros);
  }
  void Get(absl::Time& value) {
    absl::Duration distance;
    Get(distance);
    value = base_ + distance;
  }
  void Get(std::string& value) { value = std::string(in_.Text()); }
  template <typename T>
  void Get(std::optional<T>& value) {
    if (in_.Bool()) Get(value.emplace());
  }
  template <typename T>
  void Get(std::vector<T>& values) {
    values.resize(in_.Count());
    for (T& value : values) Get(value);
  }
  template <typename T>
  void Get(T& value) {
    if constexpr (std::is_class_v<T>) {
      Fields(*this, value);
    } else {
      value = static_cast<T>(in_.Signed());
    }
  }

  const absl::Time base_;
  PackedReader in_;
};

// ---- what of a record is kept -------------------------------------------------------------------

template <typename T>
void KeepFirst(const std::vector<T>& all, size_t most, std::vector<T>& out) {
  out.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size())));
}

void KeepPods(const PodsAnswer* pods, size_t most, LoggedDecision& out) {
  const PodTable* table = pods == nullptr ? nullptr : pods->table;
  out.pods_in_all = table == nullptr ? 0 : table->size();
  out.pods.resize(std::min(out.pods_in_all, most));
  for (size_t row = 0; row < out.pods.size(); ++row) out.pods[row] = table->name(row);
}

void KeepReading(const Reading& reading, size_t most, size_t pods, Reading& out) {
  out.error = reading.error;
  out.timestamp = reading.timestamp;
  KeepFirst(reading.samples, most, out.samples);
  KeepFirst(reading.amounts_milli, most, out.amounts_milli);
  for (PodSample& sample : out.samples) {
    if (sample.row >= static_cast<int32_t>(pods)) sample.row = kStranger;
  }
}

// Keeps the metrics of the triggers, which come after those of the object's own spec. Only their
// names and targets are needed.
void KeepTriggerMetrics(const DecisionRecord& record, LoggedDecision& out) {
  out.trigger_metrics.clear();
  if (record.decided_on == nullptr) return;
  const std::vector<MetricSpec>& all = record.decided_on->metrics;
  for (size_t i = record.managed->autoscaler.metrics.size(); i < all.size(); ++i) {
    const MetricTarget& target = all[i].target;
    const bool total = target.value.has_value();
    const std::optional<TargetAmount>& amount = total ? target.value : target.average_value;
    out.trigger_metrics.push_back(
        {.name = all[i].metric.name,
         .target_type = total ? TargetType::kValue : TargetType::kAverageValue,
         .target_milli = amount.has_value() ? amount->milli : 0});
  }
}

// Copies all of the record but the decision.
void Keep(const DecisionRecord& record, size_t most, LoggedDecision& out) {
  out.mode = record.mode;
  out.newest_sample = record.newest_sample;
  out.took = record.took;
  out.scale_written = record.scale_written;
  out.scale_error = record.scale_error;
  out.activation = record.activation == nullptr ? "" : record.activation->reason;
  KeepTriggerMetrics(record, out);
  static const ScaleAnswer kNoScale;
  out.scale = record.scale == nullptr ? kNoScale : *record.scale;
  KeepPods(record.pods, most, out);
  out.readings.resize(record.readings.size());
  for (size_t i = 0; i < out.readings.size(); ++i) {
    KeepReading(record.readings[i], most, out.pods.size(), out.readings[i]);
  }
}

}  // namespace

void PackDecision(const DecisionRecord& record, size_t most_samples, PackedDecision& out) {
  thread_local LoggedDecision kept;  // keeps its buffers, so that nothing is allocated
  thread_local ScalerState state;
  const Decision& decision = *record.decision;
  Keep(record, most_samples, kept);
  CompactState(decision.state, state);
  for (std::string* bytes : {&out.values, &out.conclusion, &out.pods}) bytes->clear();
  PackedWriter(out.values).Signed(absl::ToUnixMicros(decision.now));
  FieldWriter(decision.now, out.values)(kept, decision, state);
  FieldWriter(decision.now, out.conclusion)(decision.status.conditions, decision.events);
  FieldWriter(decision.now, out.pods)(kept.pods);
}

LoggedDecision UnpackDecision(const std::string& values, const std::string& conclusion,
                              const std::string& pods) {
  LoggedDecision out;
  Decision& decision = out.decision;
  PackedReader in(values);
  decision.now = absl::FromUnixMicros(in.Signed());
  FieldReader(decision.now, in)(out, decision, decision.state);
  FieldReader(decision.now, PackedReader(conclusion))(decision.status.conditions, decision.events);
  FieldReader(decision.now, PackedReader(pods))(out.pods);
  return out;
}

}  // namespace flyball::scaler
