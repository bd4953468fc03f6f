#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "kube/objects/json_members.h"
#include "scaler/math/requests/bounds.h"
#include "scaler/math/requests/request_decider.h"
#include "scaler/math/requests/traffic.h"
#include "scaler/vectors/requests/kinds.h"
#include "scaler/vectors/requests/scenario.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostSteps = 1'000'000;
constexpr int64_t kOldest = 1'000'000;  // seconds

// Something that happens at a time; at equal times lower ranks come first.
struct TimedStep {
  int64_t ms = 0;
  int rank = 0;
  std::function<absl::Status()> run;
};

// Runs one decider and its windows through the events of a scenario.
class ScaleRun {
 public:
  explicit ScaleRun(const Json& in) : clock_(in), ready_(kube::NumberOf(in, "ready")) {
    ReplaceSettings(in, written_);
  }

  absl::StatusOr<Json> Run(const Json& in) {
    RETURN_IF_ERROR(Create(0));
    const int32_t excess_burst = decider_->excess_burst();
    RETURN_IF_ERROR(Schedule(in));
    for (const TimedStep& step : steps_) RETURN_IF_ERROR(step.run());
    return Json{{"ebc0", excess_burst}, {"specs", specs_}, {"decisions", decisions_}};
  }

 private:
  enum Rank { kEvent, kSeries, kTick };

  absl::Status Add(int64_t ms, Rank rank, std::function<absl::Status()> run) {
    RETURN_IF_ERROR(CheckTime(ms));
    if (steps_.size() >= kMostSteps) return absl::InvalidArgumentError("too many steps");
    steps_.push_back({ms, rank, std::move(run)});
    return absl::OkStatus();
  }

  absl::Status Schedule(const Json& in) {
    for (const Json& event : kube::ItemsOf(in, "events")) {
      const int64_t ms = IntAt(event, 1);
      RETURN_IF_ERROR(Add(ms, kEvent, [this, &event, ms] { return Happen(event, ms); }));
    }
    for (const Json& series : kube::ItemsOf(in, "series")) RETURN_IF_ERROR(ScheduleSeries(series));
    const Json& ticks = kube::ItemsOf(in, "ticks");
    const int64_t step = IntAt(ticks, 2);
    if (!ticks.empty() && step <= 0) return absl::InvalidArgumentError("ticks: expected a step");
    RETURN_IF_ERROR(CheckTime(step));
    for (int64_t ms = IntAt(ticks, 0); !ticks.empty() && ms <= IntAt(ticks, 1); ms += step) {
      RETURN_IF_ERROR(Add(ms, kTick, [this, ms] { return Tick(ms, /*poke=*/false); }));
    }
    std::stable_sort(steps_.begin(), steps_.end(), [](const TimedStep& a, const TimedStep& b) {
      return std::pair(a.ms, a.rank) < std::pair(b.ms, b.rank);
    });
    return absl::OkStatus();
  }

  absl::Status ScheduleSeries(const Json& series) {
    const Json& conc = kube::ItemsOf(series, "conc");
    const Json& pconc = kube::ItemsOf(series, "pconc");
    const Json& rps = kube::ItemsOf(series, "rps");
    const Json& prps = kube::ItemsOf(series, "prps");
    const bool push = kube::TextOf(series, "op") == "push";
    const int64_t from = kube::NumberOf(series, "from");
    const int64_t every = kube::NumberOf(series, "step");
    RETURN_IF_ERROR(CheckTime(from));
    RETURN_IF_ERROR(CheckTime(every));
    const size_t count = std::max({conc.size(), pconc.size(), rps.size(), prps.size()});
    for (size_t i = 0; i < count; ++i) {
      if (i < conc.size() && conc[i].is_null()) continue;
      const int64_t ms = from + static_cast<int64_t>(i) * every;
      const TrafficSample sample{.concurrency = NumberAt(conc, i),
                                 .proxied_concurrency = NumberAt(pconc, i),
                                 .requests = NumberAt(rps, i),
                                 .proxied_requests = NumberAt(prps, i)};
      RETURN_IF_ERROR(Add(ms, kSeries, [this, ms, sample, push] {
        return push ? Push(ms, sample, 0) : Scrape(ms, sample);
      }));
    }
    return absl::OkStatus();
  }

  absl::Status Happen(const Json& event, int64_t ms) {
    const std::string what = TextAt(event, 0);
    const TrafficSample sample{.concurrency = NumberAt(event, 2),
                               .proxied_concurrency = NumberAt(event, 3),
                               .requests = NumberAt(event, 4),
                               .proxied_requests = NumberAt(event, 5)};
    if (what == "push") return Push(ms, sample, IntAt(event, 6));
    if (what == "scrape") return Scrape(ms, sample);
    if (what == "tick") return Tick(ms, /*poke=*/false);
    if (what == "restart") return Create(ms);
    if (what == "ready") {
      ready_ = IntAt(event, 2);
      return absl::OkStatus();
    }
    if (what == "update") return Update(event, ms);
    return absl::InvalidArgumentError("events: expected a known one, got " + what);
  }

  PodsSeen Pods() const {
    if (ready_ < 0) return {};
    return {.ready = static_cast<int32_t>(std::min<int64_t>(ready_, INT32_MAX))};
  }

  absl::Status Create(int64_t ms) {
    ASSIGN_OR_RETURN(settings_, Resolve(written_));
    specs_.push_back(SpecJson(ms, settings_));
    traffic_.emplace(settings_);
    decider_.emplace(settings_, Pods(), clock_.At(ms));
    return absl::OkStatus();
  }

  absl::Status Update(const Json& event, int64_t ms) {
    if (event.size() > 2 && event[2].is_object()) ReplaceSettings(event[2], written_);
    ASSIGN_OR_RETURN(settings_, Resolve(written_));
    specs_.push_back(SpecJson(ms, settings_));
    decider_->Configure(settings_);
    traffic_->Configure(settings_, clock_.At(ms));
    return absl::OkStatus();
  }

  absl::Status Scrape(int64_t ms, const TrafficSample& sample) {
    traffic_->Record(clock_.At(ms), sample);
    return absl::OkStatus();
  }

  // A negative age is a time in the future.
  absl::Status Push(int64_t ms, const TrafficSample& sample, int64_t age_seconds) {
    if (age_seconds < -kOldest || age_seconds > kOldest) {
      return absl::InvalidArgumentError("push: the age is out of range");
    }
    traffic_->Record(clock_.At(ms) - absl::Seconds(age_seconds), sample);
    if (!decider_->Pokes(sample.concurrency)) return absl::OkStatus();
    return Tick(ms, /*poke=*/true);
  }

  absl::Status Tick(int64_t ms, bool poke) {
    const absl::Time now = clock_.At(ms);
    const TrafficAverages averages = traffic_->Averages(settings_, now);
    const RequestDecision decision = decider_->Evaluate(now, Pods(), averages);
    const bool nodata = averages.empty && settings_.scrapes_pods();
    Json out = {{"t", ms}};
    if (poke) out["poke"] = true;
    out["ok"] = decision.valid;
    out["n"] = decision.wanted;
    out["ebc"] = decision.excess_burst;
    out["panic"] = decider_->panicking();
    out["mpp"] = decider_->panic_maximum();
    out["s"] = NumberJson(nodata ? 0 : averages.stable);
    out["p"] = NumberJson(nodata ? 0 : averages.panic);
    if (nodata) out["nodata"] = true;
    out["told"] = decision.told;
    out["b"] = WithinBounds(settings_.min_scale, settings_.max_scale, decision.wanted);
    out["na"] = ActivatorCount(settings_, Pods().ready.value_or(0));
    decisions_.push_back(std::move(out));
    return absl::OkStatus();
  }

  ScenarioClock clock_;
  int64_t ready_;  // negative: the pods cannot be counted
  ScenarioSettings written_;
  RequestSettings settings_;
  std::optional<TrafficWindows> traffic_;
  std::optional<RequestDecider> decider_;
  std::vector<TimedStep> steps_;
  Json specs_ = Json::array();
  Json decisions_ = Json::array();
};

}  // namespace

absl::StatusOr<Json> AnswerScale(const Json& in) { return ScaleRun(in).Run(in); }

}  // namespace flyball::scaler
