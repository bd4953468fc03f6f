// What is carried follows the cluster; the Envoys are the test.
#include "serve/front/serve_front.h"
#include "base/test_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "base/test_thread_limit.h"
#include "kube/testing/fake_api_server.h"
#include "scaler/spec/own_spec.h"

namespace flyball::serve {
namespace {

// Notes what the Envoys are told.
class TestDataPath : public front::DataPath {
 public:
  struct Log {
    absl::Mutex mutex;
    std::vector<front::Resource> put ABSL_GUARDED_BY(mutex);
    std::vector<std::pair<front::ResourceKind, std::string>> removed ABSL_GUARDED_BY(mutex);
    std::vector<std::string> kept ABSL_GUARDED_BY(mutex);
    std::vector<front::RequestId> released ABSL_GUARDED_BY(mutex);
    std::vector<std::string> refused ABSL_GUARDED_BY(mutex);  // the words of why
    struct Sent {
      front::ResourceKind kind;
      std::string service;
      uint64_t version;
    };
    std::vector<Sent> unacknowledged ABSL_GUARDED_BY(mutex);
    bool serving ABSL_GUARDED_BY(mutex) = false;
    size_t put_at_start ABSL_GUARDED_BY(mutex) = 0;  // when they were told to serve
    bool ended ABSL_GUARDED_BY(mutex) = false;
    std::function<void(const std::string& service)> on_put ABSL_GUARDED_BY(mutex);  // unlocked
  };
  explicit TestDataPath(Log& log) : log_(log) {}
  ~TestDataPath() override {
    absl::MutexLock lock(&log_.mutex);
    log_.ended = true;
  }
  void Put(front::Resource resource, uint64_t version) override {
    const std::string service = front::ServiceOf(resource);
    std::function<void(const std::string&)> on_put;
    {
      absl::MutexLock lock(&log_.mutex);
      log_.unacknowledged.push_back({front::KindOf(resource), service, version});
      log_.put.push_back(std::move(resource));
      on_put = log_.on_put;
    }
    if (on_put) on_put(service);
  }
  void Remove(front::ResourceKind kind, const std::string& service) override {
    absl::MutexLock lock(&log_.mutex);
    log_.removed.emplace_back(kind, service);
  }
  void BeginServing(const std::vector<std::string>& kept) override {
    absl::MutexLock lock(&log_.mutex);
    log_.serving = true;
    log_.kept = kept;
    log_.put_at_start = log_.put.size();
  }
  void Release(front::RequestId id, std::optional<std::string> /*pod*/) override {
    absl::MutexLock lock(&log_.mutex);
    log_.released.push_back(id);
  }
  void Refuse(front::RequestId /*id*/, const front::Refusal& refusal) override {
    absl::MutexLock lock(&log_.mutex);
    log_.refused.push_back(refusal.word);
  }

 private:
  Log& log_;
};

bool Await(const std::function<bool()>& condition) {
  const absl::Notification never;
  const absl::Time until = absl::Now() + absl::Seconds(20);
  while (!condition()) {
    if (absl::Now() >= until) return false;
    never.WaitForNotificationWithTimeout(absl::Milliseconds(2));
  }
  return true;
}

class ServeFrontTest : public testing::Test {
 protected:
  explicit ServeFrontTest(uint16_t last_port = 39999) : last_port_(last_port) {
    kube::ResourceInfo info;
    info.name = {std::string(scaler::kOwnGroup), std::string(scaler::kOwnPlural)};
    info.version = std::string(scaler::kOwnVersion);
    info.kind = std::string(scaler::kOwnKind);
    api_.AddKind(info);
  }

  static std::string Spec(const std::string& target_port) {
    return absl::StrCat(
        R"({"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},)",
        R"("maxReplicas":10,"triggers":[{"type":"cron","metadata":{"timezone":"UTC",)",
        R"("start":"0 8 * * *","end":"0 18 * * *","desiredReplicas":"2"}},)",
        R"({"type":"http","metadata":{"service":"web","targetPort":")", target_port, R"("}}]})");
  }
  void PutAutoscaler(const std::string& name, const std::string& status = "{}") {
    api_.Put(absl::StrCat(R"({"apiVersion":"flyball.dev/v1alpha1","kind":"Autoscaler","metadata":)",
                          R"({"namespace":")", ns_, R"(","name":")", name, R"("},"spec":)",
                          Spec("8080"), R"(,"status":)", status, "}"));
    // The Service that it names; one that is not there is a change of its own, and is told first.
    PutService(name, R"({"ports":[{"port":80}]})");
  }
  void PutPod(const std::string& name, const std::string& app) {
    api_.Put(absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":")", ns_,
                          R"(","name":")", name, R"(","uid":")", name, R"(","labels":{"app":")",
                          app,
                          R"("}},"status":{"phase":"Running","podIP":"10.0.0.7","conditions":)",
                          R"([{"type":"Ready","status":"True"}]}})"));
  }
  void PutEnvoy() {
    api_.Put(
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"flyball","name":"envoy-1",)"
        R"("uid":"envoy-1","labels":{"app":"envoy"}},"status":{"phase":"Running",)"
        R"("podIP":"10.0.0.9","conditions":[{"type":"Ready","status":"True"}]}})");
  }
  void Start() {
    PutEnvoy();
    ASSERT_TRUE(front_.Start().ok());
  }

  void PutService(const std::string& name, const std::string& spec) {
    api_.Put(absl::StrCat(R"({"apiVersion":"v1","kind":"Service","metadata":{"namespace":")", ns_,
                          R"(","name":")", name, R"(","uid":"s"},"spec":)", spec, "}"));
  }
  // As the one that was written in its time.
  void PutSlice(const std::string& service, int port, const std::string& protocol = "") {
    api_.Put(absl::StrCat(R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice",)",
                          R"("metadata":{"namespace":"shop","name":")", service,
                          R"(-flyball-4","labels":{"kubernetes.io/service-name":")", service,
                          R"(","endpointslice.kubernetes.io/managed-by":"flyball.dev"}},)",
                          R"("addressType":"IPv4","endpoints":[{"addresses":["10.0.0.9"]}],)",
                          R"("ports":[{"name":"","port":)", port, R"(,"protocol":"TCP")", protocol,
                          "}]}"));
  }
  std::string Slice(const std::string& service) {
    return api_.Get(absl::StrCat("/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/",
                                 service, "-flyball-4"));
  }
  std::unique_ptr<scaler::RequestFront::Carried> Carry(const std::string& name,
                                                       const std::string& front_service = "",
                                                       absl::string_view hosts = "",
                                                       int32_t max_scale = 10) {
    scaler::CarriedService service;
    service.http.hosts = front::ReadHostRoutes(hosts, "", "").value();
    service.ns = ns_;
    service.autoscaler = name;
    service.http.name = absl::StrCat(ns_, "/", name);
    service.http.front_service = front_service.empty() ? name : front_service;
    service.http.target_port = "8080";
    service.http.settings.min_scale = 0;
    service.http.settings.max_scale = max_scale;
    service.http.settings.stable_window = absl::Seconds(2);
    service.http.settings.panic_window = absl::Seconds(1);
    return front_.Carry(std::move(service), [this] { ++changes_; });
  }
  // The loop decides that the target stays as it is.
  void Decide(const std::string& name, int32_t replicas, scaler::Mode mode = scaler::Mode::kAct,
              absl::Time created = absl::UnixEpoch(), const std::string& uid = "") {
    auto managed = std::make_shared<scaler::Managed>();
    managed->created = created;
    managed->autoscaler.uid = uid;
    managed->key = {.kind = scaler::AutoscalerKind::kOwn, .ns = ns_, .name = name};
    managed->autoscaler.max_replicas = 10;
    scaler::ScaleAnswer scale;
    scale.spec_replicas = scale.status_replicas = replicas;
    scale.selector = absl::StrCat("app=", name);
    scaler::Decision decision;
    decision.current = decision.desired = replicas;
    scaler::DecisionRecord record;
    record.managed = managed;
    record.mode = mode;
    record.scale = &scale;
    record.decision = &decision;
    front_.OnDecision(record);
  }
  std::vector<std::string> PutMany(int count) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.push_back(absl::StrCat("web-", i));
    for (const std::string& name : names) PutAutoscaler(name);
    return names;
  }
  std::vector<std::unique_ptr<scaler::RequestFront::Carried>> CarryAll(
      const std::vector<std::string>& names) {
    std::vector<std::unique_ptr<scaler::RequestFront::Carried>> carried;
    for (const std::string& name : names) {
      carried.push_back(Carry(name));
      Decide(name, 0);
    }
    return carried;
  }
  bool AreLed(int count) { return api_.CountRequests("POST", "/endpointslices") == count; }
  // The loop could not read the scale.
  void DecideInVain(const std::string& name, const std::string& error) {
    auto managed = std::make_shared<scaler::Managed>();
    managed->key = {.kind = scaler::AutoscalerKind::kOwn, .ns = "shop", .name = name};
    managed->autoscaler.max_replicas = 10;
    scaler::ScaleAnswer scale;
    scale.failure = scaler::ScaleAnswer::Failure::kRead;
    scale.error = error;
    const scaler::Decision decision;
    scaler::DecisionRecord record;
    record.managed = managed;
    record.mode = scaler::Mode::kAct;
    record.scale = &scale;
    record.decision = &decision;
    front_.OnDecision(record);
  }
  // The loop wants zero, and the front does not let it write that yet.
  void DecideZeroInVain(const std::string& name) {
    EXPECT_FALSE(front_.MayEnterZero(absl::StrCat("shop/", name)));
    const absl::Status dropped = absl::AbortedError("zero waits");
    front_.ScaleWritten(absl::StrCat("shop/", name), 1, 0, dropped);
    auto managed = std::make_shared<scaler::Managed>();
    managed->key = {.kind = scaler::AutoscalerKind::kOwn, .ns = "shop", .name = name};
    managed->autoscaler.max_replicas = 10;
    scaler::Decision decision;
    decision.current = 1;
    decision.desired = 0;
    decision.rescale = true;
    scaler::DecisionRecord record;
    record.managed = managed;
    record.mode = scaler::Mode::kAct;
    record.decision = &decision;
    record.scale_error = std::string(dropped.message());
    front_.OnDecision(record);
  }
  // The Envoy has all that it was sent, and reports that it has no requests.
  void EnvoyFollows() {
    const absl::Time now = absl::UnixEpoch() + clock_.MonotonicNow();
    std::vector<TestDataPath::Log::Sent> sent;
    {
      absl::MutexLock lock(&log_.mutex);
      sent.swap(log_.unacknowledged);
    }
    for (const auto& [kind, service, version] : sent) {
      events_->OnAck("envoy-1", kind, service, version, now);
    }
    events_->OnLoad("envoy-1", {}, now);
  }
  // While a second passes after the other.
  bool Becomes(const std::function<bool()>& condition) {
    return Await([&] {
      clock_.Advance(absl::Milliseconds(50));
      return condition();
    });
  }
  // As it does each 30 s.
  bool LooksAtServiceAgain(const std::string& name) {
    const std::string path = absl::StrCat("/services/", name);
    const int before = api_.CountRequests("GET", path);
    clock_.Advance(absl::Seconds(31));
    return Becomes([&] { return api_.CountRequests("GET", path) > before; });
  }
  bool serving() {
    absl::MutexLock lock(&log_.mutex);
    return log_.serving;
  }
  std::vector<std::string> refused() {
    absl::MutexLock lock(&log_.mutex);
    return log_.refused;
  }
  size_t removed() {
    absl::MutexLock lock(&log_.mutex);
    return log_.removed.size();
  }
  // Whether Envoys speak HTTP/2 to its pods, as they were told; each change counts.
  std::vector<bool> Http2Of(const std::string& name) {
    absl::MutexLock lock(&log_.mutex);
    std::vector<bool> all;
    for (const front::Resource& resource : log_.put) {
      const auto* const cluster = std::get_if<front::ClusterResource>(&resource);
      if (cluster != nullptr && cluster->service == name) all.push_back(cluster->h2c);
    }
    return all;
  }
  // The hosts that Envoys lead to the service, as they were told last.
  std::vector<std::string> HostsOf(const std::string& name) {
    absl::MutexLock lock(&log_.mutex);
    std::vector<std::string> hosts;
    for (const front::Resource& resource : log_.put) {
      const auto* const route = std::get_if<front::HostRouteResource>(&resource);
      if (route == nullptr || route->service != name) continue;
      hosts.clear();
      for (const auto& place : route->routes.places) hosts.push_back(place.host);
    }
    return hosts;
  }
  bool Carries(const std::string& name) {
    for (const CarriedState& state : front_.States()) {
      if (state.service == name && state.front.has_value()) return true;
    }
    return false;
  }
  // The port of the service's listener as Envoys were told; 0: none.
  int PortOf(const std::string& name) {
    absl::MutexLock lock(&log_.mutex);
    int port = 0;
    for (const front::Resource& resource : log_.put) {
      const auto* const listener = std::get_if<front::ListenerResource>(&resource);
      if (listener != nullptr && listener->service == name) port = listener->port;
    }
    return port;
  }
  std::string Autoscaler(const std::string& name) {
    return api_.Get(absl::StrCat("/apis/flyball.dev/v1alpha1/namespaces/shop/autoscalers/", name));
  }

  const uint16_t last_port_;
  std::string ns_ = "shop";  // of what is put, carried and decided
  kube::FakeApiServer api_;
  SimulatedClock clock_{absl::FromUnixSeconds(1'800'000'000)};
  TestDataPath::Log log_;
  std::atomic<int> changes_ = 0;
  absl::Status listens_;
  std::atomic<int> tries_to_listen_ = 0;
  std::atomic<bool> may_write_ = true;
  ServeFront front_{
      {.connect = api_.Connector(),
       .clock = clock_,
       .listen = [this](front::DataPathEvents& events)
           -> absl::StatusOr<std::unique_ptr<front::DataPath>> {
         ++tries_to_listen_;
         if (!listens_.ok()) return listens_;
         events_ = &events;
         return std::make_unique<TestDataPath>(log_);
       },
       .may_write = [this] { return may_write_.load(); }},
      FrontSettings{
          .last_port = last_port_, .envoy_namespace = "flyball", .envoy_selector = "app=envoy"}};
  front::DataPathEvents* events_ = nullptr;
};

class ServeFrontWithTwoPortsTest : public ServeFrontTest {
 protected:
  ServeFrontWithTwoPortsTest() : ServeFrontTest(20001) {}
};

// Envoys that nobody answers are not ready, and so the chart's installation would not be.
TEST_F(ServeFrontTest, WithoutAServiceEnvoysAreTold) {
  Start();
  EXPECT_TRUE(Becomes([&] { return serving(); }));
}

TEST_F(ServeFrontTest, WithoutAServiceEnvoysAreLeftToAnotherReplica) {
  Start();
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  may_write_ = false;
  EXPECT_TRUE(Becomes([&] {
    absl::MutexLock lock(&log_.mutex);
    return std::exchange(log_.ended, false);
  }));
  {
    absl::MutexLock lock(&log_.mutex);
    log_.serving = false;
  }
  for (int i = 0; i < 20; ++i) clock_.Advance(absl::Seconds(1));
  EXPECT_FALSE(serving());
  may_write_ = true;
  EXPECT_TRUE(Becomes([&] { return serving(); }));
}

TEST_F(ServeFrontTest, CarriesAServiceOnceItsScaleAndPodsAreKnown) {
  PutAutoscaler("web");
  PutPod("web-1", "web");
  Start();
  const auto carried = Carry("web");
  EXPECT_EQ(carried->Demand().error, "no Envoy carries its requests yet");
  Decide("web", 1);
  ASSERT_TRUE(Becomes([&] { return PortOf("shop/web") != 0; }));
  EXPECT_EQ(PortOf("shop/web"), 20000);
  EXPECT_TRUE(absl::StrContains(Autoscaler("web"), R"("http":{"port":20000})"))
      << Autoscaler("web");
  EXPECT_EQ(carried->Demand().error, "no Envoy has reported its requests");
}

TEST_F(ServeFrontTest, NobodyIsToldBeforeAllAreKnown) {
  PutAutoscaler("web");
  PutAutoscaler("other", R"({"http":{"port":20000}})");
  Start();
  const auto web = Carry("web");
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] { return absl::StrContains(Autoscaler("web"), "20001"); }));
  EXPECT_FALSE(serving());
  const auto other = Carry("other");
  Decide("other", 0);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  EXPECT_EQ(PortOf("shop/other"), 20000);  // as before
  EXPECT_EQ(PortOf("shop/web"), 20001);
}

// An API server that does not hold objects to their definition lists them as they are.
TEST_F(ServeFrontTest, MembersOfAnotherTypeCountAsAbsent) {
  const auto put = [&](const std::string& name, const std::string& members) {
    api_.Put(absl::StrCat(R"({"apiVersion":"flyball.dev/v1alpha1","kind":"Autoscaler",)",
                          R"("metadata":{"namespace":"shop","name":")", name, R"("},)", members,
                          "}"));
  };
  put("a", R"("spec":7)");
  put("b", R"("spec":{"triggers":{"type":"http"}})");
  put("c", R"("spec":{"triggers":[7,null,{"type":5},["http"]]},"status":[])");
  put("d", R"("spec":null,"status":"x")");
  PutAutoscaler("e", R"({"http":{"port":"20007"}})");
  PutAutoscaler("f", R"({"http":[20008]})");
  PutAutoscaler("g", R"({"http":{"port":20009.5}})");
  PutAutoscaler("web", R"({"http":{"port":20005}})");
  Start();
  std::vector<std::unique_ptr<scaler::RequestFront::Carried>> carried;
  for (const char* name : {"e", "f", "g", "web"}) {
    carried.push_back(Carry(name));
    Decide(name, 0);
  }
  ASSERT_TRUE(Becomes([&] { return serving(); })) << "those of a to d are not waited for";
  EXPECT_EQ(PortOf("shop/web"), 20005);
  EXPECT_LT(PortOf("shop/e"), 20005);
}

TEST_F(ServeFrontTest, WhoStoodByForLongWaitsForAllTheSame) {
  may_write_ = false;
  Start();
  for (int i = 0; i < 120; ++i) clock_.Advance(absl::Seconds(1));
  PutAutoscaler("web");
  PutAutoscaler("other");
  may_write_ = true;
  const auto web = Carry("web");
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] { return absl::StrContains(Autoscaler("web"), "20000"); }));
  const auto added = [&] { return front_.States()[0].front.has_value(); };
  ASSERT_TRUE(Becomes(added));
  EXPECT_FALSE(serving());
  // But not for ever for one that nobody can carry.
  for (int i = 0; i < 60; ++i) clock_.Advance(absl::Seconds(1));
  EXPECT_TRUE(Becomes([&] { return serving(); }));
}

TEST_F(ServeFrontTest, NobodyWaitsForOneThatIsWrong) {
  const auto put = [&](const std::string& name, const std::string& spec) {
    api_.Put(absl::StrCat(R"({"apiVersion":"flyball.dev/v1alpha1","kind":"Autoscaler",)",
                          R"("metadata":{"namespace":"shop","name":")", name, R"("},"spec":)", spec,
                          R"(,"status":{"http":{"port":20000}}})"));
  };
  put("no-port", Spec(""));
  put("no-target", R"({"maxReplicas":1,"triggers":[{"type":"http","metadata":{"service":"a",)"
                   R"("targetPort":"80"}}]})");
  PutAutoscaler("web");
  Start();
  const MonotonicTime start = clock_.MonotonicNow();
  const auto web = Carry("web");
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  EXPECT_LT(clock_.MonotonicNow() - start, absl::Seconds(50));
  EXPECT_EQ(PortOf("shop/web"), 20001) << "one that is wrong keeps its port";
}

TEST_F(ServeFrontTest, NobodyWaitsLongForOneWhoseTargetIsAstray) {
  for (const char* name : {"web", "gone", "hidden"}) PutAutoscaler(name);
  Start();
  const auto web = Carry("web"), gone = Carry("gone"), hidden = Carry("hidden");
  DecideInVain("gone", R"(deployments.apps "gone" not found)");
  DecideInVain("hidden", R"(rollouts.example.com "hidden" is forbidden: User cannot get it)");
  Decide("web", 0);
  ASSERT_TRUE(Await([&] { return Carries("shop/web"); }));
  EXPECT_FALSE(serving()) << "a target that is there a moment later is waited for";
  for (int i = 0; i < 6; ++i) clock_.Advance(absl::Seconds(1));
  const MonotonicTime then = clock_.MonotonicNow();
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  EXPECT_LT(clock_.MonotonicNow() - then, absl::Seconds(40));
}

// Its pods may run: what Envoys have of it is no worse for a restart.
TEST_F(ServeFrontTest, OneThatCannotBeKnownInTimeStaysInTheEnvoysAsItWas) {
  for (const char* name : {"web", "broken"}) PutAutoscaler(name);
  Start();
  const auto web = Carry("web");
  auto broken = Carry("broken");
  DecideInVain("broken", "conversion webhook failed");
  Decide("web", 0);
  ASSERT_TRUE(Await([&] { return Carries("shop/web"); }));
  for (int i = 0; i < 62; ++i) clock_.Advance(absl::Seconds(1));
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  {
    absl::MutexLock lock(&log_.mutex);
    EXPECT_EQ(log_.kept, std::vector<std::string>{"shop/broken"});
  }
  broken.reset();
  clock_.Advance(absl::Seconds(11));
  EXPECT_TRUE(Becomes([&] { return removed() == 2; })) << "its listener and its cluster";
}

// As if the loop took long to decide about it for the first time.
TEST_F(ServeFrontTest, OneThatIsNotCarriedInTimeStaysInTheEnvoysUntilItIsGone) {
  PutAutoscaler("web");
  PutAutoscaler("slow", R"({"http":{"port":20007,"hosts":["slow.example.com"]}})");
  PutAutoscaler("gone", R"({"http":{"port":20008,"hosts":["gone.example.com"]}})");
  Start();
  const auto web = Carry("web", "", "gone.example.com");
  Decide("web", 0);
  ASSERT_TRUE(Await([&] { return Carries("shop/web"); }));
  for (int i = 0; i < 62; ++i) clock_.Advance(absl::Seconds(1));
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  {
    absl::MutexLock lock(&log_.mutex);
    EXPECT_EQ(log_.kept, (std::vector<std::string>{"shop/gone", "shop/slow"}));
  }
  const std::vector<std::string> of_gone = {"gone.example.com"}, of_slow = {"slow.example.com"};
  EXPECT_EQ(HostsOf("shop/slow"), of_slow);
  for (int i = 0; i < 40; ++i) clock_.Advance(absl::Seconds(1));
  EXPECT_TRUE(HostsOf("shop/web").empty()) << "its host is still that of the other";
  EXPECT_TRUE(absl::StrContains(Autoscaler("slow"), "slow.example.com"));
  const auto slow = Carry("slow", "", "slow.example.com");
  Decide("slow", 0);
  ASSERT_TRUE(Becomes([&] { return PortOf("shop/slow") == 20007; }));
  EXPECT_EQ(removed(), 0u);
  api_.Delete("/apis/flyball.dev/v1alpha1/namespaces/shop/autoscalers/gone");
  clock_.Advance(absl::Seconds(31));
  ASSERT_TRUE(Becomes([&] { return removed() == 3; })) << "listener, cluster and hosts";
  EXPECT_TRUE(Becomes([&] { return HostsOf("shop/web") == of_gone; }));
}

// The decision may come after the keeper has granted hosts, and before it looks at the service.
TEST_F(ServeFrontTest, NobodyIsToldOfAServiceWithoutTheHostsThatItHad) {
  for (const char* name : {"a", "b"}) PutAutoscaler(name);
  PutAutoscaler("web", R"({"http":{"port":20007,"hosts":["shop.example.com"]}})");
  Start();
  const auto a = Carry("a"), b = Carry("b");
  const auto web = Carry("web", "", "shop.example.com");
  Decide("a", 0);
  ASSERT_TRUE(Becomes([&] { return Carries("shop/a"); }));  // and the namespace is watched
  std::atomic<bool> decided = false;
  api_.OnRequest([&](const http::HttpCall& call) {
    if (absl::StrContains(call.target, "/services/b") && !decided.exchange(true)) Decide("web", 0);
  });
  Decide("b", 0);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  api_.OnRequest(nullptr);
  absl::MutexLock lock(&log_.mutex);
  bool told = false;
  for (size_t i = 0; i < log_.put_at_start; ++i) {
    const auto* const route = std::get_if<front::HostRouteResource>(&log_.put[i]);
    told |= route != nullptr && route->service == "shop/web" && !route->routes.empty();
  }
  EXPECT_TRUE(told);
}

TEST_F(ServeFrontTest, OneThatComesLateKeepsItsHostsWheneverItIsDecided) {
  for (const char* name : {"a", "b"}) PutAutoscaler(name);
  PutAutoscaler("web", R"({"http":{"port":20007,"hosts":["shop.example.com"]}})");
  Start();
  const auto a = Carry("a");
  Decide("a", 0);
  ASSERT_TRUE(Await([&] { return Carries("shop/a"); }));
  for (int i = 0; i < 62; ++i) clock_.Advance(absl::Seconds(1));
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  const auto b = Carry("b"), web = Carry("web", "", "shop.example.com");
  std::atomic<bool> decided = false;
  api_.OnRequest([&](const http::HttpCall& call) {
    if (absl::StrContains(call.target, "/services/b") && !decided.exchange(true)) Decide("web", 0);
  });
  Decide("b", 0);
  ASSERT_TRUE(Becomes([&] { return PortOf("shop/web") == 20007; }));
  api_.OnRequest(nullptr);
  EXPECT_TRUE(decided);
  EXPECT_EQ(removed(), 0u);
  EXPECT_TRUE(absl::StrContains(Autoscaler("web"), "shop.example.com"));
}

// Of such an error its Autoscaler is not the cause: the Envoys may carry requests to it.
TEST_F(ServeFrontTest, OneThatIsNotReadSinceTheApiServerIsAwayIsWaitedFor) {
  for (const char* name : {"web", "other"}) PutAutoscaler(name);
  Start();
  const auto web = Carry("web"), other = Carry("other");
  DecideInVain("other", "connection refused");
  Decide("web", 0);
  ASSERT_TRUE(Await([&] { return Carries("shop/web"); }));
  int steps = 0;
  ASSERT_TRUE(Becomes([&] { return serving() || ++steps == 400; }));
  EXPECT_FALSE(serving()) << "after 20 s";
  Decide("other", 0);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  EXPECT_NE(PortOf("shop/other"), 0);
}

TEST_F(ServeFrontWithTwoPortsTest, NobodyWaitsForOneThatGetsNoPort) {
  PutAutoscaler("web", R"({"http":{"port":20000}})");
  PutAutoscaler("late");
  Start();
  const MonotonicTime start = clock_.MonotonicNow();
  const auto web = Carry("web"), late = Carry("late");
  Decide("web", 0);
  Decide("late", 0);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  EXPECT_LT(clock_.MonotonicNow() - start, absl::Seconds(50));
  EXPECT_EQ(PortOf("shop/web"), 20000);
  EXPECT_EQ(late->Demand().front->message,
            "namespace shop has 1 of the ports from 20000 to 20001, and gets no more than are left "
            "for all: 1");
}

TEST_F(ServeFrontTest, AServiceThatIsNotThereIsNotAskedForAllTheTime) {
  std::atomic<int> asked = 0;
  api_.OnRequest([&](const http::HttpCall& call) {
    asked += absl::StrContains(call.target, "/namespaces/shop/services/web");
  });
  PutAutoscaler("web");
  api_.Delete("/api/v1/namespaces/shop/services/web");
  Start();
  const auto carried = Carry("web");
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] { return asked >= 2; }));  // for its protocol, and to lead it
  const MonotonicTime first = clock_.MonotonicNow();
  ASSERT_TRUE(Becomes([&] { return asked >= 6; }));
  // The clock may have gone on a little before this thread saw the second.
  EXPECT_GE(clock_.MonotonicNow() - first, absl::Seconds(14));
  PutService("web", R"({"ports":[{"port":80}]})");
  EXPECT_TRUE(Becomes([&] { return absl::StrContains(Slice("web"), "10.0.0.9"); }));
  api_.OnRequest(nullptr);
}

TEST_F(ServeFrontTest, AHostIsTheOldestServicesUntilThatOneIsGone) {
  PutAutoscaler("new");
  PutAutoscaler("old");
  Start();
  const auto carried = Carry("new", "", "shop.example.com,new.example.com");
  auto older = Carry("old", "", "shop.example.com");
  Decide("new", 0, scaler::Mode::kAct, absl::FromUnixSeconds(200));
  Decide("old", 0, scaler::Mode::kAct, absl::FromUnixSeconds(100));
  const std::vector<std::string> shop = {"shop.example.com"}, rest = {"new.example.com"};
  ASSERT_TRUE(Becomes([&] { return HostsOf("shop/new") == rest && HostsOf("shop/old") == shop; }));
  EXPECT_TRUE(Becomes([&] { return PortOf(front::kHostsListener) == 8080; }));
  const char* const refused = "shop.example.com is led to shop/old, which had it first";
  const std::optional<scaler::FrontReadiness> front = carried->Demand().front;
  ASSERT_TRUE(front.has_value());
  EXPECT_FALSE(front->ready);
  EXPECT_EQ(front->reason, "HostsTaken");
  EXPECT_EQ(front->message, refused);
  older.reset();
  ASSERT_TRUE(Becomes([&] { return HostsOf("shop/new").size() == 2; }));
  EXPECT_NE(carried->Demand().front->reason, "HostsTaken");
}

TEST_F(ServeFrontTest, WhoIsRefusedHostsAllTheTimeFillsNoLog) {
  const TestLog log;
  PutAutoscaler("web");
  const std::vector<std::string> names = PutMany(20);
  Start();
  const std::string host = std::string(60, 'a') + "." + std::string(60, 'b') + ".example.com";
  std::string hosts;
  for (int i = 0; i < 5; ++i) absl::StrAppend(&hosts, "h", i, ".", host, ",");
  std::vector<std::unique_ptr<scaler::RequestFront::Carried>> carried;
  carried.push_back(Carry("web", "", hosts));
  Decide("web", 0);
  for (const std::string& name : names) {
    carried.push_back(Carry(name, "", hosts));
    Decide(name, 0, scaler::Mode::kAct, absl::FromUnixSeconds(100));
  }
  int tries = 0;
  EXPECT_TRUE(Await([&] {
    if (++tries < 500) clock_.Advance(absl::Milliseconds(50));  // less than the minute of 16 lines
    return std::all_of(carried.begin() + 1, carried.end(), [](const auto& each) {
      const auto front = each->Demand().front;
      return front.has_value() && front->reason == "HostsTaken";
    });
  }));
  front_.Stop();
  EXPECT_EQ(log.Count(": HostsTaken: "), 16u);
  EXPECT_EQ(log.Count("h4." + host), 0u) << "it is beyond 500 bytes";
}

// Else anybody whose Autoscaler is older could take it, with the requests of its users.
TEST_F(ServeFrontTest, AHostStaysWithTheServiceThatHasIt) {
  PutAutoscaler("new");
  Start();
  auto carried = Carry("new", "", "shop.example.com");
  Decide("new", 0, scaler::Mode::kAct, absl::FromUnixSeconds(200));
  const std::vector<std::string> shop = {"shop.example.com"};
  const auto is_written = [&](const std::string& name) {
    return absl::StrContains(Autoscaler(name), R"("hosts":["shop.example.com"])");
  };
  ASSERT_TRUE(Becomes([&] { return HostsOf("shop/new") == shop && is_written("new"); }));
  PutAutoscaler("old");
  const auto older = Carry("old", "", "shop.example.com");
  Decide("old", 0, scaler::Mode::kAct, absl::FromUnixSeconds(100));
  ASSERT_TRUE(Becomes([&] { return older->Demand().front->reason == "HostsTaken"; }));
  EXPECT_EQ(HostsOf("shop/new"), shop);
  // An edit ends the claim, and a new one follows.
  carried.reset();
  carried = Carry("new", "", "shop.example.com");
  EXPECT_TRUE(Becomes([&] { return carried->Demand().front->reason == "Carried"; }));
  EXPECT_EQ(HostsOf("shop/new"), shop);
  carried.reset();
  EXPECT_TRUE(Becomes([&] { return HostsOf("shop/old") == shop && is_written("old"); }));
  EXPECT_TRUE(Becomes([&] { return !is_written("new"); }));
}

TEST_F(ServeFrontTest, AHostStaysWithTheServiceThatHadItBeforeARestart) {
  PutAutoscaler("new", R"({"http":{"hosts":["shop.example.com"]}})");
  PutAutoscaler("old");
  Start();
  const auto older = Carry("old", "", "shop.example.com");
  Decide("old", 0, scaler::Mode::kAct, absl::FromUnixSeconds(100));
  ASSERT_TRUE(Becomes([&] { return older->Demand().front->reason == "HostsTaken"; }));
  const auto carried = Carry("new", "", "shop.example.com");
  Decide("new", 0, scaler::Mode::kAct, absl::FromUnixSeconds(200));
  const std::vector<std::string> shop = {"shop.example.com"};
  EXPECT_TRUE(Becomes([&] { return HostsOf("shop/new") == shop; }));
  EXPECT_TRUE(HostsOf("shop/old").empty());
}

TEST_F(ServeFrontTest, TheStatusOfOneThatIsMadeAnewTellsItsPortAndHostsAgain) {
  PutAutoscaler("web", R"({"http":{"port":20005}})");
  Start();
  const auto carried = Carry("web", "", "shop.example.com");
  const auto told = [&] {
    return absl::StrContains(Autoscaler("web"), R"("hosts":["shop.example.com"],"port":20005)");
  };
  Decide("web", 0, scaler::Mode::kAct, absl::FromUnixSeconds(100), "first");
  ASSERT_TRUE(Becomes(told)) << Autoscaler("web");
  api_.Delete("/apis/flyball.dev/v1alpha1/namespaces/shop/autoscalers/web");
  PutAutoscaler("web");
  Decide("web", 0, scaler::Mode::kAct, absl::FromUnixSeconds(200), "second");
  EXPECT_TRUE(Becomes(told)) << Autoscaler("web");
}

TEST_F(ServeFrontTest, NothingIsWrittenForWhatAnotherReplicaMayOwn) {
  std::atomic<int> writes = 0;
  api_.OnRequest([&](const http::HttpCall& call) {
    const bool reads = call.method == "GET" || call.method == "WATCH";
    writes += !reads && !absl::StrContains(call.target, "/events");
  });
  may_write_ = false;
  PutAutoscaler("web");
  Start();
  const auto carried = Carry("web", "", "shop.example.com");
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] {
    return absl::StrContains(carried->Demand().error, "another replica may own it by now");
  })) << carried->Demand().error;
  EXPECT_EQ(writes, 0);
  may_write_ = true;
  EXPECT_TRUE(Becomes([&] { return absl::StrContains(Slice("web"), "10.0.0.9"); }));
  may_write_ = false;
  const int before = writes;
  PutService("web", R"({"selector":{"app":"web"},"ports":[{"port":80}]})");
  EXPECT_TRUE(Becomes([&] { return carried->Demand().front->reason == "ServiceNotLed"; }));
  EXPECT_EQ(writes, before);
  api_.OnRequest(nullptr);
}

TEST_F(ServeFrontTest, AHeldRequestIsAWish) {
  PutAutoscaler("web");
  Start();
  const auto carried = Carry("web");
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  const absl::Time now = absl::UnixEpoch() + clock_.MonotonicNow();
  events_->OnEnvoy("envoy-1", /*returning=*/false, now);
  const int before = changes_;
  events_->OnRequest(7, "envoy-1", "shop/web", now);
  ASSERT_TRUE(Becomes([&] { return changes_ > before && carried->Demand().replicas > 0; }));
  EXPECT_EQ(carried->Demand().replicas, 1);
  EXPECT_TRUE(carried->Demand().active);
}

TEST_F(ServeFrontTest, WhoIsHeldOutlivesAnApiServerThatIsAway) {
  PutAutoscaler("web");
  Start();
  const auto carried = Carry("web");
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  const absl::Time now = absl::UnixEpoch() + clock_.MonotonicNow();
  events_->OnEnvoy("envoy-1", /*returning=*/false, now);
  int told = changes_;
  const auto wished = [&] { return changes_ > told; };
  events_->OnRequest(7, "envoy-1", "shop/web", now);
  ASSERT_TRUE(Becomes(wished));
  for (const absl::Status& status :
       {absl::UnavailableError("connection refused"), absl::DeadlineExceededError("too late"),
        absl::AbortedError("another replica may own it"), absl::UnauthenticatedError("who?")}) {
    told = changes_;
    front_.ScaleWritten("shop/web", 0, 1, status);
    ASSERT_TRUE(Becomes(wished)) << status;
  }
  told = changes_;
  DecideInVain("web", "connection refused");
  ASSERT_TRUE(Becomes(wished));
  EXPECT_TRUE(refused().empty());
  DecideInVain("web", "deployments.apps \"web\" not found");
  EXPECT_EQ(refused(), std::vector<std::string>{"gone"});
}

TEST_F(ServeFrontTest, AWallClockThatIsSetChangesNothing) {
  PutAutoscaler("web");
  Start();
  const auto carried = Carry("web");
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  const absl::Time now = absl::UnixEpoch() + clock_.MonotonicNow();
  events_->OnEnvoy("envoy-1", /*returning=*/false, now);
  events_->OnRequest(7, "envoy-1", "shop/web", now);
  const absl::Time wall = clock_.WallNow();
  for (const absl::Duration by : {absl::Hours(3), -absl::Hours(3)}) {
    clock_.JumpWall(wall + by);
    for (int i = 0; i < 10; ++i) clock_.Advance(absl::Seconds(1));
    ASSERT_TRUE(Becomes([&] { return front_.States()[0].front->held == 1; }));
    EXPECT_TRUE(refused().empty());
    EXPECT_EQ(carried->Demand().replicas, 1);
    EXPECT_FALSE(front_.MayEnterZero("shop/web"));
  }
  // By how long it has really waited.
  for (int i = 0; i < 30; ++i) clock_.Advance(absl::Seconds(1));
  EXPECT_TRUE(Becomes([&] { return refused().size() == 1; }));
}

TEST_F(ServeFrontTest, WhoIsHeldIsToldThatTheScaleIsRefused) {
  PutAutoscaler("web");
  Start();
  const auto carried = Carry("web");
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  const absl::Time now = absl::UnixEpoch() + clock_.MonotonicNow();
  events_->OnEnvoy("envoy-1", /*returning=*/false, now);
  events_->OnRequest(7, "envoy-1", "shop/web", now);
  front_.ScaleWritten("shop/web", 0, 1, absl::PermissionDeniedError("no"));
  EXPECT_EQ(refused(), std::vector<std::string>{"refused"});
}

// More are needed than there are, but those may be ready in a moment.
TEST_F(ServeFrontTest, WhoIsHeldWaitsForThePodsThatThereAre) {
  PutAutoscaler("web");
  Start();
  const auto carried = Carry("web");
  Decide("web", 1, scaler::Mode::kAdvise);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  const absl::Time now = absl::UnixEpoch() + clock_.MonotonicNow();
  events_->OnEnvoy("envoy-1", /*returning=*/false, now);
  const int told = changes_;
  for (front::RequestId id = 1; id <= 500; ++id) events_->OnRequest(id, "envoy-1", "shop/web", now);
  ASSERT_TRUE(Becomes([&] { return changes_ > told && carried->Demand().replicas > 3; }));
  Decide("web", 1, scaler::Mode::kAdvise);
  EXPECT_TRUE(refused().empty());
  front_.ScaleWritten("shop/web", 1, 4, absl::PermissionDeniedError("no"));
  EXPECT_TRUE(refused().empty());
}

// A policy may allow fewer at once.
TEST_F(ServeFrontTest, AWishThatIsNotWrittenInFullIsNotKeptForLongerThanItsRequests) {
  PutAutoscaler("web");
  Start();
  const auto carried = Carry("web");
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  const absl::Time now = absl::UnixEpoch() + clock_.MonotonicNow();
  events_->OnEnvoy("envoy-1", /*returning=*/false, now);
  for (front::RequestId id = 1; id <= 500; ++id) events_->OnRequest(id, "envoy-1", "shop/web", now);
  ASSERT_TRUE(Becomes([&] { return carried->Demand().replicas > 3; }));
  front_.ScaleWritten("shop/web", 0, 1, absl::OkStatus());
  Decide("web", 1);
  for (front::RequestId id = 1; id <= 500; ++id) {
    events_->OnRequestEnd(id, absl::UnixEpoch() + clock_.MonotonicNow());
  }
  EXPECT_TRUE(Becomes([&] {
    EnvoyFollows();
    return carried->Demand().replicas == 1;
  })) << carried->Demand().replicas;
}

TEST_F(ServeFrontTest, ZeroWaitsUntilTheEnvoysAreKnown) {
  PutAutoscaler("web");
  PutPod("web-1", "web");
  Start();
  const auto carried = Carry("web");
  EXPECT_FALSE(front_.MayEnterZero("shop/web"));
  Decide("web", 1);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  EXPECT_FALSE(front_.MayEnterZero("shop/web"));  // no Envoy has confirmed the gate
  EXPECT_TRUE(front_.MayEnterZero("shop/unknown"));
}

TEST_F(ServeFrontTest, AZeroThatWaitsIsOfferedAgain) {
  PutAutoscaler("web");
  PutPod("web-1", "web");
  Start();
  const auto carried = Carry("web");
  Decide("web", 1);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  events_->OnEnvoy("envoy-1", /*returning=*/false, absl::UnixEpoch() + clock_.MonotonicNow());
  // Until the gate is off: then zero has a way to go.
  for (int i = 0; i < 100; ++i) {
    clock_.Advance(absl::Milliseconds(200));
    EnvoyFollows();
  }
  ASSERT_TRUE(Becomes([&] {
    EnvoyFollows();
    const scaler::RequestDemand demand = carried->Demand();
    return demand.error.empty() && !demand.active;
  }));
  ASSERT_FALSE(front_.States()[0].front->gated);
  DecideZeroInVain("web");
  const int told = changes_;
  ASSERT_TRUE(Becomes([&] {
    EnvoyFollows();
    return changes_ > told;
  }));
  EXPECT_TRUE(front_.MayEnterZero("shop/web"));
}

TEST_F(ServeFrontTest, ATriggerThatIsMadeAnewKeepsItsService) {
  PutAutoscaler("web");
  Start();
  auto carried = Carry("web");
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  carried = Carry("web");
  clock_.Advance(absl::Seconds(15));
  ASSERT_TRUE(
      Becomes([&] { return carried->Demand().error != "no Envoy carries its requests yet"; }));
  EXPECT_EQ(removed(), 0u);
  carried.reset();
  EXPECT_TRUE(Becomes([&] { return removed() == 4; }));
}

TEST_F(ServeFrontTest, WhatAnotherReplicaOwnsIsNotTakenAway) {
  PutAutoscaler("web");
  Start();
  auto carried = Carry("web");
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  carried.reset();
  front_.OnReleased({.kind = scaler::AutoscalerKind::kOwn, .ns = "shop", .name = "web"});
  EXPECT_TRUE(Becomes([&] {
    absl::MutexLock lock(&log_.mutex);
    return log_.ended;
  }));
  for (int i = 0; i < 20; ++i) clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(removed(), 0u);
}

// An API server that does not answer makes each look take ten seconds, and meanwhile some Envoys
// would be with this replica and others with the owner.
TEST_F(ServeFrontTest, WhatAnotherReplicaOwnsIsLeftBeforeTheRestIsLookedAt) {
  const std::vector<std::string> names = PutMany(5);
  Start();
  const auto carried = CarryAll(names);
  ASSERT_TRUE(Await([&] { return AreLed(5); }));
  std::atomic<bool> released = false;
  std::atomic<int> late = 0;
  api_.OnRequest([&](const http::HttpCall& call) {
    if (!absl::StrContains(call.target, "/services/web-")) return;
    if (!released.exchange(true)) {
      front_.OnReleased({.kind = scaler::AutoscalerKind::kOwn, .ns = "shop", .name = "web-0"});
      return;
    }
    absl::MutexLock lock(&log_.mutex);
    late += log_.ended ? 0 : 1;
  });
  api_.Patch("/api/v1/namespaces/flyball/pods/envoy-1", R"({"status":{"podIP":"10.0.0.8"}})");
  ASSERT_TRUE(Await([&] {
    absl::MutexLock lock(&log_.mutex);
    return log_.ended;
  }));
  EXPECT_EQ(late, 0);
  api_.OnRequest(nullptr);
}

// The loop goes on with what is only advised, as each replica does, so it says nothing. Envoys that
// stayed would get other ports and pods than those of the owner, and ask both about requests.
TEST_F(ServeFrontTest, WhatIsOnlyAdvisedIsLeftToAnotherReplicaToo) {
  PutAutoscaler("web");
  Start();
  const auto carried = Carry("web");
  Decide("web", 0, scaler::Mode::kAdvise);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  may_write_ = false;
  ASSERT_TRUE(Becomes([&] {
    absl::MutexLock lock(&log_.mutex);
    log_.serving = false;
    return log_.ended;
  }));
  EXPECT_EQ(removed(), 0u);
  const int tries = tries_to_listen_;
  may_write_ = true;
  ASSERT_TRUE(Becomes([&] { return tries_to_listen_ > tries; }));
  int steps = 0;
  ASSERT_TRUE(Becomes([&] { return Carries("shop/web") || ++steps == 200; }));
  EXPECT_FALSE(Carries("shop/web")) << "its scale is that of before";
  Decide("web", 1, scaler::Mode::kAdvise);
  EXPECT_TRUE(Becomes([&] { return serving(); }));
}

// It would count as asleep, and its pods as about to go.
TEST_F(ServeFrontTest, TheScaleIsReadAnewAfterAnotherReplicaOwnedIt) {
  PutAutoscaler("web");
  Start();
  const auto carried = Carry("web");
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  PutPod("web-1", "web");
  {
    absl::MutexLock lock(&log_.mutex);
    log_.serving = false;
    log_.put.clear();
  }
  const int tries = tries_to_listen_;
  front_.OnReleased({.kind = scaler::AutoscalerKind::kOwn, .ns = "shop", .name = "web"});
  ASSERT_TRUE(Becomes([&] { return tries_to_listen_ > tries; }));
  int steps = 0;
  ASSERT_TRUE(Becomes([&] { return Carries("shop/web") || ++steps == 200; }));
  EXPECT_FALSE(Carries("shop/web")) << "its scale is that of before";
  Decide("web", 1);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  absl::MutexLock lock(&log_.mutex);
  std::vector<std::string> addresses;
  for (const front::Resource& resource : log_.put) {
    const auto* const endpoints = std::get_if<front::EndpointsResource>(&resource);
    if (endpoints != nullptr) addresses = endpoints->addresses;
  }
  EXPECT_EQ(addresses, std::vector<std::string>{"10.0.0.7:8080"});
}

TEST_F(ServeFrontTest, AServiceThatIsNotOursIsRefusedInTheCondition) {
  PutAutoscaler("web");
  PutService("web", R"({"selector":{"app":"web"},"ports":[{"port":80}]})");
  Start();
  const auto carried = Carry("web");
  EXPECT_EQ(carried->Demand().front->reason, "NotCarried");
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] { return carried->Demand().front->reason == "ServiceNotLed"; }));
  EXPECT_TRUE(absl::StrContains(carried->Demand().front->message, "has a selector"));
  EXPECT_EQ(Slice("web"), "");
  PutService("web", R"({"ports":[{"port":80}]})");
  EXPECT_TRUE(Becomes([&] { return absl::StrContains(Slice("web"), "10.0.0.9"); })) << Slice("web");
  // By now it may wait for an Envoy: none is connected here.
  EXPECT_TRUE(Becomes([&] { return carried->Demand().front->reason != "ServiceNotLed"; }));
}

TEST_F(ServeFrontTest, AServiceIsLedToAnEnvoyOnItsNode) {
  PutAutoscaler("web");
  Start();
  const auto carried = Carry("web");
  Decide("web", 0);
  ASSERT_TRUE(Await([&] { return absl::StrContains(Slice("web"), "10.0.0.9"); }));
  EXPECT_FALSE(absl::StrContains(Slice("web"), "nodeName"));
  api_.Patch("/api/v1/namespaces/flyball/pods/envoy-1", R"({"spec":{"nodeName":"n1"}})");
  EXPECT_TRUE(Await([&] { return absl::StrContains(Slice("web"), R"("nodeName":"n1")"); }));
}

TEST_F(ServeFrontTest, OneServiceIsOfOneAutoscaler) {
  PutAutoscaler("web");
  PutAutoscaler("api");
  Start();
  const auto first = Carry("web");
  const auto second = Carry("api", "web");
  Decide("web", 0);
  Decide("api", 0);
  // Of two that come at the same time the first by name has it, and keeps it.
  ASSERT_TRUE(Becomes([&] { return second->Demand().front->ready; }));
  ASSERT_TRUE(Becomes([&] { return first->Demand().front->reason == "ServiceNotLed"; }));
  EXPECT_TRUE(absl::StrContains(first->Demand().front->message, "Autoscaler api"));
}

TEST_F(ServeFrontTest, AnEditThatNamesTheServiceOfAnotherTakesItFromNobody) {
  PutAutoscaler("web");
  PutAutoscaler("api");
  Start();
  auto web = Carry("web");
  const auto api = Carry("api");
  Decide("web", 0);
  Decide("api", 0);
  const auto leads = [&](const std::string& service, const std::string& port) {
    return absl::StrContains(Slice(service), absl::StrCat(R"("port":)", port));
  };
  ASSERT_TRUE(Becomes([&] { return leads("api", "20000") && leads("web", "20001"); }));
  web = Carry("web", "api");
  ASSERT_TRUE(Becomes([&] { return web->Demand().front->reason == "ServiceNotLed"; }));
  const std::string before = Slice("api");
  for (int i = 0; i < 120; ++i) clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(Slice("api"), before);
  EXPECT_NE(api->Demand().front->reason, "ServiceNotLed");
  // And back, to the one that it had.
  web = Carry("web");
  EXPECT_TRUE(Becomes([&] { return web->Demand().front->reason != "ServiceNotLed"; }));
}

// Whoever has the lower name would be served first.
TEST_F(ServeFrontTest, AfterARestartAServiceIsThatOfWhoHadIt) {
  PutAutoscaler("aaa", R"({"http":{"port":20006}})");
  PutAutoscaler("web", R"({"http":{"port":20005}})");
  PutSlice("web", 20005);
  Start();
  const auto aaa = Carry("aaa", "web"), web = Carry("web");
  Decide("aaa", 0);
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] { return aaa->Demand().front->reason == "ServiceNotLed"; }));
  EXPECT_TRUE(absl::StrContains(Slice("web"), R"("port":20005)"));
  EXPECT_NE(web->Demand().front->reason, "ServiceNotLed");
}

// In mode Advise each replica decides.
TEST_F(ServeFrontTest, WhoDoesNotOwnListensForNoEnvoys) {
  PutAutoscaler("web", R"({"http":{"port":20005}})");
  may_write_ = false;
  Start();
  const auto web = Carry("web");
  Decide("web", 0);
  for (int i = 0; i < 100; ++i) clock_.Advance(absl::Seconds(1));
  EXPECT_FALSE(serving());
  may_write_ = true;
  EXPECT_TRUE(Becomes([&] { return serving(); }));
}

TEST_F(ServeFrontTest, TheServiceSaysWhetherPodsGetHttp2) {
  PutAutoscaler("web");
  PutAutoscaler("plain");
  const auto says = [&](const std::string& more) {
    PutService("web", absl::StrCat(R"({"ports":[{"port":80)", more, "}]}"));
  };
  says(R"(,"appProtocol":"kubernetes.io/h2c")");
  Start();
  const auto web = Carry("web"), plain = Carry("plain");
  Decide("web", 0);
  Decide("plain", 0);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  EXPECT_EQ(Http2Of("shop/web"), std::vector{true});
  EXPECT_EQ(Http2Of("shop/plain"), std::vector{false});
  ASSERT_TRUE(Becomes([&] { return absl::StrContains(Slice("web"), "kubernetes.io/h2c"); }));
  says("");
  EXPECT_TRUE(Becomes([&] { return Http2Of("shop/web") == std::vector{true, false}; }));
  says(R"(,"appProtocol":"grpc")");
  EXPECT_TRUE(Becomes([&] { return Http2Of("shop/web") == std::vector{true, false, true}; }));
  // An alias, as Knative's Services are while callers move, and one that is gone, do not say it.
  PutService("web", R"({"type":"ExternalName","externalName":"a.b","ports":[{"port":80}]})");
  ASSERT_TRUE(LooksAtServiceAgain("web"));
  api_.Delete("/api/v1/namespaces/shop/services/web");
  ASSERT_TRUE(LooksAtServiceAgain("web"));
  EXPECT_EQ(Http2Of("shop/web").size(), 3u);
  EXPECT_EQ(Http2Of("shop/plain"), std::vector{false});
}

// A Service with a selector is led nowhere, but requests by host come all the same.
TEST_F(ServeFrontTest, ASelectorHidesNoProtocol) {
  PutAutoscaler("web");
  PutService("web", R"({"selector":{"app":"web"},"ports":[{"port":80,"appProtocol":"grpc"}]})");
  Start();
  const auto web = Carry("web", "", "shop.example.com");
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  EXPECT_EQ(Http2Of("shop/web"), std::vector{true});
}

// Thousands of reads and writes, one after the other, would keep the Envoys waiting.
TEST_F(ServeFrontTest, WhoTakesOverReadsWhatTheOtherHasWritten) {
  PutAutoscaler("web", R"({"http":{"port":20005}})");
  PutService("web", R"({"ports":[{"port":80,"appProtocol":"grpc"}]})");
  PutSlice("web", 20005, R"(,"appProtocol":"grpc")");
  std::atomic<int> early = 0;
  api_.OnRequest([&](const http::HttpCall& call) {
    if (!serving()) early += absl::StrContains(call.target, "/web");
  });
  Start();
  const auto web = Carry("web");
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  EXPECT_EQ(early, 0);
  EXPECT_EQ(PortOf("shop/web"), 20005);
  EXPECT_EQ(Http2Of("shop/web"), std::vector{true});
  for (int i = 0; i < 40; ++i) clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(api_.CountRequests("PATCH", ""), 0);
  EXPECT_TRUE(absl::StrContains(Slice("web"), "10.0.0.9"));
  api_.OnRequest(nullptr);
}

// What the Envoys are not told of they drop.
TEST_F(ServeFrontTest, SlowToBeKnownIsNotGone) {
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) names.push_back(absl::StrCat("web-", i));
  for (const std::string& name : names) PutAutoscaler(name, "{}");
  api_.OnRequest([&](const http::HttpCall& call) {
    if (serving()) return;
    const bool slow =
        absl::StrContains(call.target, "/services/") || absl::StrContains(call.target, "/status");
    if (slow) clock_.Advance(absl::Seconds(5));
  });
  Start();
  std::vector<std::unique_ptr<scaler::RequestFront::Carried>> carried;
  for (const std::string& name : names) {
    carried.push_back(Carry(name));
    Decide(name, 0);
  }
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  EXPECT_GE(clock_.MonotonicNow(), absl::Seconds(200));
  {
    absl::MutexLock lock(&log_.mutex);
    EXPECT_EQ(log_.put_at_start, 4 * names.size());
  }
  api_.OnRequest(nullptr);
}

// Its port will be that of another service.
TEST_F(ServeFrontTest, TheServiceOfOneThatIsGoneLeadsNowhere) {
  PutAutoscaler("web");
  PutAutoscaler("api");
  Start();
  auto web = Carry("web");
  const auto api = Carry("api");
  Decide("web", 0);
  Decide("api", 0);
  const auto leads = [&](const std::string& service) {
    return absl::StrContains(Slice(service), "10.0.0.9");
  };
  ASSERT_TRUE(Becomes([&] { return leads("web") && leads("api"); }));
  const int port = PortOf("shop/web");
  // An edit ends the claim, and a new one follows.
  web.reset();
  web = Carry("web");
  ASSERT_TRUE(LooksAtServiceAgain("web"));
  EXPECT_TRUE(leads("web"));
  // Another name leaves that of before to callers who have not moved yet.
  PutService("old", R"({"ports":[{"port":80}]})");
  web = Carry("web", "old");
  ASSERT_TRUE(Becomes([&] { return leads("old"); }));
  web = Carry("web");
  kube::FakeApiServer::Fault fault{.method = "PUT", .part = "web-flyball-4"};
  api_.Inject(fault);
  web.reset();
  EXPECT_TRUE(Becomes([&] { return !leads("web"); }));
  EXPECT_EQ(api_.faults(), 1) << "it is tried again";
  EXPECT_FALSE(leads("old"));
  EXPECT_TRUE(absl::StrContains(Slice("web"), R"("endpoints":[])")) << Slice("web");
  EXPECT_TRUE(leads("api"));
  web = Carry("web");
  Decide("web", 0);
  EXPECT_TRUE(Becomes([&] { return leads("web"); }));
  EXPECT_NE(PortOf("shop/web"), port);
}

TEST_F(ServeFrontTest, NobodyGetsAPortToWhichAServiceIsLedThatIsGone) {
  PutSlice("gone", 20000);
  PutSlice("refused", 20001);
  PutSlice("pods", 20002);
  api_.Patch("/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/pods-flyball-4",
             R"({"metadata":{"labels":{"endpointslice.kubernetes.io/managed-by":"other"}}})");
  PutAutoscaler("refused", R"({"http":{"port":20001}})");
  api_.Patch("/apis/flyball.dev/v1alpha1/namespaces/shop/autoscalers/refused",
             R"({"spec":{"scaleTargetRef":null}})");
  PutAutoscaler("web");
  Start();
  const auto web = Carry("web");
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  EXPECT_EQ(PortOf("shop/web"), 20002);
  EXPECT_TRUE(Becomes([&] { return !absl::StrContains(Slice("gone"), "10.0.0.9"); }));
  EXPECT_TRUE(absl::StrContains(Slice("refused"), "10.0.0.9")) << "its Autoscaler is there";
  EXPECT_TRUE(absl::StrContains(Slice("pods"), "10.0.0.9")) << "it is somebody else's";
}

// Of a port that another namespace has by now.
TEST_F(ServeFrontTest, AServiceThatLeadsToThePortOfAnotherNamespaceIsEmptied) {
  PutSlice("gone", 20000);
  api_.Put(absl::StrCat(
      R"({"apiVersion":"flyball.dev/v1alpha1","kind":"Autoscaler","metadata":{"namespace":"b",)",
      R"("name":"api"},"spec":)", Spec(""), R"(,"status":{"http":{"port":20000}}})"));
  PutAutoscaler("web");
  Start();
  const auto web = Carry("web");
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  EXPECT_TRUE(Becomes([&] { return !absl::StrContains(Slice("gone"), "10.0.0.9"); }));
}

TEST_F(ServeFrontTest, AWishThatIsRefusedIsOver) {
  PutAutoscaler("web");
  Start();
  auto carried = Carry("web");
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  absl::Time now = absl::UnixEpoch() + clock_.MonotonicNow();
  events_->OnEnvoy("envoy-1", /*returning=*/false, now);
  EnvoyFollows();
  events_->OnRequest(7, "envoy-1", "shop/web", now);
  ASSERT_TRUE(Becomes([&] { return carried->Demand().replicas == 1; }));
  Decide("web", 0, scaler::Mode::kShadow);
  EXPECT_EQ(refused(), std::vector<std::string>{"shadow"});
  EXPECT_TRUE(Becomes([&] {
    EnvoyFollows();
    return carried->Demand().error.empty() && carried->Demand().replicas == 0;
  })) << carried->Demand().error
      << carried->Demand().replicas;
}

// Else a count that is never written would keep it.
TEST_F(ServeFrontTest, AWishIsNoMoreThanTheNewMaximum) {
  PutAutoscaler("web");
  Start();
  auto carried = Carry("web");
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] { return serving(); }));
  const absl::Time now = absl::UnixEpoch() + clock_.MonotonicNow();
  events_->OnEnvoy("envoy-1", /*returning=*/false, now);
  for (front::RequestId id = 1; id <= 500; ++id) events_->OnRequest(id, "envoy-1", "shop/web", now);
  ASSERT_TRUE(Becomes([&] { return carried->Demand().replicas > 3; }));
  carried = Carry("web", "", "", 3);
  EXPECT_TRUE(Becomes([&] {
    EnvoyFollows();
    return carried->Demand().replicas == 3;
  }));
}

TEST_F(ServeFrontTest, ManyServicesAreLookedAtLessOften) {
  std::vector<std::string> namespaces;
  for (int i = 0; i < 10; ++i) namespaces.push_back(absl::StrCat("shop-", i));
  std::vector<std::string> names;
  for (const std::string& ns : namespaces) {
    ns_ = ns;
    names = PutMany(62);
  }
  Start();
  std::vector<std::unique_ptr<scaler::RequestFront::Carried>> carried;
  for (const std::string& ns : namespaces) {
    ns_ = ns;
    for (auto& each : CarryAll(names)) carried.push_back(std::move(each));
  }
  ASSERT_TRUE(Await([&] { return AreLed(620); }));
  const auto looks = [&] { return api_.CountRequests("GET", "/services/web-"); };
  const int before = looks();
  clock_.Advance(absl::Seconds(30.5));  // of 31
  PutAutoscaler("zzz");
  carried.push_back(Carry("zzz"));
  Decide("zzz", 0);
  ASSERT_TRUE(Await([&] { return AreLed(621); }));
  EXPECT_EQ(looks(), before);
  clock_.Advance(absl::Seconds(1));
  EXPECT_TRUE(Await([&] {
    // The keeper may have begun to sleep only after the second had passed.
    clock_.Advance(absl::Milliseconds(10));
    return looks() == before + 620;
  }));
}

TEST_F(ServeFrontTest, ANewServiceDoesNotWaitUntilAllAreLedToOtherEnvoys) {
  const std::vector<std::string> names = PutMany(150);
  Start();
  const auto carried = CarryAll(names);
  ASSERT_TRUE(Await([&] { return AreLed(150); }));
  PutAutoscaler("zzz");
  std::unique_ptr<scaler::RequestFront::Carried> last;
  std::atomic<int> writes = 0, before_it = 0;
  api_.OnRequest([&](const http::HttpCall& call) {
    if (call.method == "PUT" && ++writes == 1) {
      last = Carry("zzz");
      Decide("zzz", 0);
    }
    if (call.method == "PATCH" && absl::StrContains(call.target, "zzz")) before_it = writes.load();
  });
  api_.Patch("/api/v1/namespaces/flyball/pods/envoy-1", R"({"status":{"podIP":"10.0.0.8"}})");
  ASSERT_TRUE(Await([&] { return writes == 150 && Carries("shop/zzz"); }));
  EXPECT_EQ(before_it, 100);
  api_.OnRequest(nullptr);
}

TEST_F(ServeFrontTest, OneThatIsRefusedIsTriedAgainSoonAmongMany) {
  const std::vector<std::string> names = PutMany(300);
  PutAutoscaler("zzz");
  api_.Delete("/api/v1/namespaces/shop/services/zzz");
  Start();
  const auto carried = CarryAll(names);
  auto last = Carry("zzz");
  Decide("zzz", 0);
  ASSERT_TRUE(Await([&] {
    return AreLed(300) && !last->Demand().front->ready &&
           last->Demand().front->reason == "ServiceNotLed";
  }));
  PutService("zzz", R"({"ports":[{"port":80}]})");
  clock_.Advance(absl::Seconds(6));
  last = Carry("zzz");  // the keeper looks, as it does each second
  EXPECT_TRUE(Await([&] { return absl::StrContains(Slice("zzz"), "10.0.0.9"); }));
}

TEST_F(ServeFrontTest, WhatIsRefusedIsNotTriedBetweenAllOthersThatAreLedToOtherEnvoys) {
  const std::vector<std::string> names = PutMany(400);
  Start();
  const auto carried = CarryAll(names);
  ASSERT_TRUE(Await([&] { return AreLed(400); }));
  kube::FakeApiServer::Fault fault{.method = "PATCH", .part = "/autoscalers/aaa/", .times = 1000};
  fault.status = 403;
  api_.Inject(fault);
  PutAutoscaler("aaa");
  const auto refused = Carry("aaa");
  ASSERT_TRUE(Await([&] { return api_.faults() > 0; }));
  const int before = api_.faults();
  api_.Patch("/api/v1/namespaces/flyball/pods/envoy-1", R"({"status":{"podIP":"10.0.0.8"}})");
  ASSERT_TRUE(Await([&] { return api_.CountRequests("PUT", "/endpointslices/") == 400; }));
  EXPECT_LT(api_.faults() - before, 4) << "it is tried in each of the four passes";
}

TEST_F(ServeFrontTest, WhatHasAProblemIsTriedWhileOthersAreLedToOtherEnvoys) {
  const std::vector<std::string> names = PutMany(400);
  Start();
  const auto carried = CarryAll(names);
  ASSERT_TRUE(Await([&] { return AreLed(400); }));
  kube::FakeApiServer::Fault fault{.method = "PATCH", .part = "/autoscalers/aaa/", .times = 1000};
  fault.status = 403;
  api_.Inject(fault);
  PutAutoscaler("aaa");
  const auto refused = Carry("aaa");
  ASSERT_TRUE(Await([&] { return api_.faults() > 0; }));
  std::atomic<int> writes = 0, tries = 0;
  api_.OnRequest([&](const http::HttpCall& call) {
    if (call.method == "PUT" && ++writes > 0) clock_.Advance(absl::Milliseconds(11));
    tries += call.method == "PATCH" && writes > 0 && writes < 400;
  });
  api_.Patch("/api/v1/namespaces/flyball/pods/envoy-1", R"({"status":{"podIP":"10.0.0.8"}})");
  ASSERT_TRUE(Await([&] { return writes == 400; }));
  EXPECT_GE(tries, 2) << "in four passes, each of which takes more than a second";
  api_.OnRequest(nullptr);
}

TEST_F(ServeFrontTest, OneThatAlwaysFailsDelaysNobody) {
  const std::vector<std::string> names = PutMany(300);
  PutAutoscaler("aaa");
  Start();
  const auto carried = CarryAll(names);
  const auto failing = Carry("aaa");
  Decide("aaa", 0);
  ASSERT_TRUE(Await([&] { return AreLed(301); }));
  api_.Inject({.method = "GET", .part = "/services/aaa", .times = 1000});
  api_.Patch("/api/v1/namespaces/flyball/pods/envoy-1", R"({"status":{"podIP":"10.0.0.8"}})");
  EXPECT_TRUE(Await([&] { return api_.CountRequests("PUT", "/endpointslices/") == 300; }));
}

TEST_F(ServeFrontTest, AnApiServerThatFailsIsGivenAPause) {
  const std::vector<std::string> names = PutMany(300);
  Start();
  const auto carried = CarryAll(names);
  ASSERT_TRUE(Await([&] { return AreLed(300); }));
  kube::FakeApiServer::Fault fault{.method = "GET", .part = "/services/web-", .times = 100'000};
  api_.Inject(fault);
  std::atomic<int> asked = 0;
  MonotonicTime first, third;  // of the first hundred, and of the third
  api_.OnRequest([&](const http::HttpCall& call) {
    if (!absl::StrContains(call.target, "/services/web-")) return;
    if (asked == 0) first = clock_.MonotonicNow();
    if (asked == 200) third = clock_.MonotonicNow();
    ++asked;
  });
  api_.Patch("/api/v1/namespaces/flyball/pods/envoy-1", R"({"status":{"podIP":"10.0.0.8"}})");
  ASSERT_TRUE(Await([&] {
    clock_.Advance(absl::Milliseconds(10));
    return asked > 200;
  }));
  EXPECT_GE(third - first, absl::Seconds(1));
  api_.OnRequest(nullptr);
}

TEST_F(ServeFrontTest, WhatCannotBeListedIsAskedForAndToldLessAndLess) {
  const TestLog log;
  kube::FakeApiServer::Fault fault{.method = "GET", .part = "/autoscalers", .times = 5};
  fault.status = 403;
  fault.message = "forbidden";
  api_.Inject(fault);
  PutAutoscaler("web");
  Start();
  const auto carried = Carry("web");
  Decide("web", 0);
  const MonotonicTime start = clock_.MonotonicNow();
  EXPECT_TRUE(Await([&] {
    clock_.Advance(absl::Milliseconds(500));
    return Carries("shop/web");
  }));
  EXPECT_GE(clock_.MonotonicNow() - start, absl::Seconds(1 + 2 + 4 + 5 + 5));
  front_.Stop();
  for (const char* const line : {"the Autoscalers are not known: ", "are known again"}) {
    EXPECT_EQ(log.Count(line), 1u) << log.text();
  }
}

// Else the large Autoscalers of one namespace would keep all others from being carried.
TEST_F(ServeFrontTest, AutoscalersAreListedWhateverTheLengthOfAllIs) {
  std::atomic<size_t> limit = 0;
  api_.OnRequest([&](const http::HttpCall& call) {
    if (call.method == "GET" && absl::StrContains(call.target, "/autoscalers?")) {
      limit = call.max_body_bytes;
    }
  });
  PutAutoscaler("web");
  Start();
  const auto carried = Carry("web");
  Decide("web", 0);
  EXPECT_TRUE(Becomes([&] { return Carries("shop/web"); }));
  front_.Stop();
  EXPECT_GT(limit, http::HttpCall().max_body_bytes);
}

TEST_F(ServeFrontTest, WhoOwnsAnewAsksAtOnceWhatCouldNotBeListed) {
  kube::FakeApiServer::Fault fault{.method = "GET", .part = "/autoscalers", .times = 4};
  fault.status = 403;
  api_.Inject(fault);
  PutAutoscaler("web");
  Start();
  const auto carried = Carry("web");
  Decide("web", 0);
  ASSERT_TRUE(Becomes([&] { return api_.faults() == 4; }));
  front_.OnReleased({.kind = scaler::AutoscalerKind::kOwn, .ns = "shop", .name = "web"});
  Decide("web", 0);
  EXPECT_TRUE(Await([&] { return Carries("shop/web"); }));
}

// Previews come and go each with a namespace of its own.
TEST_F(ServeFrontTest, ANamespaceIsWatchedForAsLongAsItHasAService) {
  Start();
  for (const char* const ns : {"pr-1", "pr-2", "pr-3"}) {
    ns_ = ns;
    PutAutoscaler("web");
    PutAutoscaler("api");
    auto web = Carry("web"), api = Carry("api");
    Decide("web", 0);
    Decide("api", 0);
    ASSERT_TRUE(Becomes([&] { return api_.watches() == 2; })) << "its pods', and the Envoys'";
    const auto is_known = [&](const std::string& name) {
      for (const CarriedState& state : front_.States()) {
        if (state.service == absl::StrCat(ns, "/", name)) return true;
      }
      return false;
    };
    web.reset();
    clock_.Advance(absl::Seconds(11));  // by now nobody takes it over
    ASSERT_TRUE(Becomes([&] { return !is_known("web"); }));
    EXPECT_TRUE(Becomes([&] { return api_.watches() == 2; }));
    api.reset();
    clock_.Advance(absl::Seconds(11));
    ASSERT_TRUE(Becomes([&] { return api_.watches() == 1; }));
  }
}

TEST_F(ServeFrontTest, ANamespacesPodsDoNotWaitUntilThoseOfAnotherAreTold) {
  PutAutoscaler("web");
  Start();
  const auto web = Carry("web");
  Decide("web", 0);
  ns_ = "prod";
  PutAutoscaler("api");
  const auto api = Carry("api");
  Decide("api", 0);
  ASSERT_TRUE(Becomes([&] { return Carries("shop/web") && Carries("prod/api") && serving(); }));
  absl::Notification telling, told;
  {
    absl::MutexLock lock(&log_.mutex);
    log_.on_put = [&](const std::string& service) {
      if (service != "shop/web" || telling.HasBeenNotified()) return;
      telling.Notify();
      told.WaitForNotification();
    };
  }
  ns_ = "shop";
  PutPod("web-1", "web");
  EXPECT_TRUE(Await([&] { return telling.HasBeenNotified(); }));
  ns_ = "prod";
  PutPod("api-1", "api");
  EXPECT_TRUE(Await([&] {
    for (const CarriedState& state : front_.States()) {
      if (state.service == "prod/api") return state.front->state != front::ServiceState::kZero;
    }
    return false;
  }));
  told.Notify();
  front_.Stop();  // nobody puts anything any more
}

TEST_F(ServeFrontTest, WithoutAThreadForTheirWatchItsPodsAreNotKnown) {
  PutAutoscaler("web");
  Start();
  const auto carried = Carry("web");
  {
    const ThreadLimit limit;
    Decide("web", 0);
    EXPECT_TRUE(Becomes([&] {
      return absl::StrContains(carried->Demand().error, "no thread can be made");
    })) << carried->Demand().error;
  }
  EXPECT_TRUE(Becomes([&] { return Carries("shop/web"); }));
}

TEST_F(ServeFrontTest, SaysOnceWhyEnvoysAreNotListenedFor) {
  const TestLog log;
  listens_ = absl::UnavailableError("0.0.0.0:1: address in use");
  PutAutoscaler("web");
  Start();
  const auto carried = Carry("web");
  Decide("web", 0);
  EXPECT_TRUE(Becomes([&] {
    return absl::StrContains(carried->Demand().error, "0.0.0.0:1: address in use");
  })) << carried->Demand().error;
  EXPECT_TRUE(Becomes([&] { return tries_to_listen_ >= 3; }));
  front_.Stop();
  EXPECT_EQ(log.Count("address in use"), 1u);
}

}  // namespace
}  // namespace flyball::serve
