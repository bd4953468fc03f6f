#include "scaler/views/decision_log_codec.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "base/go/arithmetic.h"
#include "scaler/stores/packed.h"
#include "scaler/stores/state_store_codec.h"

namespace flyball::scaler {
namespace {

constexpr size_t kMostItems = 4096;  // of any list that is read

// How most texts of a decision begin; longer ones before their own beginnings.
constexpr absl::string_view kPhrases[] = {
    "AbleToScale",
    "ScalingActive",
    "ScalingLimited",
    "SucceededGetScale",
    "ReadyForNewScale",
    "ScaleDownStabilized",
    "ScaleUpStabilized",
    "SucceededRescale",
    "ValidMetricFound",
    "DesiredWithinRange",
    "ScaleUpLimit",
    "ScaleDownLimit",
    "TooManyReplicas",
    "TooFewReplicas",
    "SuccessfulRescale",
    "All metrics below target",
    "the HPA controller was able to get the target's current scale",
    "the HPA controller was able to update the target scale to ",
    "recommended size matches current size",
    "recent recommendations were higher than current one, applying the highest recent "
    "recommendation",
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
    "the HPA was able to successfully calculate a replica count from external metric ",
    "the HPA was able to successfully calculate a replica count from cpu resource utilization "
    "(percentage of request)",
    "the HPA was able to successfully calculate a replica count from pods metric ",
    "the HPA was able to successfully calculate a replica count from ",
    "the HPA was unable to compute the replica count: ",
    "the desired count is within the acceptable range",
    "the desired replica count is increasing faster than the maximum scale rate",
    "the desired replica count is decreasing faster than the maximum scale rate",
    "the desired replica count is more than the maximum replica count",
    "the desired replica count is less than the minimum replica count",
};

// Both directions of the format in one description each: a codec is called with every field in
// order, and either writes it or reads it.
class Packer {
 public:
  static constexpr bool kReads = false;
  Packer(absl::Time base, std::string& bytes) : base_(absl::ToUnixMicros(base)), out_(bytes) {}

  void Number(int64_t value) { out_.Signed(value); }
  void Ratio(double value) { out_.Double(value); }
  void Flag(bool value) { out_.Bool(value); }
  void Count(size_t value) { out_.Unsigned(value); }
  void Text(absl::string_view text) {
    for (size_t i = 0; i < std::size(kPhrases); ++i) {
      if (!absl::StartsWith(text, kPhrases[i])) continue;
      out_.Unsigned(i + 1);
      out_.Text(text.substr(kPhrases[i].size()));
      return;
    }
    out_.Unsigned(0);
    out_.Text(text);
  }
  void Time(absl::Time time) {
    const bool known = time != absl::InfinitePast() && time != absl::InfiniteFuture();
    out_.Bool(known);
    if (known) out_.Signed(WrapSub(base_, Micros(time - absl::UnixEpoch())));
  }
  void Duration(absl::Duration duration) { out_.Signed(Micros(duration)); }

 private:
  static int64_t Micros(absl::Duration duration) {
    return absl::ToInt64Microseconds(absl::Ceil(duration, absl::Microseconds(1)));
  }
  const int64_t base_;
  PackedWriter out_;
};

class Unpacker {
 public:
  static constexpr bool kReads = true;
  Unpacker(absl::Time base, PackedReader& in) : base_(absl::ToUnixMicros(base)), in_(in) {}

  template <typename T>
  void Number(T& value) {
    const int64_t read = in_.Signed();
    value = static_cast<T>(read);
  }
  void Ratio(double& value) { value = in_.Double(); }
  void Flag(bool& value) { value = in_.Bool(); }
  void Count(size_t& value) { value = in_.AtMost(kMostItems); }
  void Text(std::string& text) {
    const size_t phrase = in_.AtMost(std::size(kPhrases));
    const absl::string_view rest = in_.Text();
    text = phrase == 0 ? "" : std::string(kPhrases[phrase - 1]);
    text.append(rest.data(), rest.size());
  }
  void Time(absl::Time& time) {
    time = in_.Bool() ? absl::FromUnixMicros(WrapSub(base_, in_.Signed())) : absl::InfinitePast();
  }
  void Duration(absl::Duration& duration) { duration = absl::Microseconds(in_.Signed()); }

 private:
  const int64_t base_;
  PackedReader& in_;
};

// Enums as numbers; what is read is checked by whoever prints it (an unknown one prints as none).
template <typename Codec, typename Enum>
void Choice(Codec& codec, Enum& value) {
  if constexpr (Codec::kReads) {
    int number = 0;
    codec.Number(number);
    value = static_cast<Enum>(number & 0xF);
  } else {
    codec.Number(static_cast<int64_t>(value));
  }
}

template <typename Codec, typename Items, typename Each>
void List(Codec& codec, Items& items, const Each& each) {
  size_t count = items.size();
  codec.Count(count);
  if constexpr (Codec::kReads) items.resize(count);
  for (auto& item : items) each(item);
}

template <typename Codec, typename Optional, typename Each>
void Maybe(Codec& codec, Optional& value, const Each& each) {
  bool has = value.has_value();
  codec.Flag(has);
  if constexpr (Codec::kReads) {
    if (has) value.emplace();
  }
  if (has) each(*value);
}

template <typename Codec, typename P>  // Proposal, const when it is written
void Pass(Codec& codec, P& proposal) {
  codec.Flag(proposal.valid);
  codec.Number(proposal.replicas);
  codec.Text(proposal.name);
  codec.Text(proposal.error);
  codec.Text(proposal.reason);
  Choice(codec, proposal.formula);
  Choice(codec, proposal.verdict);
  codec.Number(proposal.items);
  codec.Number(proposal.groups.ready);
  codec.Number(proposal.groups.unready);
  codec.Number(proposal.groups.missing);
  codec.Number(proposal.groups.ignored);
  codec.Number(proposal.groups.strangers);
  codec.Ratio(proposal.tolerance.down);
  codec.Ratio(proposal.tolerance.up);
  codec.Number(proposal.base_replicas);
  codec.Number(proposal.sum_milli);
  codec.Number(proposal.samples_counted);
  codec.Number(proposal.requests_milli);
  codec.Number(proposal.measured_milli);
  Maybe(codec, proposal.utilization, [&](auto& percent) { codec.Number(percent); });
  codec.Number(proposal.target_milli);
  codec.Number(proposal.target_utilization);
  codec.Ratio(proposal.ratio);
  codec.Ratio(proposal.multiplier);
  codec.Flag(proposal.refilled);
  if (!proposal.refilled) return;
  Maybe(codec, proposal.missing_milli, [&](auto& milli) { codec.Number(milli); });
  Maybe(codec, proposal.missing_percent, [&](auto& percent) { codec.Number(percent); });
  codec.Flag(proposal.unready_as_zero);
  codec.Number(proposal.refilled_sum_milli);
  codec.Number(proposal.refilled_samples);
  codec.Number(proposal.refilled_requests_milli);
  codec.Ratio(proposal.refilled_ratio);
  Maybe(codec, proposal.discarded_replicas, [&](auto& replicas) { codec.Number(replicas); });
}

template <typename Codec, typename R>
void PassRecommendation(Codec& codec, R& item) {
  codec.Number(item.replicas);
  codec.Time(item.time);
}

template <typename Codec, typename S>
void PassState(Codec& codec, S& state) {
  List(codec, state.recommendations, [&](auto& item) { PassRecommendation(codec, item); });
  const auto change = [&](auto& event) {
    codec.Number(event.change);
    codec.Time(event.time);
  };
  List(codec, state.scale_ups, change);
  List(codec, state.scale_downs, change);
}

template <typename Codec, typename C>
void PassCombination(Codec& codec, C& combination) {
  codec.Number(combination.invalid);
  codec.Number(combination.total);
  Maybe(codec, combination.winner, [&](auto& winner) { codec.Number(winner); });
  codec.Number(combination.replicas);
  codec.Text(combination.error);
  codec.Flag(combination.gave_up);
}

template <typename Codec, typename S>
void PassStabilization(Codec& codec, S& window) {
  codec.Flag(window.with_behavior);
  codec.Duration(window.up_window);
  codec.Duration(window.down_window);
  codec.Number(window.before);
  codec.Number(window.up_lowest);
  codec.Number(window.down_highest);
  codec.Number(window.after);
  Maybe(codec, window.by, [&](auto& by) { PassRecommendation(codec, by); });
}

template <typename Codec, typename L>
void PassLimiting(Codec& codec, L& limiting) {
  Choice(codec, limiting.by);
  codec.Flag(limiting.up);
  codec.Flag(limiting.down);
  codec.Number(limiting.before);
  Maybe(codec, limiting.rate_limit, [&](auto& limit) { codec.Number(limit); });
  codec.Flag(limiting.disabled);
  List(codec, limiting.policies, [&](auto& policy) {
    codec.Number(policy.policy);
    codec.Number(policy.added);
    codec.Number(policy.removed);
    codec.Number(policy.period_start);
    codec.Number(policy.limit);
  });
  Maybe(codec, limiting.policy, [&](auto& policy) { codec.Number(policy); });
  codec.Number(limiting.lowest);
  codec.Number(limiting.highest);
  codec.Number(limiting.after);
}

// A decision but its state, which is written in its compact form.
template <typename Codec, typename D>
void PassDecision(Codec& codec, D& decision) {
  Choice(codec, decision.outcome);
  codec.Number(decision.current);
  codec.Number(decision.status_replicas);
  codec.Number(decision.min_replicas);
  codec.Number(decision.max_replicas);
  codec.Flag(decision.metrics_computed);
  List(codec, decision.proposals, [&](auto& proposal) { Pass(codec, proposal); });
  Maybe(codec, decision.combination, [&](auto& it) { PassCombination(codec, it); });
  codec.Number(decision.recommendation);
  Maybe(codec, decision.stabilization, [&](auto& it) { PassStabilization(codec, it); });
  Maybe(codec, decision.limiting, [&](auto& it) { PassLimiting(codec, it); });
  codec.Flag(decision.rescale);
  codec.Number(decision.desired);
  codec.Text(decision.rescale_reason);
  codec.Flag(decision.rescaled);
  codec.Text(decision.error);
  List(codec, decision.status.conditions, [&](auto& condition) {
    codec.Text(condition.type);
    Choice(codec, condition.status);
    codec.Text(condition.reason);
    codec.Text(condition.message);
  });
  List(codec, decision.events, [&](auto& event) {
    codec.Flag(event.warning);
    codec.Text(event.reason);
    codec.Text(event.message);
  });
}

template <typename Codec, typename S>
void PassScale(Codec& codec, S& scale) {
  Choice(codec, scale.failure);
  codec.Text(scale.error);
  codec.Number(scale.spec_replicas);
  codec.Number(scale.status_replicas);
  codec.Text(scale.selector);
}

template <typename Codec, typename R>
void PassReading(Codec& codec, R& reading) {
  codec.Text(reading.error);
  Maybe(codec, reading.timestamp, [&](auto& time) { codec.Time(time); });
  List(codec, reading.samples, [&](auto& sample) {
    codec.Number(sample.row);
    codec.Number(sample.value_milli);
    codec.Time(sample.timestamp);
    codec.Duration(sample.window);
  });
  List(codec, reading.amounts_milli, [&](auto& amount) { codec.Number(amount); });
}

// The metrics behind those of the object's own spec. Their names and targets are all that is there
// to tell.
void PackTriggerMetrics(const DecisionRecord& record, Packer& codec) {
  const std::vector<MetricSpec>& own = record.managed->autoscaler.metrics;
  const std::vector<MetricSpec>& all =
      record.decided_on == nullptr ? own : record.decided_on->metrics;
  const size_t first = std::min(own.size(), all.size());
  codec.Count(all.size() - first);
  for (size_t i = first; i < all.size(); ++i) {
    const MetricTarget& target = all[i].target;
    codec.Text(all[i].metric.name);
    codec.Flag(target.value.has_value());
    codec.Number(target.value.has_value()           ? target.value->milli
                 : target.average_value.has_value() ? target.average_value->milli
                                                    : 0);
  }
}

void UnpackTriggerMetrics(Unpacker& codec, std::vector<MetricSpec>& metrics) {
  List(codec, metrics, [&](MetricSpec& metric) {
    std::string name;
    bool value = false;
    int64_t milli = 0;
    codec.Text(name);
    codec.Flag(value);
    codec.Number(milli);
    metric.type = MetricType::kExternal;
    metric.type_text = "External";
    metric.metric = MakeMetricIdentifier(std::move(name), std::nullopt);
    metric.target.type = value ? TargetType::kValue : TargetType::kAverageValue;
    (value ? metric.target.value : metric.target.average_value) =
        MakeTargetAmount(kube::Quantity::FromMilli(milli, kube::Quantity::Format::kDecimalSI));
  });
}

// The first samples, and rows of pods whose names are kept.
void TakeReading(const Reading& reading, size_t most, Reading& out) {
  out.error = reading.error;
  out.timestamp = reading.timestamp;
  const auto samples = static_cast<std::ptrdiff_t>(std::min(most, reading.samples.size()));
  out.samples.assign(reading.samples.begin(), reading.samples.begin() + samples);
  const auto amounts = static_cast<std::ptrdiff_t>(std::min(most, reading.amounts_milli.size()));
  out.amounts_milli.assign(reading.amounts_milli.begin(), reading.amounts_milli.begin() + amounts);
  for (PodSample& sample : out.samples) {
    if (sample.row >= static_cast<int32_t>(most)) sample.row = kStranger;
  }
}

void PackPods(const PodsAnswer* pods, size_t most, Packer& codec) {
  const PodTable* table = pods == nullptr ? nullptr : pods->table;
  codec.Number(table == nullptr ? 0 : static_cast<int64_t>(table->size()));
  const size_t count = table == nullptr ? 0 : std::min(table->size(), most);
  codec.Count(count);
  absl::string_view last;
  for (size_t row = 0; row < count; ++row) {
    const absl::string_view name = table->name(row);
    size_t same = 0;
    while (same < last.size() && same < name.size() && last[same] == name[same]) ++same;
    codec.Number(static_cast<int64_t>(same));
    codec.Text(name.substr(same));
    last = name;
  }
}

void UnpackPods(Unpacker& codec, LoggedDecision& out) {
  codec.Number(out.pods_in_all);
  std::string last;
  List(codec, out.pods, [&](std::string& name) {
    size_t same = 0;
    std::string rest;
    codec.Number(same);
    codec.Text(rest);
    name = last.substr(0, same) + rest;
    last = name;
  });
}

}  // namespace

void PackDecision(const DecisionRecord& record, size_t most_samples, std::string& bytes) {
  bytes.clear();
  const Decision& decision = *record.decision;
  PackedWriter(bytes).Signed(absl::ToUnixMicros(decision.now));
  Packer codec(decision.now, bytes);
  Choice(codec, record.mode);
  Maybe(codec, record.newest_sample, [&](auto& time) { codec.Time(time); });
  codec.Duration(record.took);
  codec.Flag(record.scale_written);
  codec.Text(record.scale_error);
  codec.Text(record.activation == nullptr ? "" : record.activation->reason);
  PackTriggerMetrics(record, codec);
  static const ScaleAnswer kNoScale;
  PassScale(codec, record.scale == nullptr ? kNoScale : *record.scale);
  PackPods(record.pods, most_samples, codec);
  codec.Count(record.readings.size());
  thread_local Reading taken;
  for (const Reading& reading : record.readings) {
    TakeReading(reading, most_samples, taken);
    PassReading(codec, taken);
  }
  PassDecision(codec, decision);
  thread_local ScalerState state;
  CompactState(decision.state, state);
  PassState(codec, state);
}

bool UnpackDecision(absl::string_view bytes, LoggedDecision& out) {
  PackedReader in(bytes);
  out.decision.now = absl::FromUnixMicros(in.Signed());
  Unpacker codec(out.decision.now, in);
  Choice(codec, out.mode);
  Maybe(codec, out.newest_sample, [&](auto& time) { codec.Time(time); });
  codec.Duration(out.took);
  codec.Flag(out.scale_written);
  codec.Text(out.scale_error);
  codec.Text(out.activation);
  UnpackTriggerMetrics(codec, out.trigger_metrics);
  PassScale(codec, out.scale);
  UnpackPods(codec, out);
  List(codec, out.readings, [&](Reading& reading) { PassReading(codec, reading); });
  PassDecision(codec, out.decision);
  PassState(codec, out.decision.state);
  const auto count = static_cast<int32_t>(out.pods.size());
  for (Reading& reading : out.readings) {
    for (PodSample& sample : reading.samples) {
      if (sample.row < kStranger || sample.row >= count) sample.row = kStranger;
    }
  }
  return in.ok() && in.at_end();
}

}  // namespace flyball::scaler
