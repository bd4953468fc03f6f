#include "serve/hpa_askers.h"

#include <atomic>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/objects/builtin_resources.h"
#include "kube/testing/fake_api_server.h"

namespace flyball::serve {
namespace {

using adapter::MetricAsker;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kHpas[] = "/horizontalpodautoscalers";

class HpaAskersTest : public testing::Test {
 protected:
  HpaAskersTest() {
    server_.OnRequest([this](const http::HttpCall& call) {
      lists_ += absl::StrContains(call.target, kHpas);
      scales_ += absl::StrContains(call.target, "/scale");
    });
  }
  void PutTarget(const std::string& name, int replicas, int status) {
    server_.Put(absl::StrCat(
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":"shop","name":")",
        name, R"("},"spec":{"replicas":)", replicas,
        R"(,"selector":{"matchLabels":{"a":"b"}}},"status":{"replicas":)", status, "}}"));
  }
  // `metrics` in flow style.
  void PutHpa(const std::string& name, const std::string& metrics,
              const std::string& kind = "Deployment", const std::string& ns = "shop") {
    server_.Put(absl::StrCat(
        R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"namespace":")",
        ns, R"(","name":")", name,
        R"("},"spec":{"minReplicas":2,"maxReplicas":9,"scaleTargetRef":{"apiVersion":"apps/v1",)",
        R"("kind":")", kind, R"(","name":")", name, R"("},"metrics":[)", metrics, "]}}"));
  }
  static std::string External(const std::string& name, const std::string& target,
                              const std::string& labels = "") {
    return absl::StrCat(R"({"type":"External","external":{"metric":{"name":")", name, "\"",
                        labels.empty() ? "" : absl::StrCat(R"(,"selector":)", labels),
                        R"(},"target":)", target, "}}");
  }
  absl::StatusOr<std::vector<MetricAsker>> Of(const std::string& metric,
                                              const std::string& selector = "") {
    return askers_.Of(
        {.ns = "shop", .metric = metric, .selector = *kube::Selector::Parse(selector)});
  }

  SimulatedClock clock_{absl::FromUnixSeconds(1700000000)};
  kube::FakeApiServer server_;
  int lists_ = 0, scales_ = 0;
  std::shared_ptr<const kube::RestMapper> kinds_ =
      std::make_shared<kube::RestMapper>(kube::BuiltinResources());
  HpaAskers askers_{server_.Connect(), clock_, [this] { return kinds_; }};
};

constexpr char kAverage[] = R"({"type":"AverageValue","averageValue":"30"})";
constexpr char kValue[] = R"({"type":"Value","value":"30"})";

TEST_F(HpaAskersTest, ThoseWithTheMetricAndTheSelector) {
  PutTarget("web", 4, 3);
  PutHpa("web", External("queue_len", kAverage));
  PutTarget("jobs", 1, 1);
  PutHpa("jobs",
         absl::StrCat(External("queue_len", kValue, R"({"matchLabels":{"tier":"b","az":"a"}})"),
                      ",", External("other", kAverage)));
  PutHpa("web", External("queue_len", kAverage), "Deployment", "elsewhere");
  const auto plain = Of("queue_len");
  ASSERT_TRUE(plain.ok()) << plain.status();
  ASSERT_THAT(*plain, SizeIs(1));
  EXPECT_EQ(plain->front().name, "shop/web");
  EXPECT_EQ(plain->front().average_milli, 30'000);
  EXPECT_EQ(plain->front().min, 2);
  EXPECT_EQ(plain->front().max, 9);
  EXPECT_EQ(plain->front().spec_replicas, 4);
  EXPECT_EQ(plain->front().status_replicas, 3);
  const auto selected = Of("queue_len", "tier=b,az=a");
  ASSERT_TRUE(selected.ok()) << selected.status();
  ASSERT_THAT(*selected, SizeIs(1));
  EXPECT_EQ(selected->front().name, "shop/jobs");
  EXPECT_EQ(selected->front().average_milli, std::nullopt);
  EXPECT_THAT(*Of("nobody_asks"), IsEmpty());
}

TEST_F(HpaAskersTest, NothingIsKept) {
  PutTarget("web", 4, 4);
  PutHpa("web", External("queue_len", kAverage));
  ASSERT_TRUE(Of("queue_len").ok());
  PutTarget("web", 7, 4);
  PutTarget("new", 5, 5);
  PutHpa("new", External("queue_len", kAverage));
  const auto askers = Of("queue_len");
  ASSERT_TRUE(askers.ok()) << askers.status();
  ASSERT_THAT(*askers, SizeIs(2));
  EXPECT_EQ(askers->back().spec_replicas, 7);
  EXPECT_EQ(lists_, 2);
  EXPECT_EQ(scales_, 3);
}

// Those who come during a look may know of changes that it has not seen.
TEST_F(HpaAskersTest, ThoseWhoComeDuringALookShareTheNext) {
  PutTarget("web", 4, 4);
  PutHpa("web", External("queue_len", kAverage));
  absl::Notification begun, go_on;
  server_.OnRequest([&](const http::HttpCall& call) {
    if (!absl::StrContains(call.target, kHpas) || ++lists_ > 1) return;
    begun.Notify();
    go_on.WaitForNotification();
  });
  std::thread first([&] { EXPECT_TRUE(Of("queue_len").ok()); });
  begun.WaitForNotification();
  std::atomic<int> answered = 0;
  std::vector<std::thread> others;
  for (int i = 0; i < 4; ++i) {
    others.emplace_back([&] { answered += Of("queue_len").ok(); });
  }
  clock_.AwaitWaits(4);
  go_on.Notify();
  first.join();
  for (std::thread& other : others) other.join();
  EXPECT_EQ(answered, 4);
  EXPECT_EQ(lists_, 2);
}

// Whoever may ask can think of any number of questions while a source is down.
TEST_F(HpaAskersTest, OnlyAFewQuestionsAreLookedAtAtOnce) {
  std::atomic<int> looks = 0;
  absl::Notification all_begun, go_on;
  server_.OnRequest([&](const http::HttpCall& call) {
    if (!absl::StrContains(call.target, kHpas)) return;
    if (++looks == HpaAskers::kMaxLooks) all_begun.Notify();
    go_on.WaitForNotification();
  });
  std::vector<std::thread> askers;
  for (int i = 0; i < HpaAskers::kMaxLooks; ++i) {
    askers.emplace_back([&, i] { EXPECT_TRUE(Of(absl::StrCat("m", i)).ok()); });
  }
  all_begun.WaitForNotification();
  askers.emplace_back([&] { EXPECT_TRUE(Of("one_more").ok()); });
  clock_.AwaitWaits(1);
  EXPECT_EQ(looks, HpaAskers::kMaxLooks);
  go_on.Notify();
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(looks, HpaAskers::kMaxLooks + 1);
}

// The API server may be well then: it was not asked.
TEST_F(HpaAskersTest, AQuestionWhoseTurnDoesNotComeSaysSo) {
  std::atomic<int> looks = 0;
  absl::Notification all_begun, go_on;
  server_.OnRequest([&](const http::HttpCall& call) {
    if (!absl::StrContains(call.target, kHpas)) return;
    if (++looks == HpaAskers::kMaxLooks) all_begun.Notify();
    go_on.WaitForNotification();
  });
  std::vector<std::thread> askers;
  for (int i = 0; i < HpaAskers::kMaxLooks; ++i) {
    askers.emplace_back([&, i] { static_cast<void>(Of(absl::StrCat("m", i))); });
  }
  all_begun.WaitForNotification();
  std::vector<std::thread> late;
  for (const char* metric : {"one_more", "m0"}) {  // another question, and one that is looked at
    late.emplace_back([&, metric] {
      const absl::Status waited = Of(metric).status();
      EXPECT_EQ(waited.code(), absl::StatusCode::kDeadlineExceeded);
      EXPECT_THAT(std::string(waited.message()), HasSubstr("was not asked in time"));
    });
  }
  clock_.AwaitWaits(2);
  clock_.Advance(HpaAskers::kTimeout);
  for (std::thread& asker : late) asker.join();
  EXPECT_EQ(looks, HpaAskers::kMaxLooks);
  go_on.Notify();
  for (std::thread& asker : askers) asker.join();
}

TEST_F(HpaAskersTest, ASlowApiServerIsNotWaitedForBeyondTheRequestsTime) {
  for (int i = 0; i < 5; ++i) {
    PutTarget(absl::StrCat("web-", i), 1, 1);
    PutHpa(absl::StrCat("web-", i), External("queue_len", kAverage));
  }
  server_.OnRequest([&](const http::HttpCall& call) {
    scales_ += absl::StrContains(call.target, "/scale");
    clock_.Advance(absl::Seconds(2));
  });
  EXPECT_EQ(Of("queue_len").status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(scales_, 2);
}

TEST_F(HpaAskersTest, AnAutoscalerThatCannotBeReadMayBeOneOfThem) {
  PutTarget("web", 4, 4);
  PutHpa("web", External("queue_len", kAverage));
  server_.Put(R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{)"
              R"("namespace":"shop","name":"odd"},"spec":7})");
  EXPECT_THAT(std::string(Of("queue_len").status().message()),
              HasSubstr("the HorizontalPodAutoscalers cannot be listed: "));
}

TEST_F(HpaAskersTest, WhatCannotBeReadIsTold) {
  PutHpa("web", External("queue_len", kAverage));
  server_.Inject({.method = "GET",
                  .part = kHpas,
                  .status = 403,
                  .reason = "Forbidden",
                  .message = "forbidden: cannot list"});
  EXPECT_THAT(std::string(Of("queue_len").status().message()),
              testing::EndsWith("forbidden: cannot list"));
  EXPECT_THAT(std::string(Of("queue_len").status().message()),
              HasSubstr("the scale of shop/web's target cannot be read"));
  PutHpa("web", External("queue_len", kAverage), "Gadget");
  EXPECT_THAT(std::string(Of("queue_len").status().message()),
              HasSubstr("the kind Gadget, target of shop/web, is not known"));
}

TEST_F(HpaAskersTest, TooManyThatAskTheSameAreAnError) {
  for (size_t i = 0; i <= HpaAskers::kMaxAskers; ++i) {
    PutTarget(absl::StrCat("web-", i), 1, 1);
    PutHpa(absl::StrCat("web-", i), External("queue_len", kAverage));
  }
  EXPECT_THAT(std::string(Of("queue_len").status().message()), HasSubstr("more than 20"));
}

}  // namespace
}  // namespace flyball::serve
