// What strangers may cost: reviews that wait, selectors that are too much, answers that are too
// long.
#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "apiservice/test_server.h"

namespace flyball::apiservice {
namespace {

using nlohmann::json;

class StrangersTest : public ApiServerFixture {
 protected:
  StrangersTest() { options_.authorization.mode = AuthorizationMode::kReview; }

  httplib::Result GetWithToken(const std::string& token, const std::string& target) {
    return Get(target, {{"Authorization", "Bearer " + token}});
  }
  json Review(size_t number) {
    absl::MutexLock lock(&kube_->mutex());
    return json::parse(kube_->access_reviews.at(number), nullptr, false)["spec"];
  }

  // For a callback of kube_: others may ask meanwhile.
  void AwaitRelease() {
    kube_->mutex().Unlock();
    release_.WaitForNotification();
    kube_->mutex().Lock();
  }

  absl::Notification asked_, release_;
};

TEST_F(StrangersTest, WhoWaitsForATokenReviewKeepsNobodyElseWaiting) {
  options_.limits.max_reviews = 1;
  kube_->on_token_review = [&](const std::string&) {
    asked_.Notify();
    release_.WaitForNotification();
    return FakeKubeApi::Json(201, R"({"status":{"authenticated":false}})");
  };
  StartServer();
  std::thread first([&] { EXPECT_EQ(GetWithToken("unknown", "/livez")->status, 401); });
  asked_.WaitForNotification();
  for (const char* token : {"unknown", "another"}) {
    const auto refused = GetWithToken(token, "/livez");
    EXPECT_EQ(refused->status, 429) << token;
    EXPECT_EQ(refused->get_header_value("Retry-After"), "1");
  }
  for (const char* probe : {"/healthz", "/livez", "/readyz"}) EXPECT_EQ(Get(probe)->status, 200);
  release_.Notify();
  first.join();
}

TEST_F(StrangersTest, OneAddressTakesHalfOfTheTokenReviews) {
  options_.limits.max_reviews = 2;
  kube_->on_token_review = [this, answer = kube_->on_token_review](const std::string& body) {
    if (!asked_.HasBeenNotified()) {
      asked_.Notify();
      AwaitRelease();
    }
    return answer(body);
  };
  StartServer();
  std::thread first([&] { EXPECT_EQ(GetWithToken("unknown", "/livez")->status, 401); });
  asked_.WaitForNotification();
  EXPECT_EQ(GetWithToken("another", "/livez")->status, 429);
  const auto elsewhere = NewClient();
  elsewhere->set_interface("127.0.0.2");
  EXPECT_EQ(elsewhere->Get("/livez", {{"Authorization", "Bearer good"}})->status, 200);
  release_.Notify();
  first.join();
}

TEST_F(StrangersTest, WhoWaitsForAnAccessReviewKeepsNobodyElseWaiting) {
  options_.limits.max_reviews = 1;
  kube_->on_access_review = [&](const std::string&) {
    asked_.Notify();
    release_.WaitForNotification();
    return FakeKubeApi::Deny();
  };
  StartServer();
  // The check of one name is not open to all, so that it is asked about.
  std::thread first([&] { EXPECT_EQ(Get("/livez/ping")->status, 403); });
  asked_.WaitForNotification();
  for (const char* target : {"/livez/ping", E1 IN_DEFAULT "/q"}) {
    const auto refused = Get(target);
    EXPECT_EQ(refused->status, 429) << target;
    EXPECT_EQ(refused->get_header_value("Retry-After"), "1");
  }
  for (const char* probe : {"/healthz", "/livez", "/readyz"}) EXPECT_EQ(Get(probe)->status, 200);
  release_.Notify();
  first.join();
}

TEST_F(StrangersTest, StrangersTakeHalfOfTheAccessReviews) {
  options_.limits.max_reviews = 2;
  kube_->on_access_review = [&](const std::string&) {
    if (asked_.HasBeenNotified()) return FakeKubeApi::Allow();
    asked_.Notify();
    AwaitRelease();
    return FakeKubeApi::Deny();
  };
  StartServer();
  std::thread first([&] { EXPECT_EQ(Get("/livez/ping")->status, 403); });
  asked_.WaitForNotification();
  EXPECT_EQ(Get(E1 IN_DEFAULT "/q")->status, 429);
  EXPECT_EQ(GetWithToken("good", E1 IN_DEFAULT "/q")->status, 200);
  release_.Notify();
  first.join();
}

// Their heads stay in memory meanwhile.
TEST_F(StrangersTest, LargeRequestsThatWaitForReviewsLeaveRoomForOthers) {
  options_.listen.max_connection_bytes = 4 << 20;
  std::atomic<int> waiting{0};
  kube_->on_token_review = [&](const std::string&) {
    ++waiting;
    AwaitRelease();
    return FakeKubeApi::Json(201, R"({"status":{"authenticated":false}})");
  };
  StartServer();
  const auto idle = NewClient();
  EXPECT_EQ(idle->Get("/healthz")->status, 200);
  constexpr int kCrowd = 12;
  std::atomic<int> refused{0};
  std::vector<std::thread> crowd;
  for (int i = 0; i < kCrowd; ++i) {
    crowd.emplace_back([&, i] {
      const auto answer = NewClient()->Get("/livez", {{"Authorization", absl::StrCat("Bearer ", i)},
                                                      {"X", std::string(200'000, 'x')}});
      // One that is refused while it sends may find its connection closed.
      if (!answer || answer->status == 429) ++refused;
    });
  }
  while (waiting + refused < kCrowd) std::this_thread::yield();
  EXPECT_GE(waiting, 3);
  EXPECT_LE(waiting, 5);  // each weighs over 400 kB, and 2 MiB are for them
  for (const char* probe : {"/healthz", "/livez", "/readyz"}) EXPECT_EQ(Get(probe)->status, 200);
  release_.Notify();
  for (std::thread& one : crowd) one.join();
}

TEST_F(StrangersTest, EqualQuestionsShareAReview) {
  kube_->on_access_review = [&](const std::string&) {
    if (!asked_.HasBeenNotified()) asked_.Notify();
    release_.WaitForNotification();
    return FakeKubeApi::Allow();
  };
  StartServer();
  std::vector<std::thread> crowd;
  for (int i = 0; i < 8; ++i) {
    crowd.emplace_back([&] { EXPECT_EQ(Get(E1 IN_DEFAULT "/q")->status, 200); });
  }
  asked_.WaitForNotification();
  release_.Notify();
  for (std::thread& one : crowd) one.join();
  absl::MutexLock lock(&kube_->mutex());
  EXPECT_EQ(kube_->access_reviews.size(), 1u);
}

// A thousand wrong values: whoever may not ask gets neither them nor their errors back, and nobody
// parses them.
TEST_F(StrangersTest, SelectorsOfStrangersAreNotParsed) {
  kube_->on_access_review = [](const std::string&) { return FakeKubeApi::Deny(); };
  StartServer();
  std::string values = "-";
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&values, ",-", i);
  const std::string target = E1 IN_DEFAULT "/q?labelSelector=a+in+(";
  const auto long_one = Get(target + values + ")");
  EXPECT_EQ(long_one->status, 403);
  EXPECT_LT(long_one->body.size(), 1000u);
  EXPECT_FALSE(Review(0)["resourceAttributes"].contains("labelSelector"));
  EXPECT_EQ(Get(target + "b)")->status, 403);
  EXPECT_TRUE(Review(1)["resourceAttributes"].contains("labelSelector"));
}

TEST_F(StrangersTest, OfAWrongSelectorTheFirstErrorsAreTold) {
  StartServer();
  std::string values = "-";
  for (int i = 0; i < 500; ++i) absl::StrAppend(&values, ",-", i);
  for (const char* name : {"labelSelector", "metricLabelSelector"}) {
    const auto result = Get(absl::StrCat(C2 IN_DEFAULT "/pods/*/m?", name, "=a+in+(", values, ")"));
    EXPECT_GE(result->status, 400);
    EXPECT_TRUE(absl::StrContains(result->body, "unable to parse requirement")) << result->body;
    EXPECT_LT(result->body.size(), 4096u);
  }
}

TEST_F(StrangersTest, NamesAreNotRepeatedWhole) {
  kube_->on_access_review = [](const std::string&) { return FakeKubeApi::Deny(); };
  StartServer();
  const std::string name(2500, 'n');
  for (const std::string& target :
       {"/" + name, E1 "/namespaces/" + name + "/" + name, C2 "/" + name + "/x/" + name}) {
    const auto refused = Get(target);
    EXPECT_EQ(refused->status, 403);
    EXPECT_LT(refused->body.size(), 4096u) << target.size();
  }
  EXPECT_LT(Get("/healthz?verbose&exclude=" + name)->body.size(), 2000u);
}

TEST_F(StrangersTest, ATokenLongerThanAnyIsNoGoodOne) {
  StartServer();
  EXPECT_EQ(GetWithToken(std::string(17'000, 't'), "/livez")->status, 401);
  EXPECT_EQ(GetWithToken(std::string(7'000, 't'), "/livez")->status, 401);
  absl::MutexLock lock(&kube_->mutex());
  EXPECT_EQ(kube_->token_reviews, 1);
}

TEST_F(StrangersTest, AnswersAreCountedBeforeTheyAreMade) {
  constexpr char kProtobuf[] = "application/vnd.kubernetes.protobuf";
  options_.limits.max_answer_bytes = 100'000;
  custom_->pods_count = 200;
  StartServer();
  const std::string target = C2 IN_DEFAULT "/pods/*/m";
  EXPECT_EQ(Get(target)->status, 200);
  // Of protobuf there may be as much as of JSON.
  EXPECT_EQ(Get(target, {{"Accept", kProtobuf}})->status, 200);
  std::string keys = "k";
  for (int i = 0; i < 20; ++i) absl::StrAppend(&keys, ",k", i);
  const auto refused = Get(target + "?metricLabelSelector=" + keys);
  EXPECT_EQ(refused->status, 413);
  EXPECT_EQ(Get(target + "?metricLabelSelector=" + keys, {{"Accept", kProtobuf}})->status, 413);
  const json status = json::parse(refused->body, nullptr, false);
  EXPECT_EQ(status["reason"], "RequestEntityTooLarge");
  EXPECT_TRUE(absl::StrContains(status["message"].get<std::string>(), "--max-answer-bytes"));
  // What takes more than its length to make is refused earlier.
  EXPECT_EQ(Get(target, {{"Accept", "application/yaml"}})->status, 413);
  EXPECT_EQ(Get(target + "?pretty=1")->status, 413);
  EXPECT_EQ(Get(C2 IN_DEFAULT "/pods/web-1/m?metricLabelSelector=" + keys)->status, 200);
}

// A long question costs no more than a short one where its answer is remembered.
TEST_F(StrangersTest, LongTargetsAreRememberedByTheirDigest) {
  clock_ = &simulated_;
  simulated_.JumpWall(kTestTime);
  custom_->freshness = {simulated_.MonotonicNow() + absl::Minutes(1), 1};
  StartServer();
  const std::string target = C2 IN_DEFAULT "/pods/web-1/m?ignored=" + std::string(7'000, 'x');
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Get(absl::StrCat(target, i))->status, 200);
  EXPECT_EQ(custom_->calls, 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Get(absl::StrCat(target, i))->status, 200);
  EXPECT_EQ(custom_->calls, 3);
  EXPECT_LT(Metric("flyball_response_cache_bytes"), 3 * 1000);
}

}  // namespace
}  // namespace flyball::apiservice
