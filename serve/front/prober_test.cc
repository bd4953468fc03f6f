// Probes of servers on the loopback interface.
#include "serve/front/prober.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "base/test_thread_limit.h"

namespace flyball::serve {
namespace {

using front::ProbeResult;

// Listens; answers one connection with a text, if it is to.
class TestServer {
 public:
  TestServer() {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
    socklen_t size = sizeof(to);
    EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&to), &size), 0);
    address_ = absl::StrCat("127.0.0.1:", ntohs(to.sin_port));
  }
  ~TestServer() {
    if (thread_.joinable()) thread_.join();
    close(fd_);
  }

  void Listen() const { EXPECT_EQ(listen(fd_, 8), 0); }
  void Answer(std::string text) {
    Listen();
    thread_ = std::thread([this, text = std::move(text)] {
      const int peer = accept(fd_, nullptr, nullptr);
      char buffer[1024];
      const ssize_t got = recv(peer, buffer, sizeof(buffer), 0);
      asked_.assign(buffer, got > 0 ? static_cast<size_t>(got) : 0);
      (void)send(peer, text.data(), text.size(), MSG_NOSIGNAL);
      close(peer);
    });
  }
  // What it was asked; to be called once.
  std::string asked() {
    thread_.join();
    return asked_;
  }
  const std::string& address() const { return address_; }

 private:
  int fd_ = -1;
  std::string address_;
  std::thread thread_;
  std::string asked_;
};

class ProberTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(prober_.Start().ok()); }
  bool Passes(const std::string& address, const ReadinessCheck& check = {}) {
    return Ask(prober_, address, check) == ProbeResult::kPassed;
  }
  static ProbeResult Ask(Prober& prober, const std::string& address, const ReadinessCheck& check) {
    absl::Notification told;
    ProbeResult result = ProbeResult::kRefused;
    prober.Ask(address, check, [&](ProbeResult got) {
      result = got;
      told.Notify();
    });
    told.WaitForNotification();
    return result;
  }

  SimulatedClock clock_{absl::UnixEpoch()};  // it stands still: nobody is too late
  Prober prober_{clock_};
};

const ReadinessCheck kGet{.kind = ReadinessCheck::Kind::kHttpGet, .path = "/up?a=b"};

TEST_F(ProberTest, AConnectionIsEnough) {
  const TestServer server;
  EXPECT_FALSE(Passes(server.address()));  // it does not listen yet
  server.Listen();
  EXPECT_TRUE(Passes(server.address()));
}

TEST_F(ProberTest, AnAnswerHasToBeGood) {
  for (const auto& [answer, good] :
       {std::pair("HTTP/1.1 200 OK\r\n\r\n", true), std::pair("HTTP/1.0 302 Found\r\n\r\n", true),
        std::pair("HTTP/1.1 503 No\r\n\r\n", false), std::pair("HTTP/1.1 ", false),
        std::pair("220 smtp", false)}) {
    TestServer server;
    server.Answer(answer);
    EXPECT_EQ(Passes(server.address(), kGet), good) << answer;
  }
}

TEST_F(ProberTest, IsAskedAsTheSpecSays) {
  TestServer server;
  server.Answer("HTTP/1.1 200 OK\r\n\r\n");
  ReadinessCheck check = kGet;
  check.host = "a.example";
  EXPECT_TRUE(Passes(server.address(), check));
  EXPECT_EQ(server.asked(),
            "GET /up?a=b HTTP/1.1\r\nHost: a.example\r\nUser-Agent: flyball-probe\r\n"
            "Connection: close\r\n\r\n");
}

TEST_F(ProberTest, WhoDoesNotAnswerIsSilent) {
  Prober prober(Clock::System());
  ASSERT_TRUE(prober.Start().ok());
  const TestServer server;
  server.Listen();
  EXPECT_EQ(Ask(prober, server.address(), kGet), ProbeResult::kSilent);
}

// As a NetworkPolicy may do that lets in the Envoys alone; no server is at a multicast address.
TEST_F(ProberTest, WhoIsNotReachedIsSilentToo) {
  Prober prober(Clock::System());
  ASSERT_TRUE(prober.Start().ok());
  EXPECT_EQ(Ask(prober, "224.0.0.1:80", {}), ProbeResult::kSilent);
}

TEST_F(ProberTest, NoAddressFails) {
  for (const char* const address : {"", "web:80", "127.0.0.1", "127.0.0.1:0", "[::1:80"}) {
    EXPECT_FALSE(Passes(address)) << address;
  }
}

TEST_F(ProberTest, WithoutAThreadTheStartSaysSo) {
  Prober prober(Clock::System());
  {
    const ThreadLimit none;
    EXPECT_EQ(prober.Start().code(), absl::StatusCode::kResourceExhausted);
  }
  ProbeResult result = ProbeResult::kPassed;
  prober.Ask("127.0.0.1:1", {}, [&result](ProbeResult got) { result = got; });
  EXPECT_EQ(result, ProbeResult::kRefused);
}

TEST_F(ProberTest, AfterTheEndAllFail) {
  const TestServer server;
  server.Listen();
  prober_.Stop();
  EXPECT_FALSE(Passes(server.address()));
}

}  // namespace
}  // namespace flyball::serve
