#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "scaler/triggers/request_front.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::scaler {
namespace {

using testing::HasSubstr;

using Fields = std::map<std::string, std::string>;

// A front for one service whose demand the test sets.
class TestFront : public RequestFront {
 public:
  std::unique_ptr<Carried> Carry(CarriedService service, std::function<void()> changed) override {
    last = std::move(service);
    on_change = std::move(changed);
    ++carried;
    return std::make_unique<One>(*this);
  }

  bool MayEnterZero(const std::string&) override { return true; }
  void ScaleWritten(const std::string&, int32_t, int32_t, const absl::Status&) override {}

  RequestDemand demand;
  CarriedService last;
  std::function<void()> on_change;
  int carried = 0;

 private:
  class One : public Carried {
   public:
    explicit One(TestFront& front) : front_(front) {}
    ~One() override { --front_.carried; }
    RequestDemand Demand() const override { return front_.demand; }

   private:
    TestFront& front_;
  };
};

absl::StatusOr<std::unique_ptr<Trigger>> Make(Fields more, std::shared_ptr<TestFront> front,
                                              std::string metric_type = "") {
  TriggerSpec spec;
  spec.type = "http";
  spec.metadata = std::move(more);
  spec.metric_type = std::move(metric_type);
  spec.metadata.insert({{"service", "web"}, {"targetPort", "8080"}});
  TriggerContext context;
  context.ns = "shop";
  context.autoscaler = "web";
  context.target = {"apps/v1", "Deployment", "web"};
  context.min_replicas = 0;
  context.max_replicas = 50;
  context.front = std::move(front);
  return MakeTrigger(spec, context);
}

std::string Refused(Fields more) {
  return std::string(Make(std::move(more), nullptr).status().message());
}

TEST(RequestTriggerTest, AsksForItsServiceByKnativesDefaults) {
  const auto front = std::make_shared<TestFront>();
  const auto trigger = Make({}, front);
  ASSERT_TRUE(trigger.ok()) << trigger.status();
  EXPECT_EQ(front->carried, 0);
  (*trigger)->Subscribe([] {});
  EXPECT_EQ(front->carried, 1);
  const front::HttpService& http = front->last.http;
  EXPECT_EQ(front->last.target, (ObjectReference{"apps/v1", "Deployment", "web"}));
  EXPECT_EQ(http.name, "shop/web");
  EXPECT_EQ(http.front_service, "web");
  EXPECT_EQ(http.target_port, "8080");
  EXPECT_EQ(http.container_concurrency, 0);
  EXPECT_EQ(http.activation_timeout, absl::Seconds(60));
  EXPECT_EQ(http.request_timeout, absl::ZeroDuration());
  EXPECT_EQ(http.queue, 2000);
  EXPECT_EQ(http.settings.target, 70);
  EXPECT_EQ(http.settings.min_scale, 0);
  EXPECT_EQ(http.settings.max_scale, 50);
}

TEST(RequestTriggerTest, ItsMetricIsACountThatNoToleranceHolds) {
  const auto trigger = Make({}, nullptr);
  ASSERT_TRUE(trigger.ok()) << trigger.status();
  const auto metrics = (*trigger)->Metrics(absl::ZeroDuration());
  ASSERT_TRUE(metrics.ok() && metrics->size() == 1);
  EXPECT_EQ(metrics->front(), (TriggerMetric{.name = "s0-http-web",
                                             .target_type = TargetType::kAverageValue,
                                             .target_milli = 1000,
                                             .exact = true}));
}

TEST(RequestTriggerTest, ReadsWhatTheFrontSays) {
  const auto front = std::make_shared<TestFront>();
  const auto trigger = Make({}, front);
  ASSERT_TRUE(trigger.ok());
  const absl::Time now = absl::FromUnixSeconds(1'800'000'000);
  EXPECT_THAT((*trigger)->Read(now, absl::ZeroDuration())[0].error,
              HasSubstr("carries its requests yet"));
  bool told = false;
  (*trigger)->Subscribe([&] { told = true; });
  front->on_change();
  EXPECT_TRUE(told);

  front->demand = {.replicas = 7, .active = true};
  TriggerReading got = (*trigger)->Read(now, absl::ZeroDuration())[0];
  EXPECT_EQ(got.error, "");
  EXPECT_EQ(got.value_milli, 7000);
  EXPECT_EQ(got.replicas, 7);
  EXPECT_TRUE(got.active);
  EXPECT_EQ(got.time, now);

  // There are no requests, but the last pod has to stay.
  front->demand = {.replicas = 0, .active = true};
  EXPECT_TRUE((*trigger)->Read(now, absl::ZeroDuration())[0].active);
  front->demand = {.error = "no Envoy is connected"};
  got = (*trigger)->Read(now, absl::ZeroDuration())[0];
  EXPECT_EQ(got.error, "no Envoy is connected");
  EXPECT_FALSE(got.replicas.has_value());
}

TEST(RequestTriggerTest, ItsEndEndsTheService) {
  const auto front = std::make_shared<TestFront>();
  auto trigger = Make({}, front);
  ASSERT_TRUE(trigger.ok());
  (*trigger)->Subscribe([] {});
  trigger->reset();
  EXPECT_EQ(front->carried, 0);
}

TEST(RequestTriggerTest, WithoutAFrontItSaysWhichFlagIsMissing) {
  const auto trigger = Make({}, nullptr);
  ASSERT_TRUE(trigger.ok());
  (*trigger)->Subscribe([] {});
  EXPECT_THAT((*trigger)->Read(absl::UnixEpoch(), absl::ZeroDuration())[0].error,
              HasSubstr("--front-listen"));
}

TEST(RequestTriggerTest, WhatIsWrongIsToldByItsKey) {
  EXPECT_EQ(Refused({{"targetPort", "0"}}),
            "triggers[0].metadata.targetPort: must be a port from 1 to 65535, or the name of a "
            "pod's port");
  EXPECT_THAT(Refused({{"targetPort", "http_1"}}), HasSubstr("metadata.targetPort"));
  EXPECT_THAT(Refused({{"service", "web.shop"}}), HasSubstr("metadata.service"));
  EXPECT_EQ(Refused({{"queue", "0"}}), "triggers[0].metadata.queue: must be from 1 to 10000");
  EXPECT_THAT(Refused({{"containerConcurrency", "-1"}}), HasSubstr("containerConcurrency"));
  EXPECT_THAT(Refused({{"activationTimeout", "2h"}}), HasSubstr("at most 1h"));
  EXPECT_THAT(Refused({{"requestTimeout", "-1s"}}), HasSubstr("requestTimeout"));
  for (const char* const longer : {"8761h", "3000000h", "inf"}) {
    EXPECT_THAT(Refused({{"requestTimeout", longer}}), HasSubstr("at most 8760h")) << longer;
  }
  EXPECT_EQ(Refused({{"requestTimeout", "8760h"}}), "");
  EXPECT_EQ(
      Refused({{"window", "5s"}, {"metric", "cpu"}}),
      "triggers[0].metadata.window: expected 6s <= 5s <= 1h0m0s; triggers[0].metadata.metric: "
      "invalid value: cpu");
  EXPECT_THAT(std::string(Make({}, nullptr, "Value").status().message()),
              HasSubstr("metricType Value"));
}

TEST(RequestTriggerTest, HostsAreRoutesOfItsOwn) {
  const auto front = std::make_shared<TestFront>();
  const auto trigger =
      Make({{"hosts", "shop.example.com"}, {"pathPrefixes", "/api"}, {"headers", "x-tenant=acme"}},
           front);
  ASSERT_TRUE(trigger.ok()) << trigger.status();
  (*trigger)->Subscribe([] {});
  const front::HostRoutes& hosts = front->last.http.hosts;
  EXPECT_EQ(hosts.places, (std::vector<front::HostPlace>{{"shop.example.com", "/api"}}));
  EXPECT_EQ(hosts.headers, (std::vector<front::HeaderNeed>{{"x-tenant", "acme"}}));
  EXPECT_EQ(
      Refused({{"hosts", "a:80"}}),
      "triggers[0].metadata.hosts: \"a:80\" is no host: shop.example.com, *.example.com or *, "
      "without port");
  EXPECT_THAT(Refused({{"headers", "x-tenant=acme"}}), HasSubstr("metadata.hosts: "));
}

TEST(RequestTriggerTest, PortsHaveNamesToo) {
  EXPECT_TRUE(Make({{"targetPort", "http"}, {"containerConcurrency", "10"}}, nullptr).ok());
}

}  // namespace
}  // namespace flyball::scaler
