#include "kube/client/event_recorder.h"

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kube/testing/fake_api_server.h"
#include "nlohmann/json.hpp"

namespace flyball::kube {
namespace {

using nlohmann::json;

constexpr char kEvents[] = "/api/v1/namespaces/shop/events";

class EventRecorderTest : public testing::Test {
 protected:
  EventRecorderTest() { recorder_.emplace(client_, clock_, "horizontal-pod-autoscaler", options_); }

  static EventSubject Hpa(const std::string& ns = "shop", const std::string& name = "web") {
    return {.api_version = "autoscaling/v2",
            .kind = "HorizontalPodAutoscaler",
            .ns = ns,
            .name = name,
            .uid = "u1",
            .resource_version = "42"};
  }

  void Record(const std::string& message, bool warning = false) {
    recorder_->Record(Hpa(), warning, "SuccessfulRescale", message);
  }
  // Waits until everything recorded so far has been dealt with.
  EventRecorder::Stats Settle(uint64_t recorded) {
    while (true) {
      const auto stats = recorder_->stats();
      if (stats.sent + stats.filtered + stats.dropped + stats.failed >= recorded) return stats;
      std::this_thread::yield();
    }
  }
  // Moves the time to the next try, that often.
  void TryAgain(uint64_t times) {
    for (uint64_t time = 1; time <= times; ++time) {
      clock_.AwaitWaits(time);
      clock_.Advance(options_.retry_delay);
    }
  }
  std::vector<json> Events(const std::string& path = kEvents) {
    std::vector<json> events;
    for (const std::string& text : server_.List(path)) events.push_back(json::parse(text));
    return events;
  }

  FakeApiServer server_;
  std::unique_ptr<http::HttpTransport> transport_ = server_.Connect();
  ApiClient client_{*transport_, Clock::System()};
  SimulatedClock clock_{absl::FromUnixSeconds(1772600767)};  // 2026-03-04T05:06:07Z
  EventRecorderOptions options_;
  std::optional<EventRecorder> recorder_;
};

TEST_F(EventRecorderTest, SendsWhatTheControllerSends) {
  Record("New size: 5; reason: cpu resource utilization (percentage of request) above target");
  EXPECT_EQ(Settle(1).sent, 1u);
  ASSERT_EQ(Events().size(), 1u);
  json event = Events()[0];
  EXPECT_EQ(event["metadata"]["name"], absl::StrCat("web.", absl::Hex(1772600767000000000)));
  EXPECT_EQ(event["metadata"]["namespace"], "shop");
  event.erase("metadata");
  EXPECT_EQ(event, json::parse(R"({"kind":"Event","apiVersion":"v1",
      "involvedObject":{"kind":"HorizontalPodAutoscaler","namespace":"shop","name":"web",
        "uid":"u1","apiVersion":"autoscaling/v2","resourceVersion":"42"},
      "reason":"SuccessfulRescale",
      "message":"New size: 5; reason: cpu resource utilization (percentage of request) above target",
      "source":{"component":"horizontal-pod-autoscaler"},
      "firstTimestamp":"2026-03-04T05:06:07Z","lastTimestamp":"2026-03-04T05:06:07Z","count":1,
      "type":"Normal","eventTime":null,"reportingComponent":"horizontal-pod-autoscaler",
      "reportingInstance":""})"));
}

TEST_F(EventRecorderTest, OfALongMessageTheBeginningIsSent) {
  Record(absl::StrCat("x", std::string(4095, 'y'), "\xc3\xa4"));
  std::string umlauts = "x";
  for (int i = 0; i < 500'000; ++i) umlauts += "\xc3\xa4";
  Record(umlauts);
  EXPECT_EQ(Settle(2).sent, 2u);
  for (const json& event : Events()) {
    const std::string message = event["message"];
    EXPECT_TRUE(message.size() == 4098 || message.size() == 4099) << message.size();
    EXPECT_FALSE(absl::StrContains(message, "\xef\xbf\xbd"));  // half a character
  }
}

TEST_F(EventRecorderTest, EqualOneIsAPatchOfTheFirst) {
  Record("a", true);
  clock_.Advance(absl::Seconds(15));
  Record("a", true);
  EXPECT_EQ(Settle(2).sent, 2u);
  ASSERT_EQ(Events().size(), 1u);
  const json event = Events()[0];
  EXPECT_EQ(event["count"], 2);
  EXPECT_EQ(event["type"], "Warning");
  EXPECT_EQ(event["firstTimestamp"], "2026-03-04T05:06:07Z");
  EXPECT_EQ(event["lastTimestamp"], "2026-03-04T05:06:22Z");
  EXPECT_EQ(client_.counters().patches, 1u);
}

TEST_F(EventRecorderTest, ForgottenOneIsCreatedAgainWithItsCount) {
  Record("a");
  Settle(1);
  const std::string name = Events()[0]["metadata"]["name"];
  server_.Delete(absl::StrCat(kEvents, "/", name));
  Record("a");
  EXPECT_EQ(Settle(2).sent, 2u);
  ASSERT_EQ(Events().size(), 1u);
  EXPECT_EQ(Events()[0]["metadata"]["name"], name);
  EXPECT_EQ(Events()[0]["count"], 2);
}

TEST_F(EventRecorderTest, SimilarOnesAreCombined) {
  for (int i = 0; i < 12; ++i) Record(absl::StrCat("m", i));
  EXPECT_EQ(Settle(12).sent, 12u);
  // Nine of their own and one for the other three.
  ASSERT_EQ(Events().size(), 10u);
  int combined = 0;
  for (const json& event : Events()) {
    if (!absl::StartsWith(event["message"].get<std::string>(), "(combined")) continue;
    ++combined;
    EXPECT_EQ(event["message"], "(combined from similar events): m11");
    EXPECT_EQ(event["count"], 3);
    EXPECT_EQ(event["reportingComponent"], "");
  }
  EXPECT_EQ(combined, 1);
}

TEST_F(EventRecorderTest, WhatIsBeyondTheBudgetIsCounted) {
  for (int i = 0; i < 30; ++i) Record("a");
  const auto stats = Settle(30);
  EXPECT_EQ(stats.sent, 25u);
  EXPECT_EQ(stats.filtered, 5u);
}

TEST_F(EventRecorderTest, ClusterScopedObjectsHaveTheirsInDefault) {
  recorder_->Record(Hpa("", "node-1"), false, "R", "m");
  Settle(1);
  ASSERT_EQ(Events("/api/v1/namespaces/default/events").size(), 1u);
  EXPECT_FALSE(
      Events("/api/v1/namespaces/default/events")[0]["involvedObject"].contains("namespace"));
}

TEST_F(EventRecorderTest, NameThatMakesNoneIsReplaced) {
  recorder_->Record(Hpa("shop", std::string(250, 'a')), false, "R", "m");
  recorder_->Record(Hpa("shop", "Not_A_Name"), false, "R", "m");
  EXPECT_EQ(Settle(2).sent, 2u);
  for (const json& event : Events()) {
    EXPECT_EQ(event["metadata"]["name"].get<std::string>().size(), 32u);
  }
}

TEST_F(EventRecorderTest, RefusedOnesAreGivenUp) {
  server_.Inject({.method = "POST", .status = 403, .message = "no"});
  Record("a");
  Record("b");
  const auto stats = Settle(2);
  EXPECT_EQ(stats.failed, 1u);
  EXPECT_EQ(stats.sent, 1u);
  EXPECT_EQ(Events()[0]["message"], "b");
}

TEST_F(EventRecorderTest, LostConnectionIsTriedAgain) {
  server_.Inject({.method = "POST", .times = 3, .status = 0});
  Record("a");
  TryAgain(3);
  EXPECT_EQ(Settle(1).sent, 1u);
  EXPECT_EQ(server_.CountRequests("POST", kEvents), 4);
}

TEST_F(EventRecorderTest, TwelveTriesAtMost) {
  server_.Inject({.method = "POST", .times = 12, .status = 0});
  Record("a");
  TryAgain(11);
  EXPECT_EQ(Settle(1).failed, 1u);
  EXPECT_EQ(server_.CountRequests("POST", kEvents), 12);
}

TEST_F(EventRecorderTest, FullQueueDropsAndANamespaceLeavesRoomForOthers) {
  options_.max_queue = 4;
  recorder_.emplace(client_, clock_, "c", options_);
  server_.SetDead(true);
  Record("held");
  // Taken from the queue, it waits for its next try.
  server_.AwaitRequests("POST", "", 1);
  for (int i = 0; i < 5; ++i) Record(absl::StrCat("m", i));
  EXPECT_EQ(recorder_->stats().dropped, 3u);
  for (int i = 0; i < 2; ++i) recorder_->Record(Hpa("bank"), false, "R", absl::StrCat("m", i));
  EXPECT_EQ(recorder_->stats().dropped, 4u);
}

TEST_F(EventRecorderTest, EndSendsWhatIsQueued) {
  for (int i = 0; i < 9; ++i) Record(absl::StrCat("m", i));
  recorder_.reset();
  EXPECT_EQ(Events().size(), 9u);
}

TEST_F(EventRecorderTest, EndDoesNotWaitForADeadServer) {
  server_.SetDead(true);
  for (int i = 0; i < 9; ++i) Record(absl::StrCat("m", i));
  recorder_.reset();  // the time of the next try never comes
  EXPECT_TRUE(Events().empty());
}

}  // namespace
}  // namespace flyball::kube
