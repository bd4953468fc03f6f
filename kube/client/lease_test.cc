#include "kube/client/lease.h"

#include "gtest/gtest.h"
#include "kube/testing/fake_api_server.h"
#include "nlohmann/json.hpp"

namespace flyball::kube {
namespace {

constexpr char kPath[] = "/apis/coordination.k8s.io/v1/namespaces/flyball/leases/scaler-0";

class LeaseTest : public testing::Test {
 protected:
  // 2026-03-04T05:06:07.000089Z
  const absl::Time now_ = absl::FromUnixSeconds(1772600767) + absl::Microseconds(89);

  Lease Mine() const {
    Lease lease;
    lease.ns = "flyball";
    lease.name = "scaler-0";
    lease.holder = "me";
    lease.duration = absl::Seconds(15);
    lease.acquire_time = now_ - absl::Minutes(1);
    lease.renew_time = now_;
    lease.transitions = 3;
    return lease;
  }

  FakeApiServer server_;
  std::unique_ptr<http::HttpTransport> transport_ = server_.Connect();
  ApiClient client_{*transport_, Clock::System()};
};

TEST_F(LeaseTest, IsCreatedReadAndReplaced) {
  EXPECT_TRUE(absl::IsNotFound(GetLease(client_, "flyball", "scaler-0").status()));
  const auto created = PutLease(client_, Mine());
  ASSERT_TRUE(created.ok()) << created.status();
  Lease want = Mine();
  want.resource_version = created->resource_version;
  EXPECT_EQ(*created, want);
  const nlohmann::json stored = nlohmann::json::parse(server_.Get(kPath));
  EXPECT_EQ(stored["spec"], nlohmann::json::parse(R"({"holderIdentity":"me",
      "leaseDurationSeconds":15,"leaseTransitions":3,"acquireTime":"2026-03-04T05:05:07.000089Z",
      "renewTime":"2026-03-04T05:06:07.000089Z"})"));

  auto read = GetLease(client_, "flyball", "scaler-0");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, want);
  read->holder = "";
  read->renew_time = now_ + absl::Seconds(1);
  const auto freed = PutLease(client_, *read);
  ASSERT_TRUE(freed.ok()) << freed.status();
  EXPECT_EQ(freed->holder, "");
  EXPECT_NE(freed->resource_version, want.resource_version);
}

TEST_F(LeaseTest, TheFasterOneWins) {
  const auto first = PutLease(client_, Mine());
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(absl::IsAlreadyExists(PutLease(client_, Mine()).status()));
  Lease other = *first;
  other.holder = "other";
  ASSERT_TRUE(PutLease(client_, other).ok());
  EXPECT_TRUE(absl::IsAborted(PutLease(client_, *first).status()));
  server_.Delete(kPath);
  EXPECT_TRUE(absl::IsNotFound(PutLease(client_, *first).status()));
}

TEST_F(LeaseTest, DurationsAreWholeSecondsAndAtLeastOne) {
  Lease lease = Mine();
  lease.duration = absl::Milliseconds(1500);
  EXPECT_EQ(PutLease(client_, lease)->duration, absl::Seconds(2));
  lease.name = "zero";
  lease.duration = absl::ZeroDuration();
  EXPECT_EQ(PutLease(client_, lease)->duration, absl::Seconds(1));
}

// Other programs tell their objects by these.
TEST_F(LeaseTest, LabelsAndAnnotationsStay) {
  server_.Put(R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{
      "name":"scaler-0","namespace":"flyball","labels":{"a":"b"},
      "annotations":{"meta.helm.sh/release-name":"flyball"}},"spec":{}})");
  Lease lease = *GetLease(client_, "flyball", "scaler-0");
  lease.holder = "me";
  ASSERT_TRUE(PutLease(client_, lease).ok());
  const auto metadata = nlohmann::json::parse(server_.Get(kPath))["metadata"];
  EXPECT_EQ(metadata["labels"], nlohmann::json({{"a", "b"}}));
  EXPECT_EQ(metadata["annotations"], nlohmann::json({{"meta.helm.sh/release-name", "flyball"}}));
}

TEST_F(LeaseTest, SomebodyElsesMayLackEverything) {
  server_.Put(R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{
      "name":"scaler-0","namespace":"flyball"},"spec":{"renewTime":"bad","leaseTransitions":null}})");
  const auto lease = GetLease(client_, "flyball", "scaler-0");
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_EQ(lease->holder, "");
  EXPECT_EQ(lease->duration, absl::ZeroDuration());
  EXPECT_EQ(lease->renew_time, absl::Time());
  EXPECT_EQ(lease->transitions, 0);
}

}  // namespace
}  // namespace flyball::kube
