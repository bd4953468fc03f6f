#include "scaler/views/otlp_log.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "base/clock.h"
#include "base/test_log.h"

namespace flyball::scaler {
namespace {

using nlohmann::json;

// A receiver that answers with `status`, 0 for nothing at all, and keeps what it was sent.
struct Receiver {
  int status = 200;
  std::vector<json> taken;

  class Transport : public http::HttpTransport {
   public:
    explicit Transport(Receiver& receiver) : receiver_(receiver) {}
    absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall& call) override {
      if (receiver_.status == 0) return absl::UnavailableError("refused");
      EXPECT_EQ(call.method, "POST");
      EXPECT_EQ(call.target, "/v1/logs");
      EXPECT_EQ(call.content_type, "application/json");
      http::HttpAnswer answer;
      answer.status = receiver_.status;
      if (answer.status == 200) receiver_.taken.push_back(json::parse(call.body));
      return answer;
    }
    absl::Status Stream(const http::HttpCall&,
                        const std::function<bool(absl::string_view)>&) override {
      return absl::UnimplementedError("");
    }
    void Shutdown() override {}

   private:
    Receiver& receiver_;
  };

  size_t records() const {
    size_t count = 0;
    for (const json& body : taken) {
      count += body["resourceLogs"][0]["scopeLogs"][0]["logRecords"].size();
    }
    return count;
  }
};

// A receiver that answers nothing until its transport is shut down.
class Hanging : public http::HttpTransport {
 public:
  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall&) override {
    called.Notify();
    shut.WaitForNotification();
    return absl::CancelledError("shutting down");
  }
  absl::Status Stream(const http::HttpCall&,
                      const std::function<bool(absl::string_view)>&) override {
    return absl::UnimplementedError("");
  }
  void Shutdown() override { shut.Notify(); }

  absl::Notification called, shut;
};

struct World {
  World() : log(std::make_unique<Receiver::Transport>(receiver), "/v1/logs", Clock::System()) {}
  World(std::unique_ptr<http::HttpTransport> server, Clock& clock)
      : log(std::move(server), "/v1/logs", clock) {}

  void Decide(const std::string& name, int32_t current, const std::string& error = "") {
    auto managed = std::make_shared<Managed>();
    managed->key = {.kind = AutoscalerKind::kOwn, .ns = "shop", .name = name};
    managed->autoscaler.max_replicas = 6;
    Decision decision;
    decision.outcome = Outcome::kAboveMax;
    decision.current = current;
    decision.desired = 6;
    decision.rescale = true;
    DecisionRecord record;
    record.managed = managed;
    record.decision = &decision;
    record.time = absl::FromUnixMillis(1772600767250);
    record.scale_error = error;
    log.OnDecision(record);
  }

  Receiver receiver;
  OtlpLog log;
};

std::string AttributesOf(const json& record) {
  std::string out;
  for (const json& attribute : record["attributes"]) {
    absl::StrAppend(&out, attribute["key"].get<std::string>(), "=", attribute["value"].dump(), " ");
  }
  return out;
}

TEST(OtlpLogTest, ADecisionIsALogRecord) {
  World world;
  world.Decide("web", 8, "conflict");
  EXPECT_TRUE(world.log.Flush());
  ASSERT_EQ(world.receiver.records(), 1u);
  const json& logs = world.receiver.taken[0]["resourceLogs"][0];
  EXPECT_EQ(logs["resource"]["attributes"][0].dump(),
            R"({"key":"service.name","value":{"stringValue":"flyball"}})");
  const json& record = logs["scopeLogs"][0]["logRecords"][0];
  EXPECT_EQ(record["timeUnixNano"], "1772600767250000000");
  EXPECT_EQ(record["severityNumber"], 13);
  EXPECT_EQ(AttributesOf(record),
            R"(flyball.kind={"stringValue":"Autoscaler"} flyball.namespace={"stringValue":"shop"} )"
            R"(flyball.name={"stringValue":"web"} flyball.mode={"stringValue":"shadow"} )"
            R"(flyball.outcome={"stringValue":"AboveMax"} flyball.current={"intValue":"8"} )"
            R"(flyball.desired={"intValue":"6"} flyball.min={"intValue":"1"} )"
            R"(flyball.max={"intValue":"6"} flyball.reason={"stringValue":"max_replicas"} )"
            R"(flyball.written={"boolValue":false} flyball.error={"stringValue":"conflict"} )");
}

TEST(OtlpLogTest, OnlyNewsAreSent) {
  World world;
  for (int i = 0; i < 3; ++i) world.Decide("web", 8);
  world.Decide("web", 7);
  world.Decide("other", 7);
  EXPECT_TRUE(world.log.Flush());
  EXPECT_EQ(world.receiver.records(), 3u);
  EXPECT_TRUE(world.log.Flush());
  EXPECT_EQ(world.receiver.taken.size(), 1u);
  EXPECT_EQ(world.log.sent(), 3u);
}

TEST(OtlpLogTest, WhatCannotBeTakenNowWaits) {
  World world;
  for (const int status : {0, 429, 503}) {
    world.receiver.status = status;
    world.Decide("web", 10 + status);
    EXPECT_FALSE(world.log.Flush());
  }
  world.receiver.status = 200;
  EXPECT_TRUE(world.log.Flush());
  EXPECT_EQ(world.receiver.records(), 3u);
  EXPECT_EQ(world.log.dropped(), 0u);
}

TEST(OtlpLogTest, WhatIsRefusedIsDropped) {
  World world;
  world.receiver.status = 400;
  world.Decide("web", 8);
  EXPECT_TRUE(world.log.Flush());
  EXPECT_EQ(world.log.dropped(), 1u);
  world.receiver.status = 200;
  EXPECT_TRUE(world.log.Flush());
  EXPECT_EQ(world.receiver.records(), 0u);
}

// It may have lost its address or its token: that stays until somebody mends it.
TEST(OtlpLogTest, AReceiverThatRefusesIsAskedOnceAMinuteAndSaidOnce) {
  for (const int status : {401, 503}) {
    World world;
    const TestLog log;
    world.receiver.status = status;
    absl::Duration pause;
    for (int i = 0; i < 10; ++i) {
      world.Decide("web", 10 + i);
      pause = world.log.SendAll();
    }
    EXPECT_EQ(pause, absl::Minutes(1));
    EXPECT_EQ(log.Count("decisions could not be sent"), 1u);
    EXPECT_EQ(log.Count(absl::StrCat("the receiver answered ", status)), 1u);
    world.receiver.status = 200;
    world.Decide("web", 30);
    EXPECT_EQ(world.log.SendAll(), absl::Seconds(1));
    EXPECT_EQ(log.Count("are sent again"), 1u);
  }
}

TEST(OtlpLogTest, ItsQueueIsBoundedAndSentInPieces) {
  World world;
  world.receiver.status = 0;
  for (size_t i = 0; i < OtlpLog::kMaxWaiting + 7; ++i) world.Decide(absl::StrCat("web-", i), 8);
  EXPECT_EQ(world.log.dropped(), 7u);
  world.receiver.status = 200;
  EXPECT_TRUE(world.log.Flush());
  EXPECT_EQ(world.receiver.records(), OtlpLog::kMaxWaiting);
  EXPECT_EQ(world.receiver.taken.size(), OtlpLog::kMaxWaiting / OtlpLog::kMaxSent);
}

TEST(OtlpLogTest, AReceiverThatHangsHoldsUpNoStop) {
  Hanging* const receiver = new Hanging();
  SimulatedClock clock(absl::FromUnixSeconds(1772600767));
  World world(absl::WrapUnique(receiver), clock);
  world.log.Start();
  world.Decide("web", 8);
  clock.AwaitWaits(1);
  clock.Advance(absl::Seconds(1));
  receiver->called.WaitForNotification();
  std::thread stop([&] { world.log.Stop(); });
  clock.AwaitWaits(2);
  clock.Advance(absl::Seconds(1));
  stop.join();
  EXPECT_EQ(world.log.sent(), 0u);
}

TEST(OtlpLogTest, ItsStopSendsWhatWaits) {
  World world;
  world.log.Start();
  world.Decide("web", 8);
  world.log.Stop();
  EXPECT_EQ(world.receiver.records(), 1u);
}

}  // namespace
}  // namespace flyball::scaler
