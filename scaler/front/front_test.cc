// One thing after the other, where the order is known; any order is front_course_test.cc.
#include "scaler/front/front.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"

namespace flyball::front {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

constexpr char kWeb[] = "shop/web";

absl::Time At(double seconds) { return absl::FromUnixSeconds(5000) + absl::Seconds(seconds); }

// What is told, as words.
class Recorder : public DataPath, public FrontObserver {
 public:
  void Put(Resource resource, uint64_t version) override {
    const ResourceKind kind = KindOf(resource);
    versions[kind] = version;
    if (kind == ResourceKind::kEndpoints) {
      Note("endpoints ", std::get<EndpointsResource>(resource).addresses.size());
    } else if (kind == ResourceKind::kRoute) {
      Note("gate ", std::get<RouteResource>(resource).gated ? "on" : "off");
    } else if (kind == ResourceKind::kListener) {
      ++listeners[ServiceOf(resource)];
    } else if (kind == ResourceKind::kHostRoute) {
      hosts[ServiceOf(resource)] = std::get<HostRouteResource>(resource);
    }
  }
  void Remove(ResourceKind kind, const std::string& service) override {
    Note("remove");
    if (kind == ResourceKind::kHostRoute) hosts.erase(service);
  }
  void BeginServing(const std::vector<std::string>& kept) override {
    for (const std::string& service : kept) Note("keep ", service);
    Note("serve");
  }
  void Release(RequestId id, std::optional<std::string> pod) override {
    Note("release ", id, pod.has_value() ? " to " : "", pod.value_or(""));
  }
  void Refuse(RequestId id, const Refusal& refusal) override {
    Note("refuse ", id, " ", front::NameOf(refusal.reason), refusal.word.empty() ? "" : " ",
         refusal.word);
  }
  void WishScale(const std::string&, int32_t at_least) override { Note("wish ", at_least); }
  void OfferZero(const std::string&) override { Note("offer zero"); }
  void DesiredChanged(const std::string&) override {}
  void StartProbe(const std::string&, const std::string& uid, const std::string&) override {
    Note("probe ", uid);
  }
  void WakeAt(absl::Time) override {}
  void Tell(const Notice& notice) override {
    if (notice.kind == NoticeKind::kFrontNotReady) Note(notice.text);
  }
  void Tell(const std::string&, const ColdStart& parts) override { cold_start = parts; }

  template <typename... Words>
  void Note(const Words&... words) {
    said.push_back(absl::StrCat(words...));
  }
  std::vector<std::string> Take() { return std::exchange(said, {}); }

  std::vector<std::string> said;
  std::map<ResourceKind, uint64_t> versions;
  std::map<std::string, int> listeners;  // how often each was put
  std::map<std::string, HostRouteResource> hosts;
  ColdStart cold_start;
};

class FrontTest : public testing::Test {
 protected:
  FrontTest() {
    spec_.name = kWeb;
    spec_.port = 20000;
    spec_.settings.stable_window = absl::Seconds(6);
  }
  void Begin(int32_t replicas, const std::vector<PodView>& pods) {
    front_.AddService(spec_, replicas, pods, At(0));
    front_.BeginServing(At(0));
  }
  void AckAll(const NodeId& node, double at) {
    const auto versions = told_.versions;
    for (const auto& [kind, version] : versions) front_.OnAck(node, kind, kWeb, version, At(at));
  }
  // These are all to which the cluster leads requests.
  void ConnectAll(const std::set<NodeId>& nodes, bool returning, double at) {
    front_.SetEnvoys(nodes, At(0));
    for (const NodeId& node : nodes) {
      front_.OnEnvoy(node, returning, At(at));
      AckAll(node, at);
    }
  }
  void Report(const NodeId& node, double active, double at) {
    const ServiceLoad load{.service = kWeb, .active = active, .upstream_active = active};
    front_.OnLoad(node, {load}, At(at));
  }
  static PodView Pod(const std::string& uid, bool running, bool ready) {
    return {.uid = uid, .address = "10.0.0." + uid + ":80", .running = running, .ready = ready};
  }

  HttpService spec_;
  Recorder told_;
  Front front_{FrontOptions{.first_version = 100}, told_, told_};
};

TEST_F(FrontTest, AColdStartWaitsForProbeAndAcknowledgement) {
  Begin(0, {});
  front_.OnEnvoy("a", false, At(1));
  AckAll("a", 1);
  EXPECT_THAT(told_.Take(), ElementsAre("gate on", "endpoints 0", "serve"));
  front_.OnRequest(1, "a", kWeb, At(2));
  EXPECT_THAT(told_.Take(), ElementsAre("wish 1"));
  front_.ScaleWritten(kWeb, 1, At(2.1));
  front_.SetPods(kWeb, {Pod("7", true, false)}, At(3));
  EXPECT_THAT(told_.Take(), ElementsAre("probe 7"));
  front_.Probed(kWeb, "7", ProbeResult::kRefused, At(3.001));
  EXPECT_THAT(told_.Take(), IsEmpty());
  EXPECT_EQ(front_.Advance(At(3.002)), At(3.005));
  front_.Advance(At(3.005));
  EXPECT_THAT(told_.Take(), ElementsAre("probe 7"));
  front_.Probed(kWeb, "7", ProbeResult::kPassed, At(3.5));
  EXPECT_THAT(told_.Take(), ElementsAre("endpoints 1"));
  AckAll("a", 3.505);
  EXPECT_THAT(told_.Take(), ElementsAre("release 1"));
  EXPECT_EQ(told_.cold_start.total, absl::Milliseconds(1505));
  EXPECT_EQ(told_.cold_start.write, absl::Milliseconds(100));
  EXPECT_EQ(told_.cold_start.pod, absl::Milliseconds(900));
  EXPECT_EQ(told_.cold_start.probe, absl::Milliseconds(500));
  EXPECT_EQ(told_.cold_start.ack, absl::Milliseconds(5));
  front_.Advance(At(5.6));  // two seconds after it was open
  EXPECT_THAT(told_.Take(), ElementsAre("gate off"));
}

TEST_F(FrontTest, AContainerThatStartsAnewHasToPassAgain) {
  Begin(0, {});
  front_.OnEnvoy("a", false, At(1));
  AckAll("a", 1);
  front_.OnRequest(1, "a", kWeb, At(2));
  front_.SetPods(kWeb, {Pod("7", true, false)}, At(3));
  front_.Probed(kWeb, "7", ProbeResult::kPassed, At(3.1));
  AckAll("a", 3.2);
  EXPECT_THAT(told_.Take(), Contains("release 1"));
  PodView pod = Pod("7", false, false);  // it waits for its next start
  front_.SetPods(kWeb, {pod}, At(4));
  EXPECT_THAT(told_.Take(), Contains("endpoints 0"));
  pod.running = true;
  pod.restarts = 1;
  front_.OnRequest(2, "a", kWeb, At(5));
  front_.SetPods(kWeb, {pod}, At(6));
  front_.Probed(kWeb, "7", ProbeResult::kPassed, At(6.1));
  AckAll("a", 6.2);
  EXPECT_THAT(told_.Take(), Contains("release 2"));
  pod.restarts = 2;  // it ended and started between two looks
  front_.SetPods(kWeb, {pod}, At(7));
  EXPECT_THAT(told_.Take(), Contains("endpoints 0"));
}

TEST_F(FrontTest, AProbeOfTheRunBeforeSaysNothingOfThisOne) {
  Begin(0, {});
  front_.OnEnvoy("a", false, At(1));
  AckAll("a", 1);
  front_.OnRequest(1, "a", kWeb, At(2));
  PodView pod = Pod("7", true, false);
  front_.SetPods(kWeb, {pod}, At(3));
  pod.restarts = 1;
  front_.SetPods(kWeb, {pod}, At(3.1));
  told_.Take();
  front_.Probed(kWeb, "7", ProbeResult::kPassed, At(3.2));  // by the container that has ended
  EXPECT_THAT(told_.Take(), ElementsAre("probe 7"));
  front_.Probed(kWeb, "7", ProbeResult::kPassed, At(3.3));
  EXPECT_THAT(told_.Take(), ElementsAre("endpoints 1"));
}

TEST_F(FrontTest, ManyPodsAreProbedLessOften) {
  Begin(0, {});
  front_.OnRequest(1, "a", kWeb, At(2));
  std::vector<PodView> pods;
  for (int i = 10; i < 30; ++i) pods.push_back(Pod(absl::StrCat(i), true, false));
  front_.SetPods(kWeb, pods, At(3));
  for (const PodView& pod : pods) front_.Probed(kWeb, pod.uid, ProbeResult::kRefused, At(3.001));
  told_.Take();
  EXPECT_EQ(front_.Advance(At(3.002)), At(3.025));
}

TEST_F(FrontTest, AThousandAtZeroWishForWhatTheyNeedAfterATenthOfASecond) {
  Begin(0, {});
  for (RequestId id = 1; id <= 1000; ++id) front_.OnRequest(id, "a", kWeb, At(2.05));
  told_.Take();
  front_.Advance(At(2.15));
  EXPECT_THAT(told_.Take(), ElementsAre("wish 15"));
  EXPECT_EQ(front_.Snapshot(kWeb)->wanted, (WantedCount{.known = true, .count = 15}));
}

TEST_F(FrontTest, ACrowdThatComesSlowlyIsCountedAgain) {
  Begin(0, {});
  for (RequestId id = 1; id <= 100; ++id) front_.OnRequest(id, "a", kWeb, At(2.05));
  front_.Advance(At(2.15));
  told_.Take();
  for (RequestId id = 101; id <= 1000; ++id) front_.OnRequest(id, "a", kWeb, At(2.2));
  EXPECT_EQ(front_.Advance(At(2.25)), At(2.3));
  EXPECT_THAT(told_.Take(), IsEmpty());
  front_.Advance(At(2.3));
  EXPECT_THAT(told_.Take(), ElementsAre("wish 15"));
}

TEST_F(FrontTest, ACrowdIsLetGoInBursts) {
  const auto bursts = [this](const std::vector<PodView>& pods, bool h2c) {
    Front front(FrontOptions(), told_, told_);
    spec_.h2c = h2c;
    front.AddService(spec_, 1, pods, At(0));
    front.BeginServing(At(0));
    front.OnEnvoy("a", false, At(1));
    for (RequestId id = 1; id <= 600; ++id) front.OnRequest(id, "a", kWeb, At(2));
    const uint64_t endpoints = told_.versions[ResourceKind::kEndpoints];
    front.OnAck("a", ResourceKind::kEndpoints, kWeb, endpoints, At(2.5));
    std::vector<int64_t> sizes = {600 - front.Snapshot(kWeb)->held};
    absl::Time next = front.Advance(At(2.5));
    while (front.Snapshot(kWeb)->held > 0 && next < At(2.7)) {
      const int64_t before = front.Snapshot(kWeb)->held;
      next = front.Advance(next);
      sizes.push_back(before - front.Snapshot(kWeb)->held);
    }
    return sizes;
  };
  EXPECT_THAT(bursts({Pod("7", true, true)}, false), ElementsAre(256, 256, 88));
  EXPECT_THAT(bursts({Pod("7", true, true), Pod("8", true, true)}, false), ElementsAre(512, 88));
  EXPECT_THAT(bursts({Pod("7", true, true)}, /*h2c=*/true), ElementsAre(600));
}

TEST_F(FrontTest, WhoWaitsForItsBurstIsNotTooLate) {
  spec_.activation_timeout = absl::Seconds(1);
  Begin(0, {});
  front_.OnEnvoy("a", false, At(1));
  AckAll("a", 1);
  for (RequestId id = 1; id <= 600; ++id) front_.OnRequest(id, "a", kWeb, At(2));
  front_.SetPods(kWeb, {Pod("7", true, true)}, At(2.9));
  front_.Probed(kWeb, "7", ProbeResult::kPassed, At(2.9));
  AckAll("a", 2.95);
  told_.Take();
  absl::Time next = front_.Advance(At(2.95));
  while (front_.Snapshot(kWeb)->held > 0 && next < At(4)) next = front_.Advance(next);
  EXPECT_THAT(told_.Take(), Not(Contains(StartsWith("refuse"))));
}

TEST_F(FrontTest, WhoWaitsForItsBurstIsRefusedWhenItsServiceGoes) {
  Begin(1, {});
  front_.OnEnvoy("a", false, At(1));
  AckAll("a", 1);
  for (RequestId id = 1; id <= 600; ++id) front_.OnRequest(id, "a", kWeb, At(2));
  front_.SetPods(kWeb, {Pod("7", true, true)}, At(2.4));
  AckAll("a", 2.5);
  ASSERT_EQ(front_.Snapshot(kWeb)->held, 600 - 256);
  told_.Take();
  front_.RemoveService(kWeb, At(2.51));
  EXPECT_THAT(told_.Take(), Contains(StartsWith("refuse")).Times(600 - 256));
}

TEST_F(FrontTest, TheGateIsOnBeforeTheLastEndpointGoes) {
  Begin(1, {Pod("7", true, true)});
  EXPECT_THAT(told_.Take(), ElementsAre("endpoints 1", "gate off", "serve"));
  front_.SetPods(kWeb, {}, At(3));
  EXPECT_THAT(told_.Take(), ElementsAre("wish 1", "gate on", "endpoints 0"));
}

TEST_F(FrontTest, TheGateStaysOnWhileAnEnvoyLacksTheEndpoints) {
  Begin(1, {});
  front_.OnEnvoy("a", true, At(1));
  AckAll("a", 1);
  told_.Take();
  front_.SetPods(kWeb, {Pod("7", true, true)}, At(2));
  front_.Advance(At(3));
  EXPECT_EQ(front_.Snapshot(kWeb)->state, ServiceState::kOpen);
  front_.OnRequest(1, "a", kWeb, At(4));
  front_.Advance(At(5.5));
  EXPECT_THAT(told_.Take(), ElementsAre("endpoints 1"));  // neither released nor ungated
  AckAll("a", 6);
  EXPECT_THAT(told_.Take(), ElementsAre("gate off", "release 1"));
}

TEST_F(FrontTest, ZeroWaitsForTheGateAndForTwoReportsOfNone) {
  Begin(1, {Pod("7", true, true)});
  front_.OnEnvoy("a", true, At(1));
  AckAll("a", 1);
  told_.Take();
  EXPECT_FALSE(front_.MayEnterZero(kWeb, At(5)));  // open for less than a stable window
  EXPECT_THAT(told_.Take(), IsEmpty());
  Report("a", 0, 6.5);
  EXPECT_FALSE(front_.MayEnterZero(kWeb, At(7)));
  EXPECT_THAT(told_.Take(), ElementsAre("gate on"));
  Report("a", 0, 7.1);
  Report("a", 0, 7.2);
  Report("a", 0, 7.3);
  EXPECT_FALSE(front_.MayEnterZero(kWeb, At(7.4)));  // the gate is not acknowledged
  AckAll("a", 7.5);
  Report("a", 1, 7.6);
  Report("a", 0, 7.7);
  EXPECT_FALSE(front_.MayEnterZero(kWeb, At(7.8)));
  Report("a", 0, 7.9);
  EXPECT_THAT(told_.Take(), ElementsAre("offer zero"));
  EXPECT_TRUE(front_.MayEnterZero(kWeb, At(8)));
  EXPECT_THAT(told_.Take(), ElementsAre("endpoints 0"));
  front_.OnRequest(1, "a", kWeb, At(8.1));  // the pod of before is about to go
  EXPECT_THAT(told_.Take(), ElementsAre("wish 1"));
}

// It serves on with what it was told last, and nobody here sees its requests.
TEST_F(FrontTest, AnEnvoyThatIsCutOffKeepsTheCountUntilItsPodIsNotReady) {
  spec_.settings.target = spec_.settings.total = 1;
  Begin(2, {Pod("7", true, true), Pod("8", true, true)});
  ConnectAll({"a", "b"}, /*returning=*/true, 0.1);
  const auto pass = [this](int from, int to, double at_b) {
    for (int quarter = 4 * from; quarter < 4 * to; ++quarter) {
      Report("a", 0, quarter / 4.0);
      if (at_b >= 0) Report("b", at_b, quarter / 4.0);
      front_.Advance(At(quarter / 4.0));
    }
  };
  pass(1, 12, 2);
  ASSERT_EQ(front_.Snapshot(kWeb)->wanted, (WantedCount{.known = true, .count = 2}));
  front_.OnEnvoyGone("b", At(12));
  pass(12, 60, -1);
  EXPECT_EQ(front_.Snapshot(kWeb)->wanted, (WantedCount{.known = true, .count = 2}));
  EXPECT_EQ(front_.Snapshot(kWeb)->not_ready,
            "Envoy b takes requests but reports no load: nothing is made smaller.");
  front_.MayEnterZero(kWeb, At(60));
  AckAll("a", 60);
  pass(61, 62, -1);
  EXPECT_FALSE(front_.MayEnterZero(kWeb, At(62)));
  front_.SetEnvoys({"a"}, At(62));
  EXPECT_TRUE(front_.MayEnterZero(kWeb, At(62.1)));
}

// As it was until then: where its requests are not seen they are not few.
TEST_F(FrontTest, ACountFallsOnlyOnceAWholeWindowHasBeenSeen) {
  spec_.settings.target = spec_.settings.total = 1;
  Begin(2, {Pod("7", true, true), Pod("8", true, true)});
  ConnectAll({"a", "b"}, /*returning=*/true, 0.1);
  for (int quarter = 4; quarter < 120; ++quarter) {
    const double at = quarter / 4.0;
    if (quarter == 48) front_.OnEnvoyGone("b", At(at));
    if (quarter == 80) front_.OnEnvoy("b", true, At(at));
    Report("a", 0, at);
    if (quarter < 48 || quarter >= 80) Report("b", 2, at);
    front_.Advance(At(at));
    if (quarter <= 32) continue;
    EXPECT_EQ(front_.Snapshot(kWeb)->wanted.count, 2) << at;
  }
}

// Nothing that is recorded in between says that there were none.
TEST_F(FrontTest, ACountDoesNotFallBecauseAllEnvoysWereCutOff) {
  spec_.settings.target = spec_.settings.total = 1;
  Begin(2, {Pod("7", true, true), Pod("8", true, true)});
  ConnectAll({"a"}, /*returning=*/true, 0.1);
  for (int quarter = 4; quarter < 200; ++quarter) {
    const double at = quarter / 4.0;
    if (quarter == 48) front_.OnEnvoyGone("a", At(at));
    if (quarter == 64) front_.OnEnvoy("a", true, At(at));
    if (quarter < 48 || quarter >= 64) Report("a", 2, at);
    front_.Advance(At(at));
    if (quarter <= 32) continue;
    EXPECT_EQ(front_.Snapshot(kWeb)->wanted.count, 2) << at;
  }
}

// What comes after a gap is at first a second or two, which may happen to be quiet ones.
TEST_F(FrontTest, AfterSecondsThatNobodyReportedACountFallsOnlyAfterAWindow) {
  spec_.settings.target = spec_.settings.total = 1;
  spec_.settings.stable_window = absl::Seconds(60);
  Begin(4, {Pod("7", true, true), Pod("8", true, true), Pod("9", true, true)});
  front_.OnEnvoy("a", true, At(0.5));
  AckAll("a", 0.6);
  const auto pass = [this](int from, int to, double active) {
    for (int quarter = 4 * from; quarter < 4 * to; ++quarter) {
      if (active >= 0) Report("a", active, quarter / 4.0);
      front_.Advance(At(quarter / 4.0));
    }
    return front_.Snapshot(kWeb)->wanted;
  };
  EXPECT_EQ(pass(1, 130, 4), (WantedCount{.known = true, .count = 4}));
  EXPECT_FALSE(pass(130, 160, -1).known);
  EXPECT_EQ(pass(160, 210, 1), (WantedCount{.known = true, .count = 4}));
  EXPECT_EQ(pass(210, 230, 1), (WantedCount{.known = true, .count = 1}));
}

// Nobody sees the seconds in which the process does not run, and the windows count them as zeros.
TEST_F(FrontTest, ACountDoesNotFallBecauseTheProcessStoodStill) {
  spec_.settings.target = spec_.settings.total = 1;
  std::vector<PodView> pods;
  for (int i = 1; i <= 4; ++i) pods.push_back(Pod(absl::StrCat(i), true, true));
  Begin(4, pods);
  front_.OnEnvoy("a", true, At(0.1));
  AckAll("a", 0.1);
  for (int quarter = 4; quarter < 4 * 112; ++quarter) {
    const double at = quarter / 4.0;
    if (at > 100.75 && at < 103.25) continue;
    Report("a", 4, at);
    front_.Advance(At(at));
    EXPECT_EQ(front_.Snapshot(kWeb)->wanted.count, 4) << at;
  }
}

// The Envoys connect again one after the other, and those that serve on meanwhile report nothing.
TEST_F(FrontTest, AfterARestartACountDoesNotFallOnPartOfTheLoad) {
  spec_.settings.target = spec_.settings.total = 1;
  spec_.settings.stable_window = absl::Seconds(60);
  Begin(6, {Pod("1", true, true)});
  front_.OnEnvoy("a", true, At(0.1));
  AckAll("a", 0.1);
  const auto pass = [this](int from, int to, double at_a, double at_b) {
    std::set<int32_t> wanted;
    for (int quarter = 4 * from; quarter < 4 * to; ++quarter) {
      const double at = quarter / 4.0;
      Report("a", at_a, at);
      if (at_b >= 0) Report("b", at_b, at);
      front_.Advance(At(at));
      wanted.insert(front_.Snapshot(kWeb)->wanted.count);
    }
    return wanted;
  };
  EXPECT_THAT(pass(1, 5, 2, -1), ElementsAre(6));
  std::vector<PodView> pods;
  for (int i = 1; i <= 6; ++i) pods.push_back(Pod(absl::StrCat(i), true, true));
  front_.SetPods(kWeb, pods, At(5));
  front_.OnEnvoy("b", true, At(5));
  AckAll("b", 5);
  EXPECT_THAT(pass(5, 100, 2, 4), ElementsAre(6));
  pass(100, 170, 3, 0);
  EXPECT_THAT(pass(170, 180, 3, 0), ElementsAre(3));
}

TEST_F(FrontTest, ACountDoesNotFallBeforeALongerWindowHasBeenSeen) {
  spec_.settings.target = spec_.settings.total = 1;
  std::vector<PodView> pods;
  for (int i = 1; i <= 6; ++i) pods.push_back(Pod(absl::StrCat(i), true, true));
  Begin(6, pods);
  front_.OnEnvoy("a", true, At(0.1));
  AckAll("a", 0.1);
  const auto pass = [this](int from, int to) {
    std::set<int32_t> wanted;
    for (int quarter = 4 * from; quarter < 4 * to; ++quarter) {
      Report("a", 3, quarter / 4.0);
      front_.Advance(At(quarter / 4.0));
      wanted.insert(front_.Snapshot(kWeb)->wanted.count);
    }
    return wanted;
  };
  EXPECT_THAT(pass(1, 3), ElementsAre(6));
  spec_.settings.stable_window = absl::Seconds(60);
  front_.ChangeService(spec_, At(3));
  AckAll("a", 3);
  EXPECT_THAT(pass(3, 60), ElementsAre(6));
  pass(60, 63);
  EXPECT_THAT(pass(63, 70), ElementsAre(3));
}

TEST_F(FrontTest, AnActivationThatNeverEndsIsGivenUpIfNobodyWaits) {
  Begin(0, {});
  front_.OnEnvoy("a", false, At(0.5));
  AckAll("a", 0.5);
  front_.OnRequest(1, "a", kWeb, At(1));
  front_.ScaleWritten(kWeb, 1, At(1.1));
  front_.SetPods(kWeb, {Pod("7", true, false)}, At(2));
  int late_probes = 0;
  absl::Time due = At(2);
  for (double at = 2; at < 800; at += 0.005) {
    if (At(at) < due) continue;
    due = front_.Advance(At(at));
    Report("a", 0, at);
    for (const std::string& said : told_.Take()) {
      if (said != "probe 7") continue;
      front_.Probed(kWeb, "7", ProbeResult::kRefused, At(at));
      late_probes += at > 100 ? 1 : 0;
    }
    if (at >= 600) continue;
    EXPECT_EQ(front_.Snapshot(kWeb)->wanted.count, 1) << at;
  }
  EXPECT_EQ(front_.Snapshot(kWeb)->wanted, (WantedCount{.known = true, .count = 0}));
  EXPECT_LT(late_probes, 800);  // about once a second
  front_.OnRequest(2, "a", kWeb, At(800));
  EXPECT_GT(front_.Advance(At(800.1)), At(800.1));
  front_.OnRequestEnd(2, At(800.2));
  Report("a", 0, 800.3);
  Report("a", 0, 800.6);
  EXPECT_TRUE(front_.MayEnterZero(kWeb, At(801)));
  EXPECT_EQ(front_.Snapshot(kWeb)->state, ServiceState::kZero);
}

TEST_F(FrontTest, ThePodIsRetainedWhetherOrNotItIsReady) {
  spec_.settings.pod_retention = absl::Minutes(10);
  Begin(1, {Pod("7", true, true)});
  ConnectAll({"a"}, /*returning=*/true, 0.1);
  const auto pass = [this](int from, int to, double active) {
    for (int second = from; second < to; ++second) {
      Report("a", active, second);
      front_.Advance(At(second));
      AckAll("a", second);
    }
  };
  pass(1, 20, 1);
  pass(20, 30, 0);  // of these 6 belong to the window
  EXPECT_FALSE(front_.MayEnterZero(kWeb, At(30)));
  ASSERT_EQ(front_.Snapshot(kWeb)->state, ServiceState::kClosing);
  for (const int minute : {1, 5, 9}) {  // it is unready now and then
    pass(60 * minute - 10, 60 * minute, 0);
    front_.SetPods(kWeb, {Pod("7", true, false)}, At(60 * minute));
    pass(60 * minute, 60 * minute + 10, 0);
    EXPECT_FALSE(front_.MayEnterZero(kWeb, At(60 * minute + 10))) << minute;
    front_.SetPods(kWeb, {Pod("7", true, true)}, At(60 * minute + 20));
  }
  pass(610, 622, 0);
  EXPECT_FALSE(front_.MayEnterZero(kWeb, At(622)));
  pass(623, 640, 0);
  EXPECT_TRUE(front_.MayEnterZero(kWeb, At(640)));
}

// Another trigger woke it, say, or a person.
TEST_F(FrontTest, APodThatNoRequestAskedForIsRetainedToo) {
  spec_.settings.pod_retention = absl::Minutes(10);
  Begin(0, {});
  ConnectAll({"a"}, /*returning=*/false, 0.1);
  const double woken = 2 * 24 * 3600;
  const auto pass = [this](double from, double to) {
    for (double at = from; at < to; ++at) {
      Report("a", 0, at);
      front_.Advance(At(at));
      AckAll("a", at);
    }
  };
  Report("a", 0, woken);
  front_.ScaleWritten(kWeb, 1, At(woken));
  front_.SetPods(kWeb, {Pod("7", true, true)}, At(woken + 0.5));
  pass(woken + 1, woken + 20);
  EXPECT_FALSE(front_.MayEnterZero(kWeb, At(woken + 20)));
  pass(woken + 21, woken + 599);
  EXPECT_FALSE(front_.MayEnterZero(kWeb, At(woken + 599)));
  pass(woken + 600, woken + 610);
  EXPECT_TRUE(front_.MayEnterZero(kWeb, At(woken + 610)));
}

// A new target, say, or one whose pods all ended just before another process took over.
TEST_F(FrontTest, AServiceWithReplicasWaitsForItsFirstPod) {
  Begin(3, {Pod("7", true, false), Pod("8", false, false)});
  EXPECT_EQ(front_.Snapshot(kWeb)->wanted, (WantedCount{.known = true, .count = 3}));
  ConnectAll({"a"}, /*returning=*/false, 0.1);
  const auto pass = [this](int from, int to) {
    for (int second = from; second < to; ++second) {
      Report("a", 0, second);
      front_.Advance(At(second));
    }
  };
  pass(1, 40);
  EXPECT_EQ(front_.Snapshot(kWeb)->wanted, (WantedCount{.known = true, .count = 3}));
  EXPECT_FALSE(front_.MayEnterZero(kWeb, At(40)));
  pass(41, 640);  // its progress deadline is over, and so are Knative's 30 s more
  EXPECT_EQ(front_.Snapshot(kWeb)->wanted, (WantedCount{.known = true, .count = 0}));
  EXPECT_TRUE(front_.MayEnterZero(kWeb, At(640)));
}

TEST_F(FrontTest, AServiceKeepsItsReplicasUntilItsFirstPodIsReady) {
  Begin(3, {Pod("7", true, false), Pod("8", false, false)});
  ConnectAll({"a"}, /*returning=*/false, 0.1);
  const auto pass = [this](int from, int to) {
    for (int second = from; second < to; ++second) {
      Report("a", 0, second);
      front_.Advance(At(second));
      AckAll("a", second);
    }
    return front_.Snapshot(kWeb)->wanted;
  };
  front_.OnRequest(1, "a", kWeb, At(1));
  EXPECT_EQ(pass(1, 40), (WantedCount{.known = true, .count = 3}));
  front_.OnRequestEnd(1, At(40));
  front_.SetPods(kWeb, {Pod("7", true, true), Pod("8", true, false)}, At(40));
  EXPECT_EQ(pass(40, 60), (WantedCount{.known = true, .count = 0}));  // its load alone counts
  front_.SetPods(kWeb, {Pod("7", true, false), Pod("8", true, false)}, At(60));
  EXPECT_EQ(pass(60, 70), (WantedCount{.known = true, .count = 1}));
}

TEST_F(FrontTest, AScaleThatIsWrittenBeforeTheFirstPodIsReadyStays) {
  Begin(10, {Pod("7", true, false)});
  ConnectAll({"a"}, /*returning=*/false, 0.1);
  Report("a", 0, 1);
  front_.Advance(At(1));
  front_.ScaleWritten(kWeb, 2, At(2));
  Report("a", 0, 3);
  front_.Advance(At(3));
  EXPECT_EQ(front_.Snapshot(kWeb)->wanted, (WantedCount{.known = true, .count = 2}));
}

TEST_F(FrontTest, AnEnvoyThatDoesNotAcknowledgeIsTold) {
  Begin(1, {Pod("7", true, true)});
  front_.OnEnvoy("a", true, At(1));
  told_.Take();
  front_.Advance(At(5.9));
  EXPECT_THAT(told_.Take(), IsEmpty());
  front_.OnAck("a", ResourceKind::kEndpoints, kWeb, told_.versions[ResourceKind::kEndpoints],
               At(1.1));
  // It has asked for no route, which the listener would name.
  front_.OnNack("a", ResourceKind::kListener, {kWeb}, "bad", At(5.95));
  front_.Advance(At(6));
  EXPECT_THAT(told_.Take(), ElementsAre("Envoy a has not acknowledged the listener for 5s: bad"));
  AckAll("a", 7);
  EXPECT_EQ(front_.Snapshot(kWeb)->not_ready, "");
}

// As in Knative: who comes while a slow pod starts is not refused with those who came too early.
TEST_F(FrontTest, EachRequestHasItsOwnTimeToWaitForASlowPod) {
  Begin(0, {});
  front_.OnEnvoy("a", false, At(0.5));
  AckAll("a", 0.5);
  front_.OnRequest(1, "a", kWeb, At(1));
  front_.OnRequest(2, "a", kWeb, At(50));
  told_.Take();
  front_.Advance(At(61));
  EXPECT_THAT(told_.Take(), ElementsAre("refuse 1 activation-timeout"));
  front_.OnRequest(3, "a", kWeb, At(61.5));
  front_.SetPods(kWeb, {Pod("7", true, true)}, At(66));
  EXPECT_THAT(told_.Take(), ElementsAre("endpoints 1"));
  AckAll("a", 66.1);
  EXPECT_THAT(told_.Take(), ElementsAre("release 2", "release 3"));
}

TEST_F(FrontTest, ARefusedScaleRefusesAllAndBackOffGrows) {
  Begin(0, {});
  front_.OnEnvoy("a", false, At(0.5));
  AckAll("a", 0.5);
  front_.OnRequest(1, "a", kWeb, At(1));
  front_.OnRequest(2, "a", kWeb, At(2));
  told_.Take();
  front_.ScaleRefused(kWeb, 1, "gone", At(3));
  EXPECT_THAT(told_.Take(),
              ElementsAre("refuse 1 activation-failed gone", "refuse 2 activation-failed gone"));
  front_.OnRequest(3, "a", kWeb, At(3.5));
  EXPECT_THAT(told_.Take(), ElementsAre("refuse 3 activation-failed gone"));
  front_.Advance(At(4));
  front_.OnRequest(4, "a", kWeb, At(4.1));
  EXPECT_THAT(told_.Take(), ElementsAre("wish 1"));
  front_.ScaleRefused(kWeb, 1, "paused", At(4.2));
  EXPECT_THAT(told_.Take(), ElementsAre("refuse 4 activation-failed paused"));
  front_.Advance(At(5.5));
  front_.OnRequest(5, "a", kWeb, At(5.6));  // the second failure counts for two seconds
  EXPECT_THAT(told_.Take(), ElementsAre("refuse 5 activation-failed paused"));
}

TEST_F(FrontTest, PodsThatAreUnreadyForAMomentRefuseOnlyWhoHasWaitedTooLong) {
  spec_.container_concurrency = 1;
  Begin(1, {Pod("7", true, true)});
  front_.OnEnvoy("a", false, At(1));
  AckAll("a", 1);
  front_.OnRequest(1, "a", kWeb, At(1.5));
  front_.OnRequest(2, "a", kWeb, At(2));
  front_.OnRequest(3, "a", kWeb, At(59));
  told_.Take();
  front_.SetPods(kWeb, {Pod("7", true, false)}, At(60));
  told_.Take();
  front_.Advance(At(62));
  EXPECT_THAT(told_.Take(), ElementsAre("refuse 2 activation-timeout"));
  EXPECT_EQ(front_.Snapshot(kWeb)->state, ServiceState::kActivating);
  front_.OnRequestEnd(1, At(62.1));
  front_.SetPods(kWeb, {Pod("7", true, true)}, At(62.2));
  AckAll("a", 62.3);
  EXPECT_THAT(told_.Take(), Contains("release 3 to 10.0.0.7:80"));
}

TEST_F(FrontTest, AScaleThatCannotBeWrittenNowIsWishedForAgainWhileRequestsWait) {
  Begin(0, {});
  front_.OnEnvoy("a", false, At(0.5));
  AckAll("a", 0.5);
  told_.Take();
  front_.OnRequest(1, "a", kWeb, At(1));
  EXPECT_THAT(told_.Take(), ElementsAre("wish 1"));
  front_.ScaleDelayed(kWeb, At(1.2));
  EXPECT_EQ(front_.Advance(At(2.1)), At(2.2));
  EXPECT_THAT(told_.Take(), IsEmpty());
  front_.Advance(At(2.2));
  EXPECT_THAT(told_.Take(), ElementsAre("wish 1"));
  front_.ScaleDelayed(kWeb, At(3));
  front_.OnRequest(2, "a", kWeb, At(3.1));
  front_.ScaleWritten(kWeb, 1, At(3.5));  // by a decision that was made for another reason
  front_.Advance(At(10));
  EXPECT_THAT(told_.Take(), IsEmpty());
  EXPECT_EQ(front_.Snapshot(kWeb)->held, 2);
  front_.Advance(At(63.1));
  EXPECT_THAT(told_.Take(),
              ElementsAre("refuse 1 activation-timeout", "refuse 2 activation-timeout"));
}

TEST_F(FrontTest, TheQueueHasAnEndAndAFirstRequestAlwaysAPlace) {
  spec_.queue = 2;
  Front front(FrontOptions{.held_limit = 2}, told_, told_);
  front.AddService(spec_, 0, {}, At(0));
  HttpService other = spec_;
  other.name = "shop/other";
  front.AddService(other, 0, {}, At(0));
  front.BeginServing(At(0));
  told_.Take();
  for (RequestId id = 1; id <= 3; ++id) front.OnRequest(id, "a", kWeb, At(1));
  EXPECT_THAT(told_.Take(), ElementsAre("wish 1", "refuse 3 queue-full"));
  front.OnRequest(4, "a", "shop/other", At(1));
  front.OnRequest(5, "a", "shop/other", At(1));
  EXPECT_THAT(told_.Take(), ElementsAre("wish 1", "refuse 5 queue-full"));
  front.OnRequestEnd(1, At(2));
  front.OnRequestEnd(2, At(2));
  front.OnRequest(6, "a", "shop/other", At(2));
  EXPECT_THAT(told_.Take(), IsEmpty());
  EXPECT_EQ(front.Totals(At(2)).held, 2);
}

TEST_F(FrontTest, ANamespaceThatHoldsAllItMayLeavesRoomForOthers) {
  spec_.queue = 10'000;
  Front front(FrontOptions{.held_limit = 1000}, told_, told_);
  HttpService other = spec_;
  other.name = "other/web";
  front.AddService(spec_, 0, {}, At(0));
  front.AddService(other, 0, {}, At(0));
  front.BeginServing(At(0));
  RequestId id = 0;
  for (int i = 0; i < 2000; ++i) front.OnRequest(++id, "a", kWeb, At(1));
  EXPECT_EQ(front.Snapshot(kWeb)->held, 800);
  for (int i = 0; i < 2000; ++i) front.OnRequest(++id, "a", "other/web", At(1));
  EXPECT_EQ(front.Snapshot("other/web")->held, 160);
  // What one gives back is the other's, too.
  for (RequestId held = 1; held <= 800; ++held) front.OnRequestEnd(held, At(2));
  for (int i = 0; i < 2000; ++i) front.OnRequest(++id, "a", "other/web", At(2));
  EXPECT_EQ(front.Snapshot("other/web")->held, 800);
}

TEST_F(FrontTest, AServiceThatWasKeptIsRemovedAllTheSame) {
  front_.BeginServing(At(0), {{kWeb, HostRoutes()}});
  EXPECT_THAT(told_.Take(), ElementsAre("keep shop/web", "serve"));
  front_.RemoveService(kWeb, At(1));
  EXPECT_THAT(told_.Take(), ElementsAre("remove", "remove"));
}

// Envoys have its gate as it was, so they may ask about its requests.
TEST_F(FrontTest, RequestsOfAServiceThatWasKeptWaitUntilItIsKnown) {
  front_.BeginServing(At(0), {{kWeb, HostRoutes()}, {"shop/gone", HostRoutes()}});
  front_.OnEnvoy("a", true, At(0.5));
  told_.Take();
  for (RequestId id = 1; id <= 3; ++id) front_.OnRequest(id, "a", kWeb, At(1));
  front_.OnRequest(4, "a", "shop/gone", At(1));
  front_.OnRequest(5, "a", "shop/other", At(1));
  EXPECT_THAT(told_.Take(), ElementsAre("refuse 5 activation-failed unknown"));
  front_.OnRequestEnd(2, At(2));
  EXPECT_EQ(front_.Totals(At(2)).held, 3);
  front_.AddService(spec_, 1, {Pod("7", true, true)}, At(3));
  AckAll("a", 3);
  EXPECT_THAT(told_.Take(), ElementsAre("endpoints 1", "gate off", "release 1", "release 3"));
  front_.RemoveService("shop/gone", At(4));
  EXPECT_THAT(told_.Take(), ElementsAre("remove", "remove", "refuse 4 activation-failed unknown"));
  EXPECT_EQ(front_.Totals(At(4)).held, 0);
}

TEST_F(FrontTest, RequestsOfAServiceThatStaysUnknownWaitForAMinute) {
  front_.BeginServing(At(0), {{kWeb, HostRoutes()}});
  front_.OnRequest(1, "a", kWeb, At(1));
  told_.Take();
  EXPECT_EQ(front_.Advance(At(2)), At(61));
  front_.Advance(At(61));
  EXPECT_THAT(told_.Take(), ElementsAre("refuse 1 activation-timeout"));
  EXPECT_EQ(front_.Totals(At(61)).held, 0);
}

// The table of hosts is sent as a whole: without its routes its callers would get 404.
TEST_F(FrontTest, AServiceThatWasKeptKeepsItsHosts) {
  HostRoutes hosts;
  hosts.places = {{"web.example.com", "/"}};
  front_.BeginServing(At(0), {{kWeb, hosts}, {"shop/gone", hosts}});
  EXPECT_EQ(told_.hosts[kWeb].routes, hosts);
  EXPECT_TRUE(told_.hosts[kWeb].gated);
  EXPECT_EQ(told_.listeners[kHostsListener], 1);
  spec_.hosts = hosts;
  front_.AddService(spec_, 1, {Pod("7", true, true)}, At(1));
  EXPECT_FALSE(told_.hosts[kWeb].gated);
  told_.Take();
  front_.RemoveService("shop/gone", At(2));
  EXPECT_THAT(told_.Take(), ElementsAre("remove", "remove", "remove"));
  EXPECT_FALSE(told_.hosts.contains("shop/gone"));
}

// Else an Envoy that connects in between would be told to drop the cluster and the listener.
TEST_F(FrontTest, AServiceThatWasKeptLosesItsHostsAfterTheRestIsPut) {
  HostRoutes hosts;
  hosts.places = {{"web.example.com", "/"}};
  front_.BeginServing(At(0), {{kWeb, hosts}});
  front_.OnEnvoy("a", true, At(0.5));
  told_.Take();
  front_.AddService(spec_, 1, {Pod("7", true, true)}, At(1));
  EXPECT_THAT(told_.Take(), ElementsAre("endpoints 1", "gate off", "remove"));
  EXPECT_FALSE(told_.hosts.contains(kWeb));
}

TEST_F(FrontTest, AServiceThatWasKeptIsOpenAsSoonAsItIsKnown) {
  front_.BeginServing(At(0), {{kWeb, HostRoutes()}});
  front_.OnEnvoy("a", true, At(0.5));
  told_.Take();
  front_.AddService(spec_, 1, {Pod("7", true, true)}, At(1));
  EXPECT_THAT(told_.Take(), ElementsAre("endpoints 1", "gate off"));
}

TEST_F(FrontTest, NothingIsAnsweredBeforeItServesButWhatIsOverdue) {
  front_.AddService(spec_, 1, {Pod("7", true, true)}, At(0));
  front_.OnEnvoy("a", true, At(0));
  front_.OnRequest(1, "a", kWeb, At(0));
  front_.OnRequest(2, "a", kWeb, At(40));
  EXPECT_THAT(told_.Take(), IsEmpty());
  front_.Advance(At(60));
  EXPECT_THAT(told_.Take(), ElementsAre("refuse 1 activation-timeout"));
  front_.BeginServing(At(61));
  EXPECT_THAT(told_.Take(), ElementsAre("endpoints 1", "gate off", "serve"));
  AckAll("a", 61.1);
  EXPECT_THAT(told_.Take(), ElementsAre("release 2"));
}

TEST_F(FrontTest, SlotsGoToThePodWithTheFewestAndAreNeverMoreThanTheLimit) {
  spec_.container_concurrency = 2;
  Begin(2, {Pod("7", true, true), Pod("8", true, true)});
  front_.OnEnvoy("a", false, At(1));
  AckAll("a", 1);
  told_.Take();
  for (RequestId id = 1; id <= 5; ++id) front_.OnRequest(id, "a", kWeb, At(2));
  EXPECT_THAT(told_.Take(), ElementsAre("release 1 to 10.0.0.7:80", "release 2 to 10.0.0.8:80",
                                        "release 3 to 10.0.0.7:80", "release 4 to 10.0.0.8:80"));
  front_.OnRequestEnd(2, At(3));
  EXPECT_THAT(told_.Take(), ElementsAre("release 5 to 10.0.0.8:80"));
  front_.OnRequest(6, "a", kWeb, At(4));
  front_.SetPods(kWeb, {Pod("8", true, true)}, At(4));
  front_.OnRequestEnd(1, At(5));  // its pod is gone: its slot is too
  EXPECT_THAT(told_.Take(), ElementsAre("endpoints 1"));
}

TEST_F(FrontTest, AfterARestartWhatEnvoysHaveAtPodsOccupiesSlots) {
  spec_.container_concurrency = 2;
  Begin(1, {Pod("7", true, true)});
  front_.OnEnvoy("a", true, At(1));
  AckAll("a", 1);
  told_.Take();
  front_.OnRequest(1, "a", kWeb, At(1.1));
  EXPECT_THAT(told_.Take(), IsEmpty());  // it has not reported yet
  Report("a", 2, 1.2);
  EXPECT_THAT(told_.Take(), IsEmpty());
  Report("a", 1, 1.5);
  EXPECT_THAT(told_.Take(), ElementsAre("release 1 to 10.0.0.7:80"));
  front_.OnRequest(2, "a", kWeb, At(1.6));
  Report("a", 2, 1.7);
  EXPECT_THAT(told_.Take(), IsEmpty());
  EXPECT_EQ(front_.Snapshot(kWeb)->slots_used, 2);
}

TEST_F(FrontTest, AfterARestartTheLoadIsWhatIsAtPodsAndWhatIsHeld) {
  spec_.hosts.places = {{"web.example.com", "/"}};
  spec_.container_concurrency = 1;
  spec_.settings.target = spec_.settings.total = 1;
  Begin(2, {Pod("7", true, true), Pod("8", true, true)});
  front_.OnEnvoy("a", true, At(1));
  AckAll("a", 1);
  for (RequestId id = 1; id <= 3; ++id) front_.OnRequest(id, "a", kWeb, At(1));
  for (int quarter = 5; quarter < 40; ++quarter) {
    const ServiceLoad load{.service = kWeb, .upstream_active = 2};
    front_.OnLoad("a", {load}, At(quarter / 4.0));
    front_.Advance(At(quarter / 4.0));
  }
  EXPECT_EQ(front_.Snapshot(kWeb)->held, 3);
  EXPECT_EQ(front_.Snapshot(kWeb)->wanted, (WantedCount{.known = true, .count = 5}));
}

// Its Envoy returns after a while, and the first request is here before its report.
TEST_F(FrontTest, AHeldRequestDoesNotMakeAnUnknownLoadOne) {
  spec_.container_concurrency = 1;
  spec_.settings.target = spec_.settings.total = 1;
  spec_.settings.stable_window = absl::Seconds(60);
  const WantedCount two{.known = true, .count = 2};
  Begin(2, {Pod("7", true, true), Pod("8", true, true)});
  front_.OnEnvoy("a", true, At(0.1));
  AckAll("a", 0.1);
  front_.OnRequest(1, "a", kWeb, At(0.2));  // another process may have had more
  EXPECT_EQ(front_.Snapshot(kWeb)->wanted, two);
  front_.OnRequestEnd(1, At(0.3));
  for (int quarter = 2; quarter < 400; ++quarter) {
    Report("a", 2, quarter / 4.0);
    front_.Advance(At(quarter / 4.0));
  }
  ASSERT_EQ(front_.Snapshot(kWeb)->wanted, two);
  front_.OnEnvoyGone("a", At(100));
  for (int second = 100; second < 130; ++second) front_.Advance(At(second));
  EXPECT_FALSE(front_.Snapshot(kWeb)->wanted.known);
  front_.OnEnvoy("a", true, At(130));
  front_.OnRequest(2, "a", kWeb, At(130));
  EXPECT_EQ(front_.Snapshot(kWeb)->wanted, two);
  for (int second = 130; second < 140; ++second) {
    front_.Advance(At(second));
    EXPECT_EQ(front_.Snapshot(kWeb)->wanted, two) << second;
  }
}

// The connection of one of its workers broke, say: what is at pods goes on there, unasked about.
TEST_F(FrontTest, RequestsWhoseCallsBrokeOccupySlotsUntilTheEnvoyReportsTheirEnds) {
  spec_.container_concurrency = 2;
  Begin(1, {Pod("7", true, true)});
  front_.OnEnvoy("a", false, At(1));
  AckAll("a", 1);
  told_.Take();
  for (RequestId id = 1; id <= 3; ++id) front_.OnRequest(id, "a", kWeb, At(1.1));
  Report("a", 2, 1.2);
  EXPECT_THAT(told_.Take(), ElementsAre("release 1 to 10.0.0.7:80", "release 2 to 10.0.0.7:80"));
  front_.OnRequestEnd(1, At(1.3));
  front_.OnRequestEnd(2, At(1.3));
  EXPECT_THAT(told_.Take(), ElementsAre("release 3 to 10.0.0.7:80"));
  for (const double at : {1.4, 1.6, 1.8}) Report("a", 3, at);
  EXPECT_EQ(front_.Snapshot(kWeb)->slots_used, 3);
  front_.OnRequest(4, "a", kWeb, At(1.9));
  Report("a", 3, 2.0);
  EXPECT_THAT(told_.Take(), IsEmpty());
  Report("a", 1, 2.2);
  EXPECT_THAT(told_.Take(), ElementsAre("release 4 to 10.0.0.7:80"));
}

TEST_F(FrontTest, WhatAnEnvoyHasAtPodsOccupiesSlotsWhileItIsCutOff) {
  spec_.container_concurrency = 1;
  Begin(1, {Pod("7", true, true)});
  ConnectAll({"a", "b"}, /*returning=*/false, 1);
  front_.OnRequest(1, "b", kWeb, At(1.1));
  front_.OnRequestEnd(1, At(1.5));  // its call broke, and so did its stream
  front_.OnEnvoyGone("b", At(1.5));
  told_.Take();
  front_.OnRequest(2, "a", kWeb, At(1.6));
  for (int i = 7; i < 30; ++i) Report("a", 0, 1 + i / 10.0);
  EXPECT_THAT(told_.Take(), IsEmpty());
  front_.SetEnvoys({"a"}, At(5));
  EXPECT_THAT(told_.Take(), ElementsAre("release 2 to 10.0.0.7:80"));
}

TEST_F(FrontTest, AnEnvoyThatStaysCutOffOccupiesSlotsForAMinute) {
  spec_.container_concurrency = 1;
  spec_.activation_timeout = absl::Minutes(5);
  Begin(1, {Pod("7", true, true)});
  ConnectAll({"a", "b"}, /*returning=*/false, 1);
  front_.OnRequest(1, "b", kWeb, At(1.1));
  front_.OnEnvoyGone("b", At(1.5));
  front_.OnRequestEnd(1, At(1.5));
  told_.Take();
  front_.OnRequest(2, "a", kWeb, At(1.6));
  const auto releases = [this] {
    const std::vector<std::string> said = told_.Take();
    return std::count(said.begin(), said.end(), "release 2 to 10.0.0.7:80");
  };
  for (int second = 2; second <= 60; ++second) Report("a", 0, second);
  EXPECT_EQ(releases(), 0);
  Report("a", 0, 62);
  EXPECT_EQ(releases(), 1);
}

// An Envoy closes the connections of a listener that changes, at the one for hosts those of all.
TEST_F(FrontTest, NoTimeoutChangesAListener) {
  spec_.hosts.places = {{"web.example.com", "/"}};
  Begin(0, {});
  HttpService other = spec_;
  other.name = "shop/api";
  other.hosts.places = {{"api.example.com", "/"}};
  other.activation_timeout = absl::Minutes(5);
  front_.AddService(other, 0, {}, At(1));
  spec_.activation_timeout = absl::Hours(1);
  front_.ChangeService(spec_, At(2));
  EXPECT_THAT(told_.listeners,
              ElementsAre(Pair(kHostsListener, 1), Pair("shop/api", 1), Pair(kWeb, 1)));
}

// Kubernetes calls it Ready as soon as its container runs.
TEST_F(FrontTest, TheFirstPodWithoutAProbeHasToListen) {
  const auto pod = [](const std::string& uid) {
    PodView view = Pod(uid, true, true);
    view.unproven = true;
    return view;
  };
  Begin(0, {});
  front_.OnEnvoy("a", false, At(1));
  AckAll("a", 1);
  front_.OnRequest(1, "a", kWeb, At(2));
  front_.ScaleWritten(kWeb, 2, At(2.1));
  told_.Take();
  front_.SetPods(kWeb, {pod("7"), pod("8")}, At(3));
  EXPECT_THAT(told_.Take(), ElementsAre("probe 7", "probe 8"));
  front_.Probed(kWeb, "7", ProbeResult::kRefused, At(3.001));
  front_.Probed(kWeb, "8", ProbeResult::kRefused, At(3.001));
  EXPECT_THAT(told_.Take(), IsEmpty());
  front_.Advance(At(3.1));
  EXPECT_THAT(told_.Take(), ElementsAre("probe 7", "probe 8"));
  front_.Probed(kWeb, "8", ProbeResult::kPassed, At(3.101));
  EXPECT_THAT(told_.Take(), ElementsAre("endpoints 2")) << "an Envoy tries the other one";
  AckAll("a", 3.2);
  EXPECT_THAT(told_.Take(), ElementsAre("release 1"));
}

TEST_F(FrontTest, OfAPodOfWhichProbesTellNothingReadyHasToDo) {
  const auto opens = [this](ProbeResult result, double after) {
    Front front(FrontOptions{}, told_, told_);
    front.AddService(spec_, 0, {}, At(0));
    front.BeginServing(At(0));
    front.OnRequest(1, "a", kWeb, At(2));
    PodView view = Pod("7", true, true);
    view.unproven = true;
    front.SetPods(kWeb, {view}, At(3));
    front.Probed(kWeb, "7", result, At(3 + after / 2));
    EXPECT_EQ(front.Snapshot(kWeb)->state, ServiceState::kActivating);
    front.Advance(At(3 + after * 0.75));
    front.Probed(kWeb, "7", result, At(3 + after));
    return front.Snapshot(kWeb)->state == ServiceState::kOpen;  // no Envoy is waited for
  };
  EXPECT_TRUE(opens(ProbeResult::kSilent, 1.5));
  EXPECT_FALSE(opens(ProbeResult::kRefused, 14));
  EXPECT_TRUE(opens(ProbeResult::kRefused, 16));
}

TEST_F(FrontTest, OneSilentProbeSaysNothingOfAPodThatHasRefused) {
  Begin(0, {});
  front_.OnRequest(1, "a", kWeb, At(2));
  PodView view = Pod("7", true, true);
  view.unproven = true;
  front_.SetPods(kWeb, {view}, At(3));
  front_.Probed(kWeb, "7", ProbeResult::kRefused, At(4.5));
  front_.Probed(kWeb, "7", ProbeResult::kSilent, At(5));
  EXPECT_EQ(front_.Snapshot(kWeb)->state, ServiceState::kActivating);
  front_.Probed(kWeb, "7", ProbeResult::kSilent, At(5.6));
  EXPECT_EQ(front_.Snapshot(kWeb)->state, ServiceState::kOpen);  // no Envoy is waited for
}

TEST_F(FrontTest, ARemovedServiceRefusesAndLeavesNothing) {
  Begin(0, {});
  front_.OnRequest(1, "a", kWeb, At(1));
  told_.Take();
  front_.RemoveService(kWeb, At(2));
  EXPECT_THAT(told_.Take(), ElementsAre("refuse 1 activation-failed removed", "remove", "remove",
                                        "remove", "remove"));
  front_.OnRequestEnd(1, At(3));
  front_.OnRequest(2, "a", kWeb, At(3));
  EXPECT_THAT(told_.Take(), ElementsAre("refuse 2 activation-failed unknown"));
  EXPECT_EQ(front_.Totals(At(3)).held, 0);
}

}  // namespace
}  // namespace flyball::front
