// What strangers may cost: reviews that wait.
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"
#include "apiservice/test_server.h"

namespace flyball::apiservice {
namespace {

class StrangersTest : public ApiServerFixture {
 protected:
  StrangersTest() { options_.authorization.mode = AuthorizationMode::kReview; }

  httplib::Result GetWithToken(const std::string& token, const std::string& target) {
    return Get(target, {{"Authorization", "Bearer " + token}});
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
  for (const char* target : {"/livez/ping", E1 N "/q"}) {
    const auto refused = Get(target);
    EXPECT_EQ(refused->status, 429) << target;
    EXPECT_EQ(refused->get_header_value("Retry-After"), "1");
  }
  for (const char* probe : {"/healthz", "/livez", "/readyz"}) EXPECT_EQ(Get(probe)->status, 200);
  release_.Notify();
  first.join();
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
    crowd.emplace_back([&] { EXPECT_EQ(Get(E1 N "/q")->status, 200); });
  }
  asked_.WaitForNotification();
  release_.Notify();
  for (std::thread& one : crowd) one.join();
  absl::MutexLock lock(&kube_->mutex());
  EXPECT_EQ(kube_->access_reviews.size(), 1u);
}

TEST_F(StrangersTest, ATokenLongerThanAnyIsNoGoodOne) {
  StartServer();
  EXPECT_EQ(GetWithToken(std::string(17'000, 't'), "/livez")->status, 401);
  EXPECT_EQ(GetWithToken(std::string(7'000, 't'), "/livez")->status, 401);
  absl::MutexLock lock(&kube_->mutex());
  EXPECT_EQ(kube_->token_reviews, 1);
}

}  // namespace
}  // namespace flyball::apiservice
