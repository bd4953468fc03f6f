#include "apiservice/auth/authorizer.h"

#include <atomic>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"

namespace flyball::apiservice {
namespace {

// Allows everything; its first answer waits.
class HoldingTransport : public http::HttpTransport {
 public:
  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall&) override {
    if (++calls == 1) {
      asked.Notify();
      release.WaitForNotification();
    }
    http::HttpAnswer answer;
    answer.status = 201;
    answer.body = R"({"status":{"allowed":true}})";
    return answer;
  }
  absl::Status Stream(const http::HttpCall&,
                      const std::function<bool(absl::string_view)>&) override {
    return absl::UnimplementedError("not used");
  }
  void Shutdown() override {}

  std::atomic<int> calls{0};
  absl::Notification asked, release;
};

TEST(AuthorizerTest, ReviewsOfAUserInThousandsOfGroupsWaitForMemory) {
  SimulatedClock clock{absl::UnixEpoch()};
  HoldingTransport transport;
  ReviewClient reviews(&transport, &clock);
  Authorizer authorizer({}, &reviews, &clock, /*max_waiting=*/128);
  User jane{"jane", "", {}, {}};
  const User joe = {"joe", "", {"few"}, {}};
  for (int i = 0; i < 20'000; ++i) jane.groups.push_back(absl::StrCat("one-of-many-groups-", i));
  const auto may_get = [&authorizer](const User& user, const std::string& path) {
    Attributes attributes;
    attributes.verb = "get";
    attributes.path = path;
    const absl::StatusOr<Decision> decision = authorizer.Authorize(user, attributes);
    return decision.ok() && decision->allowed;
  };
  std::thread first([&] { EXPECT_TRUE(may_get(jane, "/first")); });
  transport.asked.WaitForNotification();
  std::thread second([&] { EXPECT_TRUE(may_get(jane, "/second")); });
  clock.AwaitWaits(1);
  EXPECT_TRUE(may_get(joe, "/third")) << "what is small need not wait";
  EXPECT_EQ(transport.calls, 2);
  transport.release.Notify();
  first.join();
  second.join();
  EXPECT_EQ(transport.calls, 3);
}

}  // namespace
}  // namespace flyball::apiservice
