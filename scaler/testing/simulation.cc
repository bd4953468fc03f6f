#include "scaler/testing/simulation.h"

#include <utility>

namespace flyball::scaler {
namespace {

// Between two looks for two writers.
constexpr absl::Duration kLook = absl::Milliseconds(500);

}  // namespace

std::string MetricOf(char which, absl::string_view name, int average) {
  return absl::StrCat(R"({"type":"External","external":{"metric":{"name":")", std::string(1, which),
                      "-", name, R"("},"target":{"type":"AverageValue","averageValue":")", average,
                      R"("}}})");
}

std::string CpuOf(int percent) {
  return absl::StrCat(
      R"({"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization",)",
      R"("averageUtilization":)", percent, "}}}");
}

std::string MemoryOf(int average) {
  return absl::StrCat(
      R"({"type":"Resource","resource":{"name":"memory","target":{"type":"AverageValue",)",
      R"("averageValue":")", average, R"("}}})");
}

std::string FollowingJobs(absl::string_view interval, int cooldown) {
  return absl::StrCat(R"(,"minReplicas":0,"maxReplicas":20,"cadence":{"interval":")", interval,
                      R"("},"cooldownPeriod":)", cooldown,
                      R"(,"triggers":[{"type":"kubernetes-workload","metadata":{"podSelector":)",
                      R"("app=job","value":"2"}}])");
}

std::string AutoscalerText::Json() const {
  const bool own = key.kind == AutoscalerKind::kOwn;
  return absl::StrCat(
      R"({"apiVersion":")", own ? "flyball.dev/v1alpha1" : "autoscaling/v2", R"(","kind":")",
      own ? "Autoscaler" : "HorizontalPodAutoscaler", R"(","metadata":{"namespace":")", key.ns,
      R"(","name":")", key.name, R"(","annotations":{)", annotations,
      R"(}},"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":")",
      target.empty() ? key.name : target, R"("},"metrics":[)", metrics, "]", spec, "}}");
}

ScalerOptions Simulation::ActOnAll() {
  ScalerOptions options;
  options.mode = Mode::kAct;
  options.act_on_hpas = true;
  options.sync_period = absl::Seconds(2);
  options.dialect.gates = {{"HPAConfigurableTolerance", true}};
  return options;
}

Simulation::Simulation(uint32_t seed, ScalerOptions scaler)
    : chance(seed),
      scaler_(std::move(scaler)),
      directory_(adapter::SmallCluster()),
      judge(time, cluster, replicas_,
            MathConfigOf(scaler_.controller, DialectOf(scaler_.dialect, ServerVersion())),
            scaler_) {
  cluster.on_change = [this] {
    for (const auto& replica : replicas_) replica->PumpWatches();
  };
  cluster.on_scale_write = [this](const SimulatedCluster::ScaleWrite& write) {
    judge.OnScaleWrite(write);
  };
}

Simulation::~Simulation() {
  for (const auto& replica : replicas_) replica->Kill();
  time.RunUntil(time.now() + absl::Hours(1));
}

SimulatedReplica& Simulation::AddReplica(int shards) {
  SimulatedReplica::Options options;
  options.index = static_cast<int>(replicas_.size());
  options.election.ns = "flyball";
  options.election.identity = absl::StrCat("flyball-", options.index, "_", chance.Between(0, 999));
  options.election.shards = shards;
  options.scaler = scaler_;
  options.judge = &judge;
  replicas_.push_back(std::make_unique<SimulatedReplica>(
      SimulatedWorld{time, cluster, leases, chance, directory_}, std::move(options)));
  replicas_.back()->Start();
  return *replicas_.back();
}

void Simulation::Run(absl::Duration duration) {
  const absl::Duration end = time.now() + duration;
  while (time.now() < end) {
    time.RunUntil(std::min(end, time.now() + kLook));
    judge.Look();
  }
}

void Simulation::Set(const SimulatedCluster::Target& target, char which,
                     SimulatedCluster::Amount milli) {
  const std::string metric = which == 'c'   ? "cpu"
                             : which == 'm' ? "memory"
                                            : absl::StrCat(std::string(1, which), "-");
  cluster.AmountOf(target, metric).Set(time.now(), milli);
  // A pod has a sample of both or of neither.
  const bool of_pods = which == 'c' || which == 'm';
  if (!of_pods) return;
  Past<SimulatedCluster::Amount>& other = cluster.AmountOf(target, which == 'c' ? "memory" : "cpu");
  if (!milli.has_value()) {
    other.Set(time.now(), milli);
  } else if (other.empty() || !other.latest().has_value()) {
    other.Set(time.now(), which == 'c' ? 10'000 : 500);
  }
}

}  // namespace flyball::scaler
