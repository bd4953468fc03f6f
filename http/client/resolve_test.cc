#include "http/client/resolve.h"

#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http/testing/fake_dns_server.h"

namespace flyball::http {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ResolveTest : public testing::Test {
 protected:
  absl::StatusOr<std::vector<std::string>> Ask(const std::string& host, const DnsSettings& dns,
                                               absl::Duration timeout = absl::Seconds(20)) {
    const auto got =
        Resolve(host, 80, dns, {Clock::System().MonotonicNow() + timeout, &stop_, Clock::System()});
    if (!got.ok()) return got.status();
    std::vector<std::string> out;
    for (const Endpoint& endpoint : *got) out.push_back(endpoint.ToString());
    return out;
  }

  StopSignal stop_;
  FakeDnsServer dns_;
};

TEST_F(ResolveTest, AddressesAreNotAskedFor) {
  EXPECT_THAT(*Ask("10.0.0.1", dns_.Settings()), ElementsAre("10.0.0.1:80"));
  EXPECT_THAT(*Ask("fd00::1", dns_.Settings()), ElementsAre("[fd00::1]:80"));
  EXPECT_THAT(dns_.asked(), IsEmpty());
}

TEST_F(ResolveTest, TheHostsFileIsReadFirst) {
  const auto got = Ask("localhost", dns_.Settings());
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(*got, testing::Contains("127.0.0.1:80"));
  EXPECT_THAT(dns_.asked(), IsEmpty());
}

TEST_F(ResolveTest, AllAddressesOfAName) {
  dns_.Set("web.example", {"10.0.0.1", "10.0.0.2"});
  EXPECT_THAT(*Ask("web.example", dns_.Settings()),
              testing::UnorderedElementsAre("10.0.0.1:80", "10.0.0.2:80"));
}

// As in a pod: names of few dots are looked for in the search domains first.
TEST_F(ResolveTest, SearchDomainsAndNdotsCount) {
  dns_.Set("prom.shop.svc.cluster.test", {"10.0.0.3"});
  dns_.Set("prom.example.com", {"10.0.0.4"});
  const DnsSettings conf =
      dns_.Settings("search shop.svc.cluster.test svc.cluster.test\noptions ndots:5\n");
  EXPECT_THAT(*Ask("prom", conf), ElementsAre("10.0.0.3:80"));
  EXPECT_THAT(*Ask("prom.example.com", conf), ElementsAre("10.0.0.4:80"));
  EXPECT_THAT(dns_.asked(),
              ElementsAre("prom.shop.svc.cluster.test", "prom.example.com.shop.svc.cluster.test",
                          "prom.example.com.svc.cluster.test", "prom.example.com"));
}

TEST_F(ResolveTest, ANameThatDoesNotExistIsUnavailable) {
  const absl::Status status = Ask("none.example", dns_.Settings()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("cannot be resolved: Domain name not found"));
}

TEST_F(ResolveTest, AServerThatDoesNotAnswerIsLeftAtTheDeadline) {
  dns_.Hang();
  EXPECT_EQ(Ask("slow.example", dns_.Settings(), absl::Milliseconds(50)).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  while (dns_.asked().empty()) std::this_thread::yield();
  EXPECT_THAT(dns_.asked(), ElementsAre("slow.example"));
}

TEST_F(ResolveTest, AStopEndsIt) {
  dns_.Hang();
  std::thread stopper([this] { stop_.Set(); });
  EXPECT_EQ(Ask("slow.example", dns_.Settings()).status().code(), absl::StatusCode::kCancelled);
  stopper.join();
}

}  // namespace
}  // namespace flyball::http
