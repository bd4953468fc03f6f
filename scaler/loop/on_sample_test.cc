// Autoscalers that are decided when a sample comes, on the live source: rules, registry, store and
// loop are those of the program.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "adapter/adapter.h"
#include "adapter/live/live.h"
#include "adapter/live/store/store.h"
#include "scaler/testing/test_world.h"

namespace flyball::scaler {
namespace {

constexpr char kRules[] = R"(
externalRules:
- seriesQuery: 'jobs{namespace!=""}'
  resources: {overrides: {namespace: {resource: namespace}}}
  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>})
- seriesQuery: 'hits_total{namespace!=""}'
  resources: {overrides: {namespace: {resource: namespace}}}
  name: {matches: ^(.*)_total$, as: '${1}_per_second'}
  metricsQuery: sum(rate(<<.Series>>{<<.LabelMatchers>>}[30s]))
)";

constexpr absl::Duration kDebounce = absl::Milliseconds(20);

// Counts what another source is asked.
class CountingSource : public adapter::MetricSource {
 public:
  explicit CountingSource(adapter::MetricSource& source) : source_(source) {}

  absl::StatusOr<std::shared_ptr<const adapter::QueryResult>> Query(
      absl::string_view promql, absl::Time at, absl::Duration timeout) override {
    Count(promql);
    return source_.Query(promql, at, timeout);
  }
  absl::StatusOr<adapter::StandingResult> Ask(adapter::StandingQuery& query, absl::Time at,
                                              absl::Duration timeout) override {
    Count(query.promql);
    return source_.Ask(query, at, timeout);
  }
  absl::StatusOr<std::vector<adapter::SeriesName>> Series(absl::string_view selector,
                                                          absl::Time start,
                                                          absl::Duration timeout) override {
    return source_.Series(selector, start, timeout);
  }
  bool TellsOfSamples() const override { return source_.TellsOfSamples(); }

  // Queries with this text in them.
  int asked(const std::string& text = "") const {
    absl::MutexLock lock(&mutex_);
    int sum = 0;
    for (const auto& [query, count] : asked_) {
      if (absl::StrContains(query, text)) sum += count;
    }
    return sum;
  }

 private:
  void Count(absl::string_view promql) {
    absl::MutexLock lock(&mutex_);
    ++asked_[std::string(promql)];
  }

  adapter::MetricSource& source_;
  mutable absl::Mutex mutex_;
  std::map<std::string, int> asked_ ABSL_GUARDED_BY(mutex_);
};

std::string LiveMetricOf(const std::string& metric, const std::string& app) {
  return absl::StrCat(R"({"type":"External","external":{"metric":{"name":")", metric,
                      R"(","selector":{"matchLabels":{"app":")", app,
                      R"("}}},"target":{"type":"AverageValue","averageValue":"10"}}})");
}

ScalerOptions Options(absl::Duration sync_period) {
  ScalerOptions options;
  options.mode = Mode::kAct;
  options.sync_period = sync_period;
  return options;
}

class LiveWorld {
 public:
  // By default nothing is decided but for a sample.
  explicit LiveWorld(absl::Duration sync_period = absl::Hours(1)) : world(Options(sync_period)) {}
  ~LiveWorld() {
    world.scaler.reset();  // it holds answers
    if (adapter_ != nullptr) adapter_->Stop();
    live_.Stop();
  }

  // At the clock's time.
  void Push(const std::string& metric, const std::string& app, int series, double value) {
    const int64_t now_ms = absl::ToUnixMillis(world.clock.WallNow());
    const absl::Status status = store_.Append(promql::LabelSet{{"__name__", metric},
                                                               {"app", app},
                                                               {"namespace", "shop"},
                                                               {"series", absl::StrCat(series)}},
                                              {now_ms, value}, now_ms);
    ASSERT_TRUE(status.ok()) << status;
  }

  // Returns once `autoscalers` of them were decided once, by what was pushed before.
  void Start(int autoscalers) {
    live_.Start();
    rules::CompileResult rules = rules::CompileRules(kRules, "test.yaml");
    ASSERT_NE(rules.rules, nullptr) << rules.findings.at(0).ToString();
    adapter_ = std::make_unique<adapter::Adapter>(
        adapter::Adapter::Deps{.source = source, .directory = directory_, .clock = world.clock},
        adapter::AdapterOptions{}, rules.rules);
    adapter_->Start();
    ASSERT_TRUE(LoopWorld::Await([&] { return adapter_->ready(); }));
    world.providers = [this] { return adapter_->providers(); };
    world.Start();
    ASSERT_TRUE(LoopWorld::Await(
        [&] {
          // Few are decided before samples are too old, however slow this machine is.
          world.clock.Advance(absl::Milliseconds(autoscalers > 100 ? 200 : 50));
          return world.diary.total() >= autoscalers;
        },
        absl::Seconds(60)));
  }

  // With one autoscaler, of 2 replicas, that follows so many jobs.
  void StartWeb(double jobs) {
    Push("jobs", "web", 0, jobs);
    world.AddDeployment("web", 2);
    world.PutOwn("web", LiveMetricOf("jobs", "web"), R"(,"cadence":{"onSample":true})");
    Start(1);
  }

  // As long as a sample is debounced.
  void Debounce() { world.clock.Advance(kDebounce); }

  LoopWorld world;

 private:
  adapter::FakeDirectory directory_{LoopCluster()};
  live::Store store_;
  adapter::Live live_{store_, world.clock, {.debounce = kDebounce}};

 public:
  CountingSource source{live_};

 private:
  std::unique_ptr<adapter::Adapter> adapter_;
};

TEST(OnSample, ASampleWakesOneOfAThousandAndAsksOneQuery) {
  constexpr int kAutoscalers = 1000, kSeries = 10;
  LiveWorld live;
  LoopWorld& world = live.world;
  for (int i = 0; i < kAutoscalers; ++i) {
    const std::string app = absl::StrCat("app-", i);
    for (int series = 0; series < kSeries; ++series) live.Push("jobs", app, series, 2);
    world.AddDeployment(absl::StrCat("web-", i), 0);
    world.api.Patch(absl::StrCat("/apis/apps/v1/namespaces/shop/deployments/web-", i),
                    R"({"spec":{"replicas":2},"status":{"replicas":2}})");
    world.PutOwn(absl::StrCat("web-", i), LiveMetricOf("jobs", app),
                 R"(,"cadence":{"onSample":true})");
  }
  live.Start(kAutoscalers);
  const int decided = world.diary.total(), asked = live.source.asked();
  EXPECT_EQ(decided, kAutoscalers);

  int rounds = 0;
  for (const int i : {7, 3, 999}) {
    const std::string name = absl::StrCat("web-", i);
    const int before = world.diary.count(name);
    // The others again too: on a slow machine the first ones may be too old by now.
    for (int series = 0; series < kSeries; ++series) {
      live.Push("jobs", absl::StrCat("app-", i), series, series == 4 ? 12 : 2);
    }
    live.Debounce();
    ASSERT_TRUE(world.diary.AwaitCount(name, before + 1, absl::Seconds(30)));
    EXPECT_EQ(world.diary.last(name).decision.desired, 3);
    ++rounds;
    EXPECT_EQ(world.diary.total(), decided + rounds);
    EXPECT_EQ(live.source.asked(), asked + rounds);
  }
  // Samples of what nobody reads, and more of what somebody does: once for all of them.
  live.Push("jobs", "nobody", 0, 1);
  for (int series = 0; series < kSeries; ++series) live.Push("jobs", "app-8", series, 4);
  live.Debounce();
  ASSERT_TRUE(world.diary.AwaitCount("web-8", 2, absl::Seconds(30)));
  EXPECT_EQ(world.diary.last("web-8").decision.desired, 4);
  EXPECT_EQ(world.diary.total(), decided + rounds + 1);
  EXPECT_EQ(live.source.asked(), asked + rounds + 1);
}

TEST(OnSample, IsDecidedEachPeriodWithoutASample) {
  LiveWorld live(absl::Seconds(15));
  LoopWorld& world = live.world;
  live.StartWeb(20);
  const int asked = live.source.asked();
  // Its slots are set at the end of the first decision.
  ASSERT_TRUE(LoopWorld::Await([&] { return world.scaler->stats().queue == 0; }));
  world.clock.Advance(absl::Seconds(15));
  EXPECT_TRUE(world.diary.AwaitCount("web", 2, absl::Seconds(30)));
  EXPECT_EQ(live.source.asked(), asked + 1);
}

// Its own status is such a change.
TEST(OnSample, AChangeOfItsObjectTakesNoSlotAway) {
  LiveWorld live(absl::Seconds(15));
  LoopWorld& world = live.world;
  live.StartWeb(20);
  ASSERT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Milliseconds(10));
    return world.scaler->stats().queue == 0 &&
           absl::StrContains(world.Own("web"), "desiredReplicas");
  }));
  bool decided = false;
  for (int i = 0; i < 149 && !decided; ++i) {  // less than a period
    world.clock.Advance(absl::Milliseconds(100));
    decided = world.diary.AwaitCount("web", 2, absl::Milliseconds(20));
  }
  EXPECT_TRUE(decided || world.diary.AwaitCount("web", 2, absl::Seconds(30)));
}

TEST(OnSample, TriesAWriteThatFailedAgainWithoutASample) {
  LiveWorld live;
  LoopWorld& world = live.world;
  world.api.Inject({.method = "PUT", .part = "/scale", .status = 503});
  live.StartWeb(40);
  EXPECT_EQ(world.api.faults(), 1);
  const auto written = [&world] { return world.Replicas("web") == 4; };
  for (int i = 0; i < 20 && !written(); ++i) {  // far less than a sync period
    LoopWorld::Await([&] { return written() || world.scaler->stats().queue == 0; });
    world.clock.Advance(absl::Milliseconds(200));
  }
  EXPECT_TRUE(LoopWorld::Await(written)) << world.Own("web");
}

TEST(OnSample, TheSameValueAgainDecidesNothing) {
  LiveWorld live;
  LoopWorld& world = live.world;
  live.StartWeb(20);
  for (int i = 1; i < 5; ++i) {
    const int asked = live.source.asked();
    live.Push("jobs", "web", 0, 20);
    ASSERT_TRUE(LoopWorld::Await([&] {
      live.Debounce();
      return live.source.asked() > asked;
    }));
  }
  live.Push("jobs", "web", 0, 40);
  // The question that was asked last may not be answered yet: then the sample is news from the
  // answer on, and is held back from there.
  ASSERT_TRUE(LoopWorld::Await([&] {
    live.Debounce();
    return world.diary.AwaitCount("web", 2, absl::Milliseconds(100));
  }));
  EXPECT_EQ(world.diary.count("web"), 2);
  EXPECT_TRUE(LoopWorld::Await([&] { return world.Replicas("web") == 4; }));
}

// Nothing is held back, so that a decision depends on samples and time alone. The number makes it
// another spec, which is decided at once and from nothing.
std::string BehaviorJson(int number) {
  return absl::StrCat(R"(,"behavior":{"scaleUp":{"tolerance":"0","stabilizationWindowSeconds":0,)",
                      R"("policies":[{"type":"Pods","value":)", 1000 + number,
                      R"(,"periodSeconds":1}]},"scaleDown":{"tolerance":"0",)",
                      R"("stabilizationWindowSeconds":0,"policies":[{"type":"Pods","value":1000,)",
                      R"("periodSeconds":1}]}})");
}

TEST(OnSample, DecidesAsFromNothingOnTheSameSamples) {
  constexpr int kApps = 6, kSeries = 3, kRounds = 60;
  std::mt19937 random(20261124);
  const auto below = [&random](int end) { return static_cast<int>(random() % end); };
  LiveWorld live;
  LoopWorld& world = live.world;
  std::map<std::string, double> hits;
  const auto push = [&](int app, int series) {
    const std::string name = absl::StrCat("app-", app);
    live.Push("jobs", name, series, below(4'000'000) / 65'536.0);
    double& sum = hits[absl::StrCat(name, "/", series)];
    sum = below(8) == 0 ? below(50) : sum + below(900);  // now and then it begins again
    live.Push("hits_total", name, series, sum);
  };
  const auto metrics = [](int app) {
    const std::string name = absl::StrCat("app-", app);
    return app % 2 == 0 ? LiveMetricOf("jobs", name)
                        : absl::StrCat(LiveMetricOf("jobs", name), ",",
                                       LiveMetricOf("hits_per_second", name));
  };
  for (int moment = 0; moment < 2; ++moment) {
    for (int app = 0; app < kApps; ++app) {
      for (int series = 0; series < kSeries; ++series) push(app, series);
    }
    world.clock.Advance(absl::Seconds(1));
  }
  for (int app = 0; app < kApps; ++app) {
    world.AddDeployment(absl::StrCat("sampled-", app), 2);
    world.AddDeployment(absl::StrCat("fresh-", app), 2);
    world.PutOwn(absl::StrCat("sampled-", app), metrics(app),
                 absl::StrCat(R"(,"cadence":{"onSample":true})", BehaviorJson(0)));
    world.PutOwn(absl::StrCat("fresh-", app), metrics(app),
                 absl::StrCat(R"(,"mode":"Shadow","cadence":{"interval":"1h"})", BehaviorJson(0)));
  }
  live.Start(kApps);
  int wanted_changes = 0;
  for (int round = 1; round <= kRounds; ++round) {
    std::map<int, int> touched;  // by app: how often it was decided before
    std::set<std::pair<int, int>> pushed;
    for (int pushes = 1 + below(5); pushes > 0; --pushes) {
      pushed.emplace(below(kApps), below(kSeries));
    }
    for (const auto& [app, series] : pushed) {
      touched.emplace(app, world.diary.count(absl::StrCat("sampled-", app)));
      push(app, series);
    }
    live.Debounce();  // the time of all decisions of this round
    for (const auto& [app, before] : touched) {
      const std::string sampled = absl::StrCat("sampled-", app),
                        fresh = absl::StrCat("fresh-", app);
      ASSERT_TRUE(world.diary.AwaitCount(sampled, before + 1, absl::Seconds(30))) << round;
      const int checked = world.diary.count(fresh);
      world.PutOwn(
          fresh, metrics(app),
          absl::StrCat(R"(,"mode":"Shadow","cadence":{"interval":"1h"})", BehaviorJson(round)));
      ASSERT_TRUE(world.diary.AwaitCount(fresh, checked + 1, absl::Seconds(30))) << round;
      const Decision expected = world.diary.last(fresh).decision;
      ASSERT_EQ(expected.outcome, Outcome::kDecided) << expected.error;
      EXPECT_TRUE(LoopWorld::Await([&] {
        return world.diary.last(sampled).decision.desired == expected.desired &&
               world.Replicas(sampled) == expected.desired;
      })) << "round "
          << round << " " << sampled << ": " << world.diary.last(sampled).decision.desired << ", "
          << world.Replicas(sampled) << ", not " << expected.desired << "; "
          << world.diary.last(sampled).decision.error;
      if (world.diary.last(sampled).decision.rescale) ++wanted_changes;
    }
    world.clock.Advance(absl::Milliseconds(below(2000)));
  }
  EXPECT_GT(wanted_changes, kRounds / 2) << "the streams should ask for other counts";
}

}  // namespace
}  // namespace flyball::scaler
