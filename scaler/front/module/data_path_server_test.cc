#include "scaler/front/module/data_path_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "base/module_library.h"

namespace flyball::front {
namespace {

using testing::HasSubstr;

class Nobody : public DataPathEvents {
  void OnEnvoy(const NodeId&, bool, absl::Time) override {}
  void OnEnvoyGone(const NodeId&, absl::Time) override {}
  void OnAck(const NodeId&, ResourceKind, const std::string&, uint64_t, absl::Time) override {}
  void OnNack(const NodeId&, ResourceKind, const std::vector<std::string>&, absl::string_view,
              absl::Time) override {}
  void OnRequest(RequestId, const NodeId&, const std::string&, absl::Time) override {}
  void OnRequestEnd(RequestId, absl::Time) override {}
  void OnLoad(const NodeId&, absl::Span<const ServiceLoad>, absl::Time) override {}
};

class DataPathServerTest : public testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<DataPathServer>> Make(const DataPathServerOptions& options) {
    return MakeDataPathServer(options, clock_, nobody_);
  }

  SimulatedClock clock_{absl::UnixEpoch()};
  Nobody nobody_;
};

TEST_F(DataPathServerTest, ListensOnAPortThatNoOtherCanHave) {
  DataPathServerOptions options;
  options.listen = "127.0.0.1:0";
  const auto first = Make(options);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_GT((*first)->port(), 0);
  options.listen = absl::StrCat("127.0.0.1:", (*first)->port());
  const auto second = Make(options);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable) << second.status();
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(options.listen));
}

TEST_F(DataPathServerTest, WithoutEnvoysItsCallsDoNothing) {
  DataPathServerOptions options;
  options.listen = "127.0.0.1:0";
  const auto server = Make(options);
  ASSERT_TRUE(server.ok()) << server.status();
  (*server)->Put(ClusterResource{.service = "shop/web"}, 1);
  (*server)->BeginServing({});
  (*server)->Release(1, std::nullopt);
  (*server)->Refuse(2, Refusal());
  (*server)->Remove(ResourceKind::kCluster, "shop/web");
}

TEST_F(DataPathServerTest, AFileOfTlsThatCannotBeReadIsNamed) {
  const std::string good = absl::StrCat(testing::TempDir(), "/flyball-front-", getpid(), ".pem");
  std::ofstream(good) << "-----BEGIN CERTIFICATE-----\n";
  DataPathServerOptions options;
  options.listen = "127.0.0.1:0";
  options.cert_file = good;
  const absl::Status none = Make(options).status();
  EXPECT_EQ(none.code(), absl::StatusCode::kInvalidArgument) << none;
  EXPECT_THAT(std::string(none.message()), HasSubstr("no key is named"));
  options.key_file = "/nowhere/key.pem";
  const absl::Status missing = Make(options).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kInvalidArgument) << missing;
  EXPECT_THAT(std::string(missing.message()), HasSubstr("/nowhere/key.pem: the key"));
}

TEST(FrontModulePathTest, AMissingModuleIsToldWithItsPurpose) {
  const absl::Status got = FrontModulePath({"/nowhere"}).status();
  EXPECT_EQ(got.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(std::string(got.message()),
            "http triggers need gRPC, which is in front.so: there is none in /nowhere");
}

TEST(FrontModulePathTest, TheOneBesideTheProgramIsOfThisProgram) {
  EXPECT_TRUE(FrontModulePath(ModuleFolders()).ok()) << FrontModulePath(ModuleFolders()).status();
}

}  // namespace
}  // namespace flyball::front
