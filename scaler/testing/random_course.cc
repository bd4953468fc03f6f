#include "scaler/testing/random_course.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace flyball::scaler {
namespace {

constexpr size_t kMostReplicas = 3;
constexpr int kSteps = 18;
constexpr absl::Duration kLongestStep = absl::Seconds(7);
// Longer than a Lease takes to run out and to be taken, and than four periods of additions.
constexpr absl::Duration kPeace = absl::Seconds(90);
constexpr absl::Duration kSlowest = absl::Seconds(6);
constexpr absl::Duration kLongestQueue = absl::Seconds(2);
// Longer than any call, any wait for a thread and any answer together.
const absl::Duration kLongestTrouble = 3 * kSlowest + 2 * kLongestQueue + absl::Seconds(1);
// Longer than a Lease takes to run out and to be taken, twice.
constexpr absl::Duration kLongestFreeze = absl::Seconds(40);

// Until a busy API server opens a watch.
constexpr absl::Duration kLongestOpening = absl::Seconds(20);

ScalerOptions OptionsOf(uint32_t seed) {
  ScalerOptions options = Simulation::ActOnAll();
  if (seed >= RandomCourse::kFirstWithRestarts && seed % 4 >= 2) {
    options.dialect.minor = kNewestMinor;
  }
  return options;
}

const char* const kResources[] = {"pods", "horizontalpodautoscalers", "autoscalers", "deployments"};

}  // namespace

std::vector<RandomCourse::Action> RandomCourse::Actions() const {
  std::vector<Action> actions = {
      {14, &RandomCourse::SetAmount},       {3, &RandomCourse::FailAmount},
      {10, &RandomCourse::EditSpec},        {4, &RandomCourse::Pause},
      {3, &RandomCourse::DeleteAutoscaler}, {3, &RandomCourse::RecreateAutoscaler},
      {2, &RandomCourse::RecreateTarget},   {3, &RandomCourse::ScaleByHand},
      {3, &RandomCourse::DisturbPod},       {5, &RandomCourse::SetJobs},
      {4, &RandomCourse::AddReplica},       {3, &RandomCourse::StopReplica},
      {3, &RandomCourse::KillReplica},      {3, &RandomCourse::ChangeShards},
      {5, &RandomCourse::BreakWatch},       {3, &RandomCourse::HealWatches},
      {4, &RandomCourse::TroubleNetwork},   {4, &RandomCourse::CalmNetwork},
      {3, &RandomCourse::JumpClock}};
  if (frozen_) actions.push_back({8, &RandomCourse::FreezeReplica});
  if (restarts_) actions.push_back({12, &RandomCourse::RestartServer});
  return actions;
}

RandomCourse::RandomCourse(uint32_t seed)
    : restarts_(seed >= kFirstWithRestarts),
      frozen_(seed >= kFirstFrozen && !restarts_),
      sim_(seed, OptionsOf(seed)),
      aside_(seed + 1),
      wide_(frozen_ || restarts_ ? seed % 2 == 1 : seed >= kFirstWide),
      ends_in_peace_(!wide_ && seed % 4 == 0) {
  Chance& chance = sim_.chance;
  // A replica that is frozen for less than its Lease lasts goes on with what it has read.
  if (frozen_) sim_.judge.reading_age = kLongestTrouble + ElectionOptions().renew_deadline;
  shards_ = chance.Between(1, 4);
  const int count = chance.Between(2, 4);
  for (int i = 0; i < count; ++i) {
    keys_.push_back({.kind = chance.Is(0.5) ? AutoscalerKind::kHpa : AutoscalerKind::kOwn,
                     .ns = absl::StrCat("n", chance.Between(0, 5)),
                     .name = absl::StrCat("web", i)});
    const SimulatedCluster::Target target = {keys_.back().ns, keys_.back().name};
    for (const char which : {'a', 'b'}) sim_.Set(target, which, chance.Between(5, 150) * 1000);
    sim_.Set(target, 'c', chance.Between(100, 1000));
    sim_.Set(target, 'm', chance.Between(5, 20) * 1000);
    sim_.cluster.PutDeployment(target, chance.Between(1, 10));
    if (wide_) {
      for (const char which : {'c', 'm'}) {
        sim_.Set(OtherOf(target), which, chance.Between(5, 20) * 100);
      }
      sim_.cluster.PutDeployment(OtherOf(target), chance.Between(1, 10));
    }
    Put(AnySpec(keys_.back()));
  }
  const int replicas = chance.Between(1, 2);
  for (int i = 0; i < replicas; ++i) sim_.AddReplica(shards_);
}

void RandomCourse::Note(std::string what) {
  notes_.push_back(absl::StrCat(absl::FormatDuration(sim_.time.now()), " ", what));
}

const AutoscalerKey& RandomCourse::AnyKey() {
  return keys_[static_cast<size_t>(sim_.chance.Between(0, static_cast<int>(keys_.size()) - 1))];
}

SimulatedCluster::Target RandomCourse::AnyTarget() {
  const AutoscalerKey& key = AnyKey();
  const SimulatedCluster::Target target = {key.ns, key.name};
  return wide_ && sim_.chance.Is(0.2) ? OtherOf(target) : target;
}

size_t RandomCourse::Living() const {
  return static_cast<size_t>(std::count_if(sim_.replicas().begin(), sim_.replicas().end(),
                                           [](const auto& one) { return one->stays(); }));
}

SimulatedReplica* RandomCourse::AnyReplica() {
  std::vector<SimulatedReplica*> living;
  for (const auto& one : sim_.replicas()) {
    if (one->stays()) living.push_back(one.get());
  }
  if (living.empty()) return nullptr;
  return living[static_cast<size_t>(sim_.chance.Between(0, static_cast<int>(living.size()) - 1))];
}

// ---- specs ------------------------------------------------------------------------------------

std::string RandomCourse::AnyMetrics(const AutoscalerKey& key) {
  std::vector<std::string> all = {MetricOf('a', key.name, 10), MetricOf('b', key.name, 10),
                                  CpuOf(50), MemoryOf(10)};
  std::vector<std::string> chosen;
  for (std::string& one : all) {
    if (key.kind == AutoscalerKind::kOwn && sim_.chance.Is(0.2)) {
      one.insert(one.size() - 1, R"(,"fallback":{"keepLast":"1h"})");
    }
    if (sim_.chance.Is(0.35)) chosen.push_back(one);
  }
  if (chosen.empty()) chosen.push_back(all[static_cast<size_t>(sim_.chance.Between(0, 3))]);
  return absl::StrJoin(chosen, ",");
}

// Of one direction.
std::string RandomCourse::AnyRules() {
  Chance& chance = sim_.chance;
  const int windows[] = {0, 5, 10, 30, 60, 300};
  const int periods[] = {1, 15, 30, 60, 600, 1800};
  const char* const selections[] = {"Max", "Min", "Disabled"};
  std::vector<std::string> policies;
  for (int count = chance.Between(1, 3); count > 0; --count) {
    policies.push_back(absl::StrCat(R"({"type":)",
                                    chance.Is(0.5) ? R"("Pods","value":)" : R"("Percent","value":)",
                                    chance.Is(0.5) ? chance.Between(1, 3) : chance.Between(2, 100),
                                    R"(,"periodSeconds":)", periods[chance.Between(0, 5)], "}"));
  }
  std::string rules = absl::StrCat(R"("policies":[)", absl::StrJoin(policies, ","), "]");
  if (chance.Is(0.7)) {
    absl::StrAppend(&rules, R"(,"stabilizationWindowSeconds":)", windows[chance.Between(0, 5)]);
  }
  if (chance.Is(0.5)) {
    absl::StrAppend(&rules, R"(,"selectPolicy":")",
                    selections[chance.Is(0.1) ? 2 : chance.Between(0, 1)], "\"");
  }
  if (chance.Is(0.1)) absl::StrAppend(&rules, R"(,"tolerance":"0.3")");
  return absl::StrCat("{", rules, "}");
}

std::string RandomCourse::AnyBehavior() {
  Chance& chance = sim_.chance;
  if (wide_) {
    const std::string up = chance.Is(0.5) ? absl::StrCat(R"("scaleUp":)", AnyRules()) : "";
    const std::string down = chance.Is(0.8) ? absl::StrCat(R"("scaleDown":)", AnyRules()) : "";
    return absl::StrCat(R"(,"behavior":{)", up, up.empty() || down.empty() ? "" : ",", down, "}");
  }
  const int windows[] = {0, 0, 0, 10, 30};
  const int periods[] = {15, 60, 600};
  std::string down = absl::StrCat(R"("stabilizationWindowSeconds":)", windows[chance.Between(0, 4)],
                                  R"(,"policies":[{"type":)",
                                  chance.Is(0.5) ? R"("Pods","value":)" : R"("Percent","value":)",
                                  chance.Is(0.5) ? 1 : chance.Between(2, 100),
                                  R"(,"periodSeconds":)", periods[chance.Between(0, 2)], "}]");
  if (chance.Is(0.1)) absl::StrAppend(&down, R"(,"tolerance":"0.3")");
  return absl::StrCat(R"(,"behavior":{"scaleDown":{)", down, "}}");
}

// Of one of the first minutes.
std::string RandomCourse::AnySchedule() {
  Chance& chance = sim_.chance;
  const int begin = chance.Between(0, 2);
  return absl::StrCat(R"({"name":"s","start":")", begin, R"( 0 * * *","end":")", begin + 1,
                      R"( 0 * * *",)",
                      chance.Is(0.3)   ? R"("paused":true)"
                      : chance.Is(0.5) ? absl::StrCat(R"("minReplicas":)", chance.Between(1, 9))
                                       : absl::StrCat(R"("maxReplicas":)", chance.Between(4, 20)),
                      "}");
}

AutoscalerText RandomCourse::AnySpec(const AutoscalerKey& key) {
  Chance& chance = sim_.chance;
  AutoscalerText text{.key = key, .metrics = AnyMetrics(key), .spec = "", .annotations = ""};
  if (wide_ && chance.Is(0.2)) text.target = OtherOf({key.ns, key.name}).second;
  const bool triggered = key.kind == AutoscalerKind::kOwn && chance.Is(0.5);
  text.spec =
      absl::StrCat(R"(,"minReplicas":)", triggered ? chance.Between(0, 1) : chance.Between(1, 3),
                   R"(,"maxReplicas":)", chance.Between(10, 20));
  if (triggered) {
    absl::StrAppend(&text.spec, R"(,"cooldownPeriod":)", chance.Between(0, 20),
                    R"(,"triggers":[{"type":"kubernetes-workload","metadata":{"podSelector":")",
                    "app=", JobsOf({key.ns, key.name}).second, R"(","value":"2",)",
                    R"("activationValue":")", chance.Between(0, 3), R"("}}])");
  }
  if (chance.Is(0.8)) text.spec += AnyBehavior();
  const bool own = key.kind == AutoscalerKind::kOwn;
  if (own && chance.Is(0.5)) {
    text.spec += chance.Is(0.2) ? R"(,"cadence":{"onSample":true})"
                                : absl::StrCat(R"(,"cadence":{"interval":")",
                                               chance.Between(5, 50) * 100, R"(ms"})");
  }
  if (chance.Is(0.2)) {
    const std::string schedule = AnySchedule();
    (own ? text.spec : text.annotations) +=
        own ? absl::StrCat(R"(,"schedules":[)", schedule, "]")
            : absl::StrCat(R"("flyball.dev/schedules":")",
                           absl::StrReplaceAll(absl::StrCat("[", schedule, "]"), {{"\"", "\\\""}}),
                           "\"");
  }
  return text;
}

void RandomCourse::Put(const AutoscalerText& text) {
  sim_.cluster.PutAutoscaler(text.Json());
  std::string& target = targets_[text.key];
  if (target == text.target) return;
  target = text.target;
  // Whoever comes later sees the count of this target alone, so it is as if that had been changed.
  const SimulatedCluster::Target first = {text.key.ns, text.key.name};
  sim_.judge.OnForeignScale(first);
  sim_.judge.OnForeignScale(OtherOf(first));
}

void RandomCourse::EditSpec() {
  const AutoscalerKey& key = AnyKey();
  const AutoscalerText text = AnySpec(key);
  Note(absl::StrCat("edit of ", key.ToString(), ": ", text.target, text.metrics, text.spec,
                    text.annotations));
  Put(text);
}

void RandomCourse::Pause() {
  const AutoscalerKey& key = AnyKey();
  AutoscalerText text = AnySpec(key);
  if (key.kind == AutoscalerKind::kOwn) {
    text.spec += sim_.chance.Is(0.5) ? R"(,"paused":true)" : R"(,"mode":"Advise")";
  } else {
    const char* const pauses[] = {R"("flyball.dev/mode":"shadow")",
                                  R"("flyball.dev/mode":"advise")",
                                  R"("flyball.dev/paused-until":"2036-01-01T00:00:00Z")"};
    text.annotations = pauses[sim_.chance.Between(0, 2)];
  }
  Note(absl::StrCat("pause of ", key.ToString(), text.target.empty() ? "" : ": ", text.target));
  Put(text);
}

void RandomCourse::DeleteAutoscaler() {
  const AutoscalerKey& key = AnyKey();
  Note(absl::StrCat("end of ", key.ToString()));
  sim_.cluster.DeleteAutoscaler(key);
}

void RandomCourse::RecreateAutoscaler() {
  const AutoscalerKey& key = AnyKey();
  Note(absl::StrCat("recreation of ", key.ToString()));
  sim_.cluster.RecreateAutoscaler(key);
}

// ---- targets and amounts ----------------------------------------------------------------------

void RandomCourse::SetAmount() {
  const SimulatedCluster::Target target = AnyTarget();
  const char which = "abcm"[sim_.chance.Between(0, 3)];
  const int amount = which == 'c'   ? sim_.chance.Between(50, 1500)
                     : which == 'm' ? sim_.chance.Between(1, 25) * 1000
                                    : sim_.chance.Between(5, 150) * 1000;
  Note(absl::StrCat(std::string(1, which), " of ", target.second, " is ", amount));
  sim_.Set(target, which, amount);
}

void RandomCourse::FailAmount() {
  const SimulatedCluster::Target target = AnyTarget();
  const char which = "abcm"[sim_.chance.Between(0, 3)];
  Note(absl::StrCat(std::string(1, which), " of ", target.second, " fails"));
  sim_.Set(target, which, std::nullopt);
}

void RandomCourse::RecreateTarget() {
  const SimulatedCluster::Target target = AnyTarget();
  Note(absl::StrCat("recreation of the target ", target.second));
  sim_.judge.OnForeignScale(target);
  sim_.cluster.DeleteDeployment(target);
  if (sim_.chance.Is(0.3)) sim_.Run(sim_.chance.UpTo(absl::Seconds(4)));
  sim_.cluster.PutDeployment(target, sim_.chance.Between(1, 10));
}

void RandomCourse::ScaleByHand() {
  const SimulatedCluster::Target target = AnyTarget();
  const int replicas = sim_.chance.Between(1, 12);
  Note(absl::StrCat(target.second, " is scaled to ", replicas, " by hand"));
  sim_.judge.OnForeignScale(target);
  sim_.cluster.Scale(target, replicas);
}

// What the trigger of an autoscaler counts.
void RandomCourse::SetJobs() {
  const SimulatedCluster::Target target = AnyTarget();
  const int jobs = sim_.chance.Is(0.5) ? 0 : sim_.chance.Between(1, 8);
  Note(absl::StrCat(target.second, " has ", jobs, " jobs"));
  sim_.cluster.PutDeployment(JobsOf(target), jobs);
}

void RandomCourse::DisturbPod() { sim_.cluster.DisturbPod(AnyTarget()); }

// ---- replicas ---------------------------------------------------------------------------------

void RandomCourse::AddReplica() {
  if (Living() >= kMostReplicas) return StopReplica();
  const SimulatedReplica& replica = sim_.AddReplica(shards_);
  Note(absl::StrCat("replica ", replica.options().index, " comes, ", shards_, " shards"));
}

void RandomCourse::StopReplica() {
  SimulatedReplica* replica = AnyReplica();
  if (replica == nullptr) return;
  Note(absl::StrCat("replica ", replica->options().index, " stops"));
  replica->Stop();
}

void RandomCourse::KillReplica() {
  SimulatedReplica* replica = AnyReplica();
  if (replica == nullptr) return;
  Note(absl::StrCat("replica ", replica->options().index, " is killed"));
  replica->Kill();
}

void RandomCourse::FreezeReplica() {
  SimulatedReplica* replica = AnyReplica();
  if (replica == nullptr) return;
  const absl::Duration duration = sim_.chance.UpTo(kLongestFreeze);
  Note(absl::StrCat("replica ", replica->options().index, " is frozen for ",
                    absl::FormatDuration(duration)));
  replica->Freeze();
  sim_.time.At(sim_.time.now() + duration, [replica] { replica->Thaw(); });
}

void RandomCourse::ChangeShards() {
  shards_ = sim_.chance.Between(1, 4);
  AddReplica();
}

void RandomCourse::JumpClock() {
  SimulatedReplica* replica = AnyReplica();
  if (replica == nullptr) return;
  const int seconds =
      sim_.chance.Is(0.5) ? sim_.chance.Between(-60, 60) : sim_.chance.Between(-100000, 100000);
  Note(absl::StrCat("the clock of replica ", replica->options().index, " jumps by ", seconds));
  replica->JumpWall(absl::Seconds(seconds));
  sim_.judge.clocks_differ = true;
}

// ---- connections ------------------------------------------------------------------------------

void RandomCourse::BreakWatch() {
  SimulatedReplica* replica = AnyReplica();
  if (replica == nullptr) return;
  const char* resource = kResources[sim_.chance.Between(0, 3)];
  Note(absl::StrCat("replica ", replica->options().index, " loses its watch of ", resource));
  replica->BreakWatch(resource, absl::UnavailableError("connection reset"));
}

// The draws of this are its own, so that the courses stay what they were without it.
void RandomCourse::CloseWatch() {
  if (sim_.replicas().empty() || !aside_.Is(0.25)) return;
  const auto& replica = sim_.replicas()[static_cast<size_t>(
      aside_.Between(0, static_cast<int>(sim_.replicas().size()) - 1))];
  const char* resource = kResources[aside_.Between(0, 3)];
  const absl::Duration duration = aside_.UpTo(aside_.Is(0.5) ? absl::Seconds(1) : kLongestOpening);
  Note(absl::StrCat("the watch of ", resource, " of replica ", replica->options().index,
                    " ends well, the next one opens after ", absl::FormatDuration(duration)));
  replica->CloseWatch(resource, duration);
}

void RandomCourse::HealWatches() {
  for (const auto& replica : sim_.replicas()) {
    for (const char* resource : kResources) {
      if (replica->WatchIsBroken(resource)) replica->HealWatch(resource, sim_.chance.Is(0.5));
    }
  }
  Note("watches work again");
}

void RandomCourse::TroubleNetwork() {
  SimulatedReplica* replica = AnyReplica();
  if (replica == nullptr) return;
  ++troubles_;
  if (!frozen_) sim_.judge.reading_age = kLongestTrouble;
  Chance& chance = sim_.chance;
  SimulatedNetwork& network = chance.Is(0.7) ? replica->network : replica->metrics_network;
  network = {.slow = chance.Is(0.7) ? 0.3 : 0.0,
             .slow_delay = chance.UpTo(kSlowest),
             .refused = chance.Is(0.3) ? chance.Between(1, 10) / 10.0 : 0.0,
             .lost = chance.Is(0.5) ? 0.3 : 0.0,
             .repeated = chance.Is(0.3) ? 0.3 : 0.0};
  if (wide_ && chance.Is(0.3)) network.throttled = chance.Between(1, 9) / 10.0;
  if (chance.Is(0.5)) replica->longest_queue = chance.UpTo(kLongestQueue);
  Note(absl::StrCat("trouble for replica ", replica->options().index, ": slow ", network.slow,
                    " up to ", absl::FormatDuration(network.slow_delay), ", refused ",
                    network.refused, ", lost ", network.lost, ", repeated ", network.repeated,
                    ", queue ", absl::FormatDuration(replica->longest_queue)));
}

// Fewer wrong answers in a row than there are tries to read what an earlier owner has saved: whoever
// may not read it begins without it.
void RandomCourse::RestartServer() {
  SimulatedReplica* replica = AnyReplica();
  if (replica == nullptr || !had_wrong_answers_.insert(replica->options().index).second) return;
  replica->network.failing_late = aside_.Between(0, 2);
  replica->network.forbidden = aside_.Between(0, 3);
  Note(absl::StrCat("wrong answers for replica ", replica->options().index, ": ",
                    replica->network.failing_late, " late failures, then ",
                    replica->network.forbidden, " times forbidden"));
}

void RandomCourse::CalmNetwork() {
  for (const auto& replica : sim_.replicas()) {
    replica->network = replica->metrics_network = {};
    replica->longest_queue = absl::ZeroDuration();
  }
  Note("calm");
  // What was on its way then may still be written.
  sim_.time.At(sim_.time.now() + kLongestTrouble, [this, troubles = troubles_] {
    if (troubles == troubles_ && !frozen_) sim_.judge.reading_age = absl::Seconds(1);
  });
}

// ---- the whole --------------------------------------------------------------------------------

void RandomCourse::MakePeace() {
  CalmNetwork();
  HealWatches();
  for (const auto& replica : sim_.replicas()) replica->Thaw();
  for (const auto& replica : sim_.replicas()) {
    if (replica->stays() && replica->options().election.shards != shards_) replica->Stop();
  }
  for (const AutoscalerKey& key : keys_) {
    const SimulatedCluster::Target target = {key.ns, key.name};
    for (const char which : {'a', 'b'}) sim_.Set(target, which, sim_.chance.Between(30, 90) * 1000);
    sim_.Set(target, 'c', 500);
    sim_.Set(target, 'm', 10'000);
    sim_.cluster.PutDeployment(JobsOf(target), 4);  // that make any trigger active
  }
  if (Living() == 0) AddReplica();
  Note("peace");
}

// Whoever should have grown has.
std::string RandomCourse::CheckPeace() {
  for (const AutoscalerKey& key : keys_) {
    const std::optional<int32_t> wanted = sim_.judge.Wanted(key);
    const int replicas = sim_.cluster.Replicas({key.ns, key.name});
    if (wanted.has_value() && *wanted > replicas) {
      return absl::StrCat(key.ToString(), " has ", replicas, " replicas in the end, not ", *wanted,
                          "\n", sim_.judge.LastDecisions(key));
    }
  }
  return "";
}

std::string RandomCourse::Run() {
  int weights = 0;
  const std::vector<Action> actions = Actions();
  for (const Action& action : actions) weights += action.weight;
  sim_.Run(absl::Seconds(8));
  for (int step = 0; step < kSteps && sim_.judge.wrong().empty(); ++step) {
    CloseWatch();
    int draw = sim_.chance.Between(1, weights);
    for (const Action& action : actions) {
      draw -= action.weight;
      if (draw > 0) continue;
      (this->*action.act)();
      break;
    }
    if (sim_.chance.Is(0.2)) continue;  // two things at once
    sim_.Run(sim_.chance.UpTo(kLongestStep));
  }
  const bool peace = ends_in_peace_ && sim_.judge.wrong().empty();
  if (peace) {
    MakePeace();
    sim_.Run(kPeace);
  }
  // What a schedule paused until a moment ago takes as long once more.
  if (peace && !CheckPeace().empty()) sim_.Run(kPeace);
  std::string out = absl::StrJoin(sim_.judge.wrong(), "\n");
  if (out.empty() && peace) out = CheckPeace();
  if (out.empty()) return "";
  return absl::StrCat(out, "\n", absl::StrJoin(notes_, "\n"), "\n");
}

}  // namespace flyball::scaler
