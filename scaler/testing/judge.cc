#include "scaler/testing/judge.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scaler/inputs/pod_json.h"
#include "scaler/math/history.h"
#include "scaler/math/hpa/decider_of.h"
#include "scaler/math/readings.h"
#include "scaler/steps/mode.h"
#include "scaler/stores/state_upkeep.h"
#include "scaler/triggers/activation.h"
#include "scaler/triggers/trigger.h"
#include "scaler/views/status_json.h"

namespace flyball::scaler {
namespace {

using Amount = SimulatedCluster::Amount;

constexpr size_t kLastDecisions = 60;
constexpr absl::Duration kLongestCall = absl::Seconds(5);
// The longest time between a decision and its effect, or the next one.
constexpr absl::Duration kLongestPeriod = absl::Seconds(15);

absl::Duration WindowOf(const ScalingRules& rules, absl::Duration otherwise) {
  const std::optional<int32_t> seconds = rules.stabilization_window_seconds;
  return seconds.has_value() ? absl::Seconds(*seconds) : otherwise;
}

// The smallest of the readings that were true; nullopt: one of them was an error, which never
// makes a target smaller.
Amount Smallest(const Past<Amount>& past, absl::Duration since) {
  Amount smallest;
  if (past.empty()) return smallest;
  for (const Amount* amount : past.Since(since)) {
    if (!amount->has_value()) continue;
    smallest = smallest.has_value() ? std::min(*smallest, **amount) : *amount;
  }
  return smallest;
}

Reading ExternalReading(const Amount& amount, absl::Time now) {
  Reading reading;
  MetricsAnswer<ExternalMetric> answer;
  if (amount.has_value()) {
    answer.items.push_back({.timestamp = now, .value = kube::Quantity::FromMilli(*amount)});
  } else {
    answer.error = "it can't be read";
  }
  ReadExternalMetric(answer, reading);
  return reading;
}

Reading PodsReading(absl::string_view resource, const Amount& amount,
                    const std::vector<SimulatedPod>& pods, const PodTable& table, absl::Time now) {
  Reading reading;
  MetricsAnswer<PodMetrics> answer;
  if (!amount.has_value()) answer.error = "it can't be read";
  for (const SimulatedPod& pod : pods) {
    if (!amount.has_value() || !pod.ready) continue;
    answer.items.push_back(
        {.name = pod.name,
         .timestamp = now,
         .window = absl::Seconds(30),
         .containers = {{"app", {{std::string(resource), kube::Quantity::FromMilli(*amount)}}}}});
  }
  ReadResource(answer, resource, "", table, reading);
  return reading;
}

// The form that the loop gives an autoscaler with a trigger.
void AddTrigger(Autoscaler& autoscaler) {
  autoscaler.min_replicas = std::max(1, autoscaler.min_or_default());
  autoscaler.metrics.push_back(ToMetricSpec({.name = "jobs", .target_milli = 2000}));
}

// In thousandths.
int64_t FewestJobs(const SimulatedCluster& cluster, const SimulatedCluster::Target& target,
                   absl::Duration since) {
  int64_t fewest = std::numeric_limits<int32_t>::max();
  for (const std::vector<SimulatedPod>* jobs : cluster.Pods(JobsOf(target), since)) {
    fewest = std::min(fewest, static_cast<int64_t>(jobs->size()));
  }
  return fewest == std::numeric_limits<int32_t>::max() ? 0 : fewest * 1000;
}

PodTable TableOf(const SimulatedCluster::Target& target, const std::vector<SimulatedPod>& pods,
                 const std::vector<MetricSpec>& metrics) {
  std::vector<Pod> read(pods.size());
  std::vector<const Pod*> pointers;
  PodJsonReader reader;
  for (size_t i = 0; i < pods.size(); ++i) {
    if (!reader.Read(SimulatedCluster::PodJson(target, pods[i]), read[i]).ok()) std::abort();
    pointers.push_back(&read[i]);
  }
  std::sort(pointers.begin(), pointers.end(),
            [](const Pod* a, const Pod* b) { return a->name < b->name; });
  return PodTable(pointers, metrics, {});
}

}  // namespace

void Judge::Complain(const std::string& what) {
  wrong_.push_back(absl::StrCat("at ", absl::FormatDuration(time_.now()), ": ", what));
}

std::array<ScalerState*, 3> Judge::MemoriesOf(const Managed& managed) {
  return {&by_uid_[managed.autoscaler.uid],
          &by_return_[{managed.key, cluster_.Returns(managed.key)}], &by_key_[managed.key]};
}

void Judge::Note(int replica, const Managed& managed, int32_t recommendation, absl::Duration when) {
  noted_[managed.key].push_back({.replica = replica, .when = when, .over = time_.now()});
  // A recommendation that no window needs is replaced by the next, as in the original.
  const std::optional<Behavior>& behavior = managed.autoscaler.behavior;
  const absl::Duration window =
      behavior.has_value() ? std::max(WindowOf(behavior->scale_up, absl::ZeroDuration()),
                                      WindowOf(behavior->scale_down, math_.downscale_stabilization))
                           : math_.downscale_stabilization;
  const absl::Time now = kSimulationStart + when;
  for (ScalerState* state : MemoriesOf(managed)) {
    std::optional<size_t> outdated;
    for (size_t i = 0; i < state->recommendations.size(); ++i) {
      if (state->recommendations[i].time < now - window) outdated = i;
    }
    RecordRecommendation({.replicas = recommendation, .time = now}, outdated, *state);
  }
}

bool Judge::AnotherMayWrite(int replica, const AutoscalerKey& key) const {
  return std::any_of(replicas_.begin(), replicas_.end(), [&](const auto& other) {
    return other->options().index != replica && other->MayWrite(key);
  });
}

void Judge::OnDecision(int replica, const DecisionRecord& record) {
  // It is reported when its write is over, and its wall clock may have been set since it was made.
  const SimulatedReplica& self = *replicas_[static_cast<size_t>(replica)];
  const absl::Duration when =
      self.SimulatedTimeAt(record.time - absl::UnixEpoch() - record.wall_offset.value());
  std::deque<Decided>& last = decided_[record.managed->key];
  last.push_back({.time = time_.now(),
                  .replica = replica,
                  .current = record.decision->current,
                  .recommendation = record.decision->recommendation,
                  .desired = record.decision->desired,
                  .written = record.scale_written,
                  .error = absl::StrCat(record.decision->error, record.scale_error)});
  if (record.decision->limiting.has_value()) {
    for (const PolicyLimit& policy : record.decision->limiting->policies) {
      absl::StrAppend(&last.back().error, " [added ", policy.added, " removed ", policy.removed,
                      " limit ", policy.limit, "]");
    }
  }
  if (last.size() > kLastDecisions) last.pop_front();
  const auto removal = last_removal_.find(record.managed->key);
  if (removal != last_removal_.end() && removal->second.replica == replica &&
      record.scale_written && record.decision->desired < record.decision->current) {
    removal->second.confirmed = true;
  }
  steady_.erase({replica, record.managed->key});
  known_[{replica, record.managed->key}] = record.managed;
  const Decision& decision = *record.decision;
  const bool followed = decision.outcome == Outcome::kDecided && decision.metrics_computed;
  if (decision.outcome == Outcome::kScaleUnknown) return;
  // Others advise too, or have not noticed yet that another replica has taken over.
  const bool acts = record.mode == Mode::kAct;
  const std::array<ScalerState*, 3> memories = MemoriesOf(*record.managed);
  // A replica that sees it paused remembers its recommendations, and may be the next to act.
  if (!acts) began_paused_.insert(memories.begin(), memories.end());
  if (!acts && !self.Owns(record.managed->key)) return;
  // A replica whose Lease has run out is no owner, so nobody else can know of its decisions.
  if (acts && !self.MayWrite(record.managed->key) && !record.scale_written) return;
  if (AnotherMayWrite(replica, record.managed->key)) return;
  if (acts && record.activation != nullptr && record.activation->active) {
    last_active_[record.managed->autoscaler.uid] = when;
  }
  // Of what was found before anything was recommended, and of what the metrics ask for.
  for (ScalerState* state : memories) {
    if (acts && !began_paused_.contains(state)) {
      RecordInitialRecommendation(decision.current, kSimulationStart + when, *state);
    }
  }
  if (acts && followed) Note(replica, *record.managed, decision.recommendation, when);
}

std::string Judge::LastDecisions(const AutoscalerKey& key) const {
  std::string out;
  const auto found = decided_.find(key);
  if (found == decided_.end()) return out;
  for (const Decided& one : found->second) {
    absl::StrAppend(&out, "  ", absl::FormatDuration(one.time), " replica ", one.replica, ": ",
                    one.current, " -> ", one.desired, ", recommends ", one.recommendation,
                    one.written ? ", written" : "", one.error.empty() ? "" : ": ", one.error, "\n");
  }
  return out;
}

std::string Judge::ToString(const ScalerState& state) const {
  std::string out;
  const auto ago = [this](absl::Time time) { return absl::FormatDuration(Wall() - time); };
  for (const Recommendation& item : state.recommendations) {
    absl::StrAppend(&out, item.replicas, " recommended ", ago(item.time), " ago, ");
  }
  for (const ScaleEvent& item : state.scale_ups) {
    absl::StrAppend(&out, item.change, " added ", ago(item.time), " ago, ");
  }
  for (const ScaleEvent& item : state.scale_downs) {
    absl::StrAppend(&out, item.change, " removed ", ago(item.time), " ago, ");
  }
  return out;
}

std::string Judge::Remembered(const Managed& managed) {
  return absl::StrCat(ToString(by_uid_[managed.autoscaler.uid]), "\n  and with its predecessors ",
                      ToString(by_key_[managed.key]));
}

void Judge::OnSteady(int replica, const AutoscalerKey& key, int32_t recommendation) {
  steady_[{replica, key}] = recommendation;
}

void Judge::OnRound(int replica, const RoundRecord& round) {
  for (const AutoscalerKey* key : round.keys) {
    if (AnotherMayWrite(replica, *key)) continue;  // it has not noticed yet that it is no owner
    if (cluster_.Autoscaler(*key, time_.now()).back() == nullptr) continue;
    // The replica recommends nothing for an autoscaler that was recreated meanwhile.
    Note(replica, *known_.at({replica, *key}), steady_.at({replica, *key}), time_.now());
  }
}

Judge::Seen Judge::See(const Managed& managed, const SimulatedCluster::Target& target,
                       const std::vector<SimulatedPod>& pods, absl::Duration since) {
  Seen seen;
  seen.autoscaler = managed.autoscaler;
  const bool triggered = !managed.own.triggers.empty();
  if (triggered) AddTrigger(seen.autoscaler);
  seen.pods = TableOf(target, pods, seen.autoscaler.metrics);
  seen.scale.status_replicas = static_cast<int32_t>(pods.size());
  seen.scale.selector = absl::StrCat("app=", target.second);
  for (const MetricSpec& metric : managed.autoscaler.metrics) {
    const bool of_pods = metric.type == MetricType::kResource;
    const Past<Amount>& past =
        cluster_.AmountOf(target, of_pods ? metric.resource : metric.metric.name);
    const Amount amount = Smallest(past, since);
    seen.readings.push_back(of_pods ? PodsReading(metric.resource, amount, pods, seen.pods, Wall())
                                    : ExternalReading(amount, Wall()));
  }
  if (triggered) {
    seen.readings.push_back(ExternalReading(FewestJobs(cluster_, target, since), Wall()));
  }
  return seen;
}

int32_t Judge::Decide(const Seen& seen, int32_t current, const ScalerState& state) const {
  ScaleAnswer scale = seen.scale;
  scale.spec_replicas = current;
  PodsAnswer pods;
  pods.table = &seen.pods;
  const AutoscalerStatus status;
  DecisionInput input;
  input.autoscaler = &seen.autoscaler;
  input.status = &status;
  input.scale = &scale;
  input.pods = &pods;
  input.readings = seen.readings;
  input.config = &math_;
  input.state = &state;
  input.now = Wall();
  Decision decision;
  Workspace workspace;
  DeciderOf(seen.autoscaler).Decide(input, {}, workspace, decision);
  return decision.rescale ? decision.desired : current;
}

void Judge::OnForeignScale(const SimulatedCluster::Target& target) { foreign_[target] = Wall(); }

bool Judge::KnowsItsLastRemoval(const AutoscalerKey& key) const {
  const auto found = last_removal_.find(key);
  return found != last_removal_.end() && found->second.confirmed &&
         replicas_[static_cast<size_t>(found->second.replica)]->MayWrite(key);
}

// The state without the last removal before somebody else's change, if its writer is gone or never
// learned of it, and without the recommendations before it that a replica never saved, if it is no
// owner any more.
ScalerState Judge::WithoutHidden(const AutoscalerKey& key, absl::Time foreign,
                                 ScalerState state) const {
  ScaleEvent* last = nullptr;
  for (ScaleEvent& removed : state.scale_downs) {
    if (removed.time > foreign) continue;
    if (last == nullptr || removed.time > last->time) last = &removed;
  }
  if (last != nullptr && !KnowsItsLastRemoval(key)) last->change = 0;
  const auto noted = noted_.find(key);
  if (noted == noted_.end()) return state;
  for (const Noted& one : noted->second) {
    const SimulatedReplica& replica = *replicas_[static_cast<size_t>(one.replica)];
    const absl::Time time = kSimulationStart + one.when;
    if (replica.MayWrite(key) || one.over <= replica.last_saved(key) || time > foreign) continue;
    std::erase_if(state.recommendations,
                  [&](const Recommendation& made) { return made.time == time; });
  }
  return state;
}

int32_t Judge::Least(const Managed& managed, const SimulatedCluster::Target& target,
                     int32_t current, absl::Duration since) {
  int32_t least = std::numeric_limits<int32_t>::max();
  for (const std::vector<SimulatedPod>* pods : cluster_.Pods(target, since)) {
    const Seen seen = See(managed, target, *pods, since);
    for (ScalerState* memory : MemoriesOf(managed)) {
      ScalerState state = *memory;
      // Otherwise the present count would be taken for the one that was found first.
      if (began_paused_.contains(memory)) state.recommendations.push_back({.time = Wall()});
      least = std::min(least, Decide(seen, current, state));
      // A change counts from when its writer learned of its own success.
      for (ScaleEvent& added : state.scale_ups) {
        added.time = clocks_differ ? Wall() : added.time + kLongestCall;
      }
      least = std::min(least, Decide(seen, current, state));
      if (const auto foreign = foreign_.find(target); foreign != foreign_.end()) {
        const ScalerState without = WithoutHidden(managed.key, foreign->second, std::move(state));
        least = std::min(least, Decide(seen, current, without));
      }
    }
  }
  return least;
}

std::string Judge::WhyNotZero(const Managed& managed, const SimulatedCluster::Target& target,
                              absl::Duration since) {
  if (managed.own.triggers.empty() || managed.autoscaler.min_or_default() > 0) return "no minimum";
  const auto active = last_active_.find(managed.autoscaler.uid);
  if (active != last_active_.end() && time_.now() - active->second <= managed.own.cooldown) {
    return absl::StrCat("a trigger was active ", absl::FormatDuration(time_.now() - active->second),
                        " ago");
  }
  for (const MetricSpec& metric : managed.autoscaler.metrics) {
    const bool of_pods = metric.type == MetricType::kResource;
    const std::string& name = of_pods ? metric.resource : metric.metric.name;
    if (!Smallest(cluster_.AmountOf(target, name), since).has_value()) {
      return absl::StrCat(name, " is unknown");
    }
  }
  return "";
}

void Judge::Look() {
  for (const auto& [key, past] : cluster_.autoscalers()) {
    const auto writers =
        std::count_if(replicas_.begin(), replicas_.end(),
                      [&key = key](const auto& replica) { return replica->MayWrite(key); });
    if (writers > 1) Complain(absl::StrCat(writers, " replicas may write for ", key.ToString()));
  }
}

void Judge::OnScaleWrite(const SimulatedCluster::ScaleWrite& write) {
  ++writes_;
  const SimulatedReplica& writer = *replicas_[static_cast<size_t>(write.writer)];
  const std::string what =
      absl::StrCat("replica ", write.writer, " wrote ", write.before, " -> ", write.after, " for ",
                   write.target.first, "/", write.target.second);
  AutoscalerKey key = {
      .kind = AutoscalerKind::kHpa, .ns = write.target.first, .name = FirstOf(write.target).second};
  if (!cluster_.autoscalers().contains(key)) key.kind = AutoscalerKind::kOwn;
  for (const auto& other : replicas_) {
    if (other.get() != &writer && other->MayWrite(key)) {
      Complain(absl::StrCat(what, " while replica ", other->options().index, " may write"));
    }
  }
  // A replica that may have missed changes has to ask before it writes. It may have heard of them
  // between the answer and its write.
  const char* const resource =
      key.kind == AutoscalerKind::kHpa ? "horizontalpodautoscalers" : "autoscalers";
  const SimulatedReplica::SentWrite& sent = writer.last_write();
  absl::Duration knew = sent.told.at(resource);
  const auto asked = sent.asked.find(AutoscalerPath(key));
  if (asked != sent.asked.end() && asked->second >= sent.sent - kLongestCall) knew = asked->second;
  std::vector<ManagedPtr> valid = cluster_.Autoscaler(key, knew);
  std::erase_if(valid, [&](ManagedPtr& managed) {
    if (managed != nullptr) managed = ScheduledAt(managed, mode_, sent.wall);
    return managed == nullptr || EffectiveMode(*managed, mode_) != Mode::kAct ||
           managed->autoscaler.scale_target.name != write.target.second;
  });
  if (valid.empty()) return Complain(absl::StrCat(what, ", which is gone, paused or not its own"));
  int32_t least = write.before;
  if (write.after < write.before) {
    ++shrinks_;
    const absl::Duration since = time_.now() - reading_age;
    std::string why_not_zero = "it follows its metrics";
    for (const ManagedPtr& managed : valid) {
      least = std::min(least, Least(*managed, write.target, write.before, since));
      if (write.after > 0 || why_not_zero.empty()) continue;
      why_not_zero = WhyNotZero(*managed, write.target, since);
    }
    if (write.after == 0 && !why_not_zero.empty()) {
      Complain(absl::StrCat(what, ": ", why_not_zero, "\n", LastDecisions(key)));
    }
    if (write.after == 0) least = 0;
    if (write.after < least) {
      Complain(absl::StrCat(what, ", at least ", least, " was right\n", LastDecisions(key),
                            "  the judge remembers ", Remembered(*valid.back())));
    }
  }
  Record(valid, write);
  if (write.after < write.before) last_removal_[key] = {.replica = write.writer};
}

// Changes are remembered if there is a behavior. If it was added or removed while the write was on
// its way, nobody knows which one applied: an addition counts; a removal does not, but may have
// replaced an earlier one. If it was changed, a removal is recorded under the one by which it
// replaces the most earlier ones.
void Judge::Record(const std::vector<ManagedPtr>& valid,
                   const SimulatedCluster::ScaleWrite& write) {
  const auto has_behavior = [](const ManagedPtr& managed) {
    return managed->autoscaler.behavior.has_value();
  };
  const bool grows = write.after > write.before;
  const bool certain = std::all_of(valid.begin(), valid.end(), has_behavior);
  if (std::none_of(valid.begin(), valid.end(), has_behavior)) return;
  const auto forgets_sooner = [&](const ManagedPtr& a, const ManagedPtr& b) {
    if (!has_behavior(a) || !has_behavior(b)) return has_behavior(a) && !has_behavior(b);
    return LongestPeriodSeconds(a->autoscaler.behavior->scale_down) <
           LongestPeriodSeconds(b->autoscaler.behavior->scale_down);
  };
  const Managed& managed = **(grows ? std::find_if(valid.begin(), valid.end(), has_behavior)
                                    : std::min_element(valid.begin(), valid.end(), forgets_sooner));
  for (ScalerState* state : MemoriesOf(managed)) {
    if (grows && (clocks_differ || !certain)) {
      // Nobody knows which earlier addition made room for it.
      state->scale_ups.push_back({.change = write.after - write.before, .time = Wall()});
    } else {
      // A change by nothing replaces an earlier one, and counts for nothing.
      RecordScaleEvent(*managed.autoscaler.behavior, write.before,
                       certain ? write.after : write.before, Wall(), *state);
    }
  }
}

std::optional<int32_t> Judge::Wanted(const AutoscalerKey& key) {
  const std::vector<ManagedPtr> now = cluster_.Autoscaler(key, time_.now());
  const SimulatedCluster::Target target = {key.ns, key.name};
  const int32_t current = cluster_.Replicas(target);
  if (now.empty() || now.back() == nullptr || current < 0) return std::nullopt;
  std::optional<int32_t> least;
  for (const auto& replica : replicas_) {
    // A schedule may have begun or ended since its last decision.
    for (const absl::Duration ago : {absl::ZeroDuration(), kLongestPeriod}) {
      if (!replica->alive()) continue;
      const ManagedPtr managed = ScheduledAt(now.back(), mode_, replica->WallNow() - ago);
      if (EffectiveMode(*managed, mode_) != Mode::kAct) return std::nullopt;
      const int32_t wanted =
          current == 0 && !managed->own.triggers.empty()
              ? 1
              : Decide(
                    See(*managed, target, *cluster_.Pods(target, time_.now()).back(), time_.now()),
                    current, ScalerState());
      least = std::min(least.value_or(wanted), wanted);
    }
  }
  return least;
}

}  // namespace flyball::scaler
