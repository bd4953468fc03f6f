#include "scaler/front/module/data_path_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
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
  (*server)->BeginServing();
  (*server)->Release(1, std::nullopt);
  (*server)->Refuse(2, Refusal());
  (*server)->Remove(ResourceKind::kCluster, "shop/web");
}

// Whether the server ends the connection; what it sends before is dropped.
bool IsEnded(int fd) {
  const timeval bound{.tv_sec = 20, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof bound);
  char dropped[512];
  ssize_t got = 1;
  while (got > 0) got = recv(fd, dropped, sizeof dropped, 0);
  return got == 0 || errno != EAGAIN;
}

TEST_F(DataPathServerTest, WhoConnectsWhileItEndsIsNotKept) {
  for (int round = 0; round < 10; ++round) {
    DataPathServerOptions options;
    options.listen = "127.0.0.1:0";
    auto server = Make(options);
    ASSERT_TRUE(server.ok()) << server.status();
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons((*server)->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::vector<int> connected;
    absl::Notification first;
    std::thread client([&] {
      while (connected.size() < 200) {
        clock_.Advance(absl::Seconds(1));  // so that all are admitted
        const int fd = socket(AF_INET, SOCK_STREAM, 0);
        const int failed = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
        connected.push_back(fd);
        if (connected.size() == 1) first.Notify();
        if (failed != 0) return;
      }
    });
    first.WaitForNotification();
    server->reset();
    client.join();
    for (const int fd : connected) {
      EXPECT_TRUE(IsEnded(fd));
      close(fd);
    }
  }
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
