// The server under rough handling: idle and slow peers, broken requests, rotation, shutdown.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "apiservice/test_server.h"
#include "base/test_thread_limit.h"

namespace flyball::apiservice {
namespace {

// A TLS client that sends bytes as they are told.
class RawClient {
 public:
  explicit RawClient(int port) : context_(SSL_CTX_new(TLS_client_method())) {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~RawClient() {
    ssl_.reset();
    close(fd_);
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool Handshake() {
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), fd_);
    return SSL_connect(ssl_.get()) == 1;
  }
  bool Send(const std::string& bytes) {
    return SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) > 0;
  }
  // Everything up to the end of the connection.
  std::string ReadAll() {
    std::string all;
    char buffer[4096];
    int got = 0;
    while ((got = SSL_read(ssl_.get(), buffer, sizeof(buffer))) > 0) {
      all.append(buffer, static_cast<size_t>(got));
    }
    return all;
  }
  // What comes next; "" at the end.
  std::string ReadSome() {
    char buffer[4096];
    const int got = SSL_read(ssl_.get(), buffer, sizeof(buffer));
    return std::string(buffer, static_cast<size_t>(std::max(got, 0)));
  }
  std::string Issuer() {
    const X509Ptr certificate(SSL_get1_peer_certificate(ssl_.get()));
    char name[256];
    return X509_NAME_oneline(X509_get_subject_name(certificate.get()), name, sizeof(name));
  }
  bool connected() const { return connected_; }
  int fd() const { return fd_; }

 private:
  SslCtxPtr context_;
  SslPtr ssl_;
  int fd_ = -1;
  bool connected_ = false;
};

std::string SendRaw(int port, const std::string& bytes) {
  RawClient client(port);
  if (!client.Handshake()) return "no handshake";
  client.Send(bytes);
  return client.ReadAll();
}

const std::string kClose = "Host: x\r\nConnection: close\r\n\r\n";

TEST_F(ApiServerFixture, IdleConnectionsKeepNobodyWaiting) {
  options_.listen.workers = 2;
  options_.listen.max_workers = 4;
  StartServer();
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 512; ++i) {
    idle.push_back(std::make_unique<RawClient>(server_->port()));
    // A third each: connected only, after the handshake, in the middle of a request.
    if (i % 3 > 0) {
      ASSERT_TRUE(idle.back()->Handshake());
    }
    if (i % 3 > 1) {
      ASSERT_TRUE(idle.back()->Send("GET /apis HTTP/1.1\r\nHost: x\r\nX-Slow: "));
    }
  }
  for (int i = 0; i < 8; ++i) EXPECT_EQ(Get(E1 IN_DEFAULT "/q")->status, 200);
  // And those who were in the middle may go on.
  ASSERT_TRUE(idle[2]->Send("done\r\nConnection: close\r\n\r\n"));
  EXPECT_TRUE(absl::StartsWith(idle[2]->ReadAll(), "HTTP/1.1 200 OK\r\n"));
}

TEST_F(ApiServerFixture, BrokenRequestsAreAnsweredOrEnded) {
  options_.listen.request.max_head_bytes = 16 * 1024;
  options_.listen.request.max_body_bytes = 1024;
  StartServer();
  const int port = server_->port();
  EXPECT_TRUE(absl::StartsWith(SendRaw(port, "garbage\r\n\r\n"), "HTTP/1.1 400 "));
  EXPECT_TRUE(absl::StartsWith(SendRaw(port, "GET /apis HTTP/1.1\r\n\r\n"), "HTTP/1.1 400 "));
  EXPECT_TRUE(absl::StartsWith(SendRaw(port, "GET /apis HTTP/3.0\r\n" + kClose), "HTTP/1.1 "));
  EXPECT_TRUE(absl::StartsWith(SendRaw(port, "GET /%zz HTTP/1.1\r\n" + kClose), "HTTP/1.1 400 "));
  EXPECT_TRUE(absl::StartsWith(
      SendRaw(port, "GET / HTTP/1.1\r\nX: " + std::string(20 * 1024, 'a') + "\r\n" + kClose),
      "HTTP/1.1 431 "));
  EXPECT_TRUE(absl::StartsWith(SendRaw(port, "POST / HTTP/1.1\r\nContent-Length: 2000\r\n" +
                                                 kClose + std::string(2000, 'b')),
                               "HTTP/1.1 413 "));
  EXPECT_TRUE(absl::StartsWith(
      SendRaw(port, "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\n" + kClose), "HTTP/1.1 414 "));
  EXPECT_TRUE(absl::StartsWith(SendRaw(port, "GET /livez HTTP/1.1\r\nName : value\r\n" + kClose),
                               "HTTP/1.1 400 "));
  EXPECT_TRUE(absl::EndsWith(SendRaw(port, "GET https://x/livez HTTP/1.1\r\n" + kClose), "ok"));
  // Two lengths: a request that another server might read as two.
  EXPECT_TRUE(absl::StartsWith(SendRaw(port,
                                       "POST / HTTP/1.1\r\nContent-Length: 3\r\n"
                                       "Transfer-Encoding: chunked\r\n" +
                                           kClose + "0\r\n\r\n"),
                               "HTTP/1.1 400 "));
  EXPECT_EQ(Get(E1 IN_DEFAULT "/q")->status, 200);
}

TEST_F(ApiServerFixture, PipelinedRequestsAreAnsweredInTurn) {
  StartServer();
  const std::string answer = SendRaw(
      server_->port(), "GET /livez HTTP/1.1\r\nHost: x\r\n\r\nGET /version HTTP/1.1\r\n" + kClose);
  EXPECT_LT(answer.find("\r\n\r\nok"), answer.find("\"major\""));
}

class TurnTest : public ApiServerFixture {
 protected:
  // One client sends so many requests at once. While the first is answered, another client asks: it
  // is answered before the call of that number is.
  void ExpectAnotherServedBefore(int call, int requests, const std::function<void()>& after_call) {
    options_.listen.workers = 1;
    options_.listen.max_workers = 1;
    absl::Notification entered;
    absl::Notification release;
    absl::Notification answered;
    std::atomic<bool> in_turn{true};
    custom_->on_get = [&](const adapter::CustomMetricRequest&) {
      if (!entered.HasBeenNotified()) entered.Notify();
      release.WaitForNotification();
      // The only worker waits here, so by now the other one must have been served.
      if (custom_->calls == call) {
        in_turn = answered.WaitForNotificationWithTimeout(absl::Seconds(30));
      }
      after_call();
    };
    StartServer();
    RawClient one(server_->port());
    RawClient many(server_->port());
    ASSERT_TRUE(one.Handshake());
    ASSERT_TRUE(many.Handshake());
    // A first answer, so that the server need not end the handshake when it is this one's turn.
    ASSERT_TRUE(one.Send("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"));
    ASSERT_TRUE(absl::EndsWith(one.ReadSome(), "ok"));
    std::string all;
    for (int i = 0; i < requests; ++i)
      all += "GET " C2 IN_DEFAULT "/pods/*/m HTTP/1.1\r\nHost: x\r\n\r\n";
    ASSERT_TRUE(many.Send(all));  // one record of TLS
    entered.WaitForNotification();
    ASSERT_TRUE(one.Send("GET /livez HTTP/1.1\r\n" + kClose));
    release.Notify();
    EXPECT_TRUE(absl::EndsWith(one.ReadAll(), "ok"));
    answered.Notify();
    while (custom_->calls < requests) std::this_thread::yield();
    EXPECT_TRUE(in_turn);
    server_.reset();  // before what the last call refers to
  }
};

TEST_F(TurnTest, WhoSendsManyRequestsIsServedInTurnWithOthers) {
  ExpectAnotherServedBefore(100, 150, [] {});
}

TEST_F(TurnTest, OfDearRequestsOneIsServedInATurn) {
  clock_ = &simulated_;
  ExpectAnotherServedBefore(2, 2, [this] { simulated_.Advance(absl::Milliseconds(1)); });
}

TEST_F(ApiServerFixture, HeadAnswersHaveNoBody) {
  StartServer();
  const std::string answer = SendRaw(server_->port(), "HEAD /apis HTTP/1.1\r\n" + kClose);
  EXPECT_TRUE(absl::StartsWith(answer, "HTTP/1.1 405 ")) << answer;
  EXPECT_TRUE(absl::EndsWith(answer, "\r\n\r\n")) << answer;
}

TEST_F(ApiServerFixture, SlowHeadersAndIdleConnectionsEnd) {
  clock_ = &simulated_;
  StartServer();
  RawClient slow(server_->port());
  RawClient idle(server_->port());
  ASSERT_TRUE(slow.Handshake());
  ASSERT_TRUE(idle.Handshake());
  ASSERT_TRUE(slow.Send("GET /apis HTTP/1.1\r\n"));
  ASSERT_EQ(Get("/livez")->status, 200);
  std::atomic<bool> stop{false};
  std::thread time([&] {
    while (!stop) {
      simulated_.Advance(absl::Milliseconds(500));
      std::this_thread::yield();
    }
  });
  EXPECT_EQ(slow.ReadAll(), "");
  EXPECT_EQ(idle.ReadAll(), "");
  stop = true;
  time.join();
}

// Nobody is kept out by those who came before and hold on.
TEST_F(ApiServerFixture, AboveTheLimitTheLongestQuietConnectionGoes) {
  options_.listen.max_connections = 4;
  options_.listen.workers = options_.listen.max_workers = 1;  // which ends one before the next
  StartServer();
  std::vector<std::unique_ptr<RawClient>> held;
  for (int i = 0; i < 4; ++i) {
    held.push_back(std::make_unique<RawClient>(server_->port()));
    ASSERT_TRUE(held.back()->Handshake());
    ASSERT_TRUE(held.back()->Send("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"));
    ASSERT_FALSE(held.back()->ReadSome().empty());
  }
  RawClient fifth(server_->port());
  ASSERT_TRUE(fifth.Handshake());
  EXPECT_EQ(held[0]->ReadAll(), "");
  for (RawClient* client : {held[1].get(), held[3].get(), &fifth}) {
    ASSERT_TRUE(client->Send("GET /livez HTTP/1.1\r\n" + kClose));
    EXPECT_TRUE(absl::EndsWith(client->ReadAll(), "ok"));
  }
  EXPECT_GE(Metric("flyball_connections_ended_for_room_total"), 1);
}

// First goes who began something and did not go on with it, however long others have been idle.
TEST_F(ApiServerFixture, ConnectionsShareOneAmountOfMemory) {
  options_.listen.max_connection_bytes = 2 << 20;
  options_.listen.workers = 1;  // who answers for the metrics serves none of the large ones then
  StartServer();
  RawClient idle(server_->port());
  ASSERT_TRUE(idle.Handshake());
  const std::string half = "GET /livez HTTP/1.1\r\nHost: x\r\nX: " + std::string(900'000, 'x');
  std::vector<std::unique_ptr<RawClient>> held;
  for (int i = 0; i < 6; ++i) {
    held.push_back(std::make_unique<RawClient>(server_->port()));
    ASSERT_TRUE(held.back()->Handshake());
    ASSERT_TRUE(held.back()->Send(half));
    if (i > 0) {
      EXPECT_EQ(held[static_cast<size_t>(i) - 1]->ReadAll(), "");
    }
    while (Metric("flyball_connection_bytes") < 1'800'000) std::this_thread::yield();
  }
  EXPECT_LT(Metric("flyball_connection_bytes"), 2 << 20);
  ASSERT_TRUE(held[5]->Send("\r\nConnection: close\r\n\r\n"));
  EXPECT_TRUE(absl::EndsWith(held[5]->ReadAll(), "ok"));
  ASSERT_TRUE(idle.Send("GET /livez HTTP/1.1\r\n" + kClose));
  EXPECT_TRUE(absl::EndsWith(idle.ReadAll(), "ok"));
}

TEST_F(ApiServerFixture, LongAnswersThatAreMadeTakeTheRoomOfRequestsThatStopped) {
  options_.listen.max_connection_bytes = 3 << 20;
  options_.listen.workers = 1;  // as above
  custom_->on_get = [](const adapter::CustomMetricRequest& request) {
    EXPECT_TRUE(request.admit({.items = 10'000}).ok());  // which take 5 MB
  };
  StartServer();
  RawClient stopped(server_->port());
  ASSERT_TRUE(stopped.Handshake());
  ASSERT_TRUE(stopped.Send("GET /livez HTTP/1.1\r\nHost: x\r\nX: " + std::string(1'000'000, 'x')));
  while (Metric("flyball_connection_bytes") < 1'990'000) std::this_thread::yield();
  EXPECT_EQ(Get(C2 IN_DEFAULT "/pods/*/m")->status, 200);
  // It is ended or, if its last bytes were just being read, refused.
  EXPECT_GE(Metric("flyball_connections_ended_for_room_total") +
                Metric("flyball_requests_without_room_total"),
            1);
}

TEST_F(ApiServerFixture, LargeRequestsWithoutRoomAreRefusedAndSmallOnesAreNot) {
  options_.listen.max_connection_bytes = 3 << 20;
  absl::Notification entered;
  absl::Notification release;
  custom_->on_get = [&](const adapter::CustomMetricRequest&) {
    if (!entered.HasBeenNotified()) entered.Notify();
    release.WaitForNotification();
  };
  StartServer();
  const httplib::Headers large = {{"X", std::string(7000, 'x')}};
  const std::string lines = "X: " + std::string(900'000, 'x') + "\r\n" + kClose;
  std::thread first([&] {
    EXPECT_TRUE(absl::StartsWith(
        SendRaw(server_->port(), "GET " C2 IN_DEFAULT "/pods/*/m HTTP/1.1\r\n" + lines),
        "HTTP/1.1 200 "));
  });
  entered.WaitForNotification();
  const std::string refused = SendRaw(server_->port(), "GET /livez HTTP/1.1\r\n" + lines);
  EXPECT_TRUE(absl::StartsWith(refused, "HTTP/1.1 429 ")) << refused;
  EXPECT_TRUE(absl::StrContains(refused, "Retry-After: 1\r\n")) << refused;
  EXPECT_EQ(Get(E1 IN_DEFAULT "/q", large)->status, 200);
  release.Notify();
  first.join();
  EXPECT_EQ(Metric("flyball_requests_without_room_total"), 1);
}

// 23 MB are more than the sockets of both sides hold.
TEST_F(ApiServerFixture, AnswersThatNobodyReadsHoldNoWorker) {
  options_.listen.workers = 2;
  options_.listen.max_workers = 2;
  options_.listen.max_connection_bytes = 200 << 20;
  custom_->pods_count = 100'000;
  StartServer();
  std::vector<std::unique_ptr<RawClient>> held;
  for (int i = 0; i < 4; ++i) {
    held.push_back(std::make_unique<RawClient>(server_->port()));
    ASSERT_TRUE(held.back()->Handshake());
    ASSERT_TRUE(held.back()->Send("GET " C2 IN_DEFAULT "/pods/*/m HTTP/1.1\r\n" + kClose));
  }
  while (custom_->calls < 4) std::this_thread::yield();
  for (int i = 0; i < 8; ++i) EXPECT_EQ(Get("/livez")->status, 200);
  // What was put aside is whole once it is taken.
  const std::string answer = held[0]->ReadAll();
  const size_t body = answer.find("\r\n\r\n") + 4;
  EXPECT_TRUE(absl::StrContains(answer.substr(0, body),
                                absl::StrCat("Content-Length: ", answer.size() - body, "\r\n")));
  EXPECT_TRUE(absl::EndsWith(answer, "]}\n"));
}

TEST_F(ApiServerFixture, AnswersThatAreNotTakenInTimeEnd) {
  clock_ = &simulated_;
  custom_->pods_count = 100'000;
  StartServer();
  RawClient client(server_->port());
  ASSERT_TRUE(client.Handshake());
  ASSERT_TRUE(client.Send("GET " C2 IN_DEFAULT "/pods/*/m HTTP/1.1\r\nHost: x\r\n\r\n"));
  while (Metric("flyball_connection_bytes") < 10'000'000) std::this_thread::yield();
  // Time stands while /metrics is asked for: this request must not come to its own limit.
  while (Metric("flyball_connection_bytes") > 10'000'000) {
    simulated_.Advance(absl::Seconds(5));
  }
  EXPECT_FALSE(absl::EndsWith(client.ReadAll(), "]}\n"));
}

TEST_F(ApiServerFixture, TooManyRequestsUnderWay) {
  options_.limits.max_in_flight = 1;
  absl::Notification entered;
  absl::Notification release;
  custom_->on_get = [&](const adapter::CustomMetricRequest&) {
    if (!entered.HasBeenNotified()) entered.Notify();
    release.WaitForNotification();
  };
  StartServer();
  std::thread first([&] { EXPECT_EQ(Get(C2 IN_DEFAULT "/pods/*/m")->status, 200); });
  entered.WaitForNotification();
  const auto refused = Get(E1 IN_DEFAULT "/q");
  EXPECT_EQ(refused->status, 429);
  EXPECT_EQ(refused->get_header_value("Retry-After"), "1");
  EXPECT_EQ(Get("/readyz")->status, 200);
  release.Notify();
  first.join();
  EXPECT_EQ(Get(E1 IN_DEFAULT "/q")->status, 200);
}

TEST_F(ApiServerFixture, WithoutFurtherThreadsThoseThatThereAreServe) {
  options_.listen.workers = 2;
  StartServer();
  const ThreadLimit none;
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<RawClient>(server_->port()));
    ASSERT_TRUE(clients.back()->Handshake());
    ASSERT_TRUE(clients.back()->Send("GET " E1 IN_DEFAULT "/q HTTP/1.1\r\n" + kClose));
  }
  for (const auto& client : clients) {
    EXPECT_TRUE(absl::StartsWith(client->ReadAll(), "HTTP/1.1 200 OK\r\n"));
  }
}

TEST_F(ApiServerFixture, WithoutThreadsTheStartSaysSo) {
  for (const int left : {0, 1, 3}) {
    MakeServer();
    const ThreadLimit limit(left);
    const absl::Status status = server_->Start();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    server_.reset();
  }
}

TEST_F(ApiServerFixture, CertificatesAreReplacedUnderLoad) {
  const http::TestPair ca = http::MakeTestCa("serving-ca");
  http::WriteTestPair(folder_ + "/serving",
                      http::MakeTestPair({.common_name = "first", .usage = ""}, &ca));
  options_.tls.cert_file = folder_ + "/serving.crt";
  options_.tls.key_file = folder_ + "/serving.key";
  StartServer();
  std::atomic<bool> stop{false};
  std::atomic<int> failures{0};
  std::thread load([&] {
    auto kept = NewClient();
    while (!stop) {
      const auto result = kept->Get(E1 IN_DEFAULT "/q");
      if (!result || result->status != 200) ++failures;
    }
  });
  const auto name = [&] {
    RawClient client(server_->port());
    return client.Handshake() ? client.Issuer() : "no handshake";
  };
  EXPECT_EQ(name(), "/CN=first");
  // A certificate without its key is not taken.
  const http::TestPair second = http::MakeTestPair({.common_name = "second", .usage = ""}, &ca);
  http::WriteTestFile(options_.tls.cert_file, http::PemOf(second.certificate.get()));
  EXPECT_EQ(name(), "/CN=first");
  http::WriteTestFile(options_.tls.key_file, http::PemOf(second.key.get()));
  while (name() != "/CN=second") std::this_thread::yield();
  stop = true;
  load.join();
  EXPECT_EQ(failures, 0);
}

// An upgrade of files between the making of a server and its start must not go unseen.
TEST_F(ApiServerFixture, CertificatesThatChangeBeforeTheStartAreSeen) {
  const http::TestPair ca = http::MakeTestCa("serving-ca");
  http::WriteTestPair(folder_ + "/serving",
                      http::MakeTestPair({.common_name = "first", .usage = ""}, &ca));
  options_.tls.cert_file = folder_ + "/serving.crt";
  options_.tls.key_file = folder_ + "/serving.key";
  http::WriteTestFile(folder_ + "/ca.crt", http::PemOf(ca.certificate.get()));
  options_.authentication.client_ca_file = folder_ + "/ca.crt";
  options_.authentication.token_file = folder_ + "/tokens";
  options_.authorization.mode = AuthorizationMode::kAuthenticated;
  http::WriteTestFile(folder_ + "/tokens", "old,ann,1\n");
  kube_.reset();
  MakeServer();
  http::WriteTestPair(folder_ + "/serving",
                      http::MakeTestPair({.common_name = "second", .usage = ""}, &ca));
  http::WriteTestFile(folder_ + "/tokens", "new,ann,1\n");
  ASSERT_TRUE(server_->Start().ok());
  const auto seen = [&] {
    RawClient client(server_->port());
    const auto answer = Get(E1 IN_DEFAULT "/q", {{"Authorization", "Bearer new"}});
    return client.Handshake() && client.Issuer() == "/CN=second" && answer && answer->status == 200;
  };
  const absl::Time limit = absl::Now() + absl::Seconds(30);
  while (!seen() && absl::Now() < limit) std::this_thread::yield();
  EXPECT_TRUE(seen());
}

TEST_F(ApiServerFixture, EveryCallerOfShutdownWaitsForItsEnd) {
  clock_ = &simulated_;
  options_.shutdown_delay = absl::Hours(1);
  StartServer();
  const int port = server_->port();
  std::thread first([&] { server_->Shutdown(); });
  // One that comes while the first lets the delay pass: /readyz fails, the port is open.
  while (Get("/readyz")->status != 500) std::this_thread::yield();
  std::thread later([&] { simulated_.Advance(absl::Hours(1)); });
  server_->Shutdown();
  EXPECT_FALSE(RawClient(port).connected()) << "the second returned before the port was closed";
  later.join();
  first.join();
}

TEST_F(ApiServerFixture, TheDelayOfAShutdownCountsFromItsBeginning) {
  clock_ = &simulated_;
  options_.shutdown_delay = absl::Hours(1);
  StartServer();
  const auto kept = NewClient();
  EXPECT_EQ(kept->Get("/livez")->get_header_value("Connection"), "");
  std::thread beginning([&] { server_->BeginShutdown(); });
  while (Get("/readyz")->status != 500) std::this_thread::yield();
  const auto served = kept->Get("/livez");
  EXPECT_EQ(served->status, 200);
  EXPECT_EQ(served->get_header_value("Connection"), "close");  // to be opened elsewhere
  simulated_.Advance(absl::Hours(1));
  server_->Shutdown();  // at once, or this test would not end
  beginning.join();
}

TEST_F(ApiServerFixture, ShutdownAnswersWhatHasBegun) {
  absl::Notification entered;
  absl::Notification release;
  custom_->on_get = [&](const adapter::CustomMetricRequest&) {
    entered.Notify();
    release.WaitForNotification();
  };
  clock_ = &simulated_;
  options_.shutdown_delay = absl::Hours(1);
  StartServer();
  const int port = server_->port();
  std::thread slow([&] {
    const auto result = Get(C2 IN_DEFAULT "/pods/*/m");
    ASSERT_TRUE(result);
    EXPECT_EQ(result->status, 200);
    EXPECT_EQ(result->get_header_value("Connection"), "close");
  });
  entered.WaitForNotification();
  std::thread stopping([&] { server_->Shutdown(); });
  // /readyz fails while everything is still served, then the listener goes.
  bool unready = false;
  bool gone = false;
  while (!gone) {
    const auto ready = Get("/readyz");
    if (ready && ready->status == 500 && !std::exchange(unready, true)) {
      simulated_.Advance(absl::Hours(1));
    }
    gone = !RawClient(port).connected();
  }
  EXPECT_TRUE(unready);
  release.Notify();
  stopping.join();
  slow.join();
}

TEST_F(ApiServerFixture, SelfSignedPairIsMadeOnceAndKept) {
  StartServer();
  const auto first = std::filesystem::last_write_time(folder_ + "/apiserver.crt");
  server_.reset();
  StartServer();
  EXPECT_EQ(std::filesystem::last_write_time(folder_ + "/apiserver.crt"), first);
  EXPECT_EQ(std::filesystem::status(folder_ + "/apiserver.key").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(ApiServerFixture, DebugDecisionsIsGivenTheQuery) {
  StartServer();
  EXPECT_EQ(Get("/debug/decisions")->status, 404);  // no scaler
  server_.reset();
  debug_decisions_ = [](const DebugParameter& parameter) {
    return "{\"of\":\"" + parameter("name") + "\",\"kind\":\"" + parameter("kind") + "\"}";
  };
  StartServer();
  const auto answer = Get("/debug/decisions?name=web%2D1&namespace=shop");
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->get_header_value("Content-Type"), "application/json");
  EXPECT_EQ(answer->body, R"({"of":"web-1","kind":""})");
}

TEST_F(ApiServerFixture, PagesOfManyAutoscalersAreMadeOneAfterTheOther) {
  std::atomic<int> under_way{0}, metrics_under_way{0};
  const auto make = [](std::atomic<int>& number) {
    EXPECT_EQ(++number, 1);
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    --number;
  };
  debug_decisions_ = [&](const DebugParameter&) {
    make(under_way);
    return std::string("{}");
  };
  more_metrics_ = [&](std::string&) { make(metrics_under_way); };
  StartServer();
  std::vector<std::thread> askers;
  for (const char* page : {"/debug/decisions", "/metrics"}) {
    for (int i = 0; i < 4; ++i) {
      askers.emplace_back([&, page] { EXPECT_EQ(Get(page)->status, 200); });
    }
  }
  for (std::thread& asker : askers) asker.join();
}

TEST_F(ApiServerFixture, TakenPortSaysSo) {
  StartServer();
  options_.listen.port = server_->port();
  ServerDependencies dependencies(*clock_);
  dependencies.providers = [] { return adapter::Providers(); };
  auto second = ApiServer::Create(options_, std::move(dependencies));
  ASSERT_TRUE(second.ok());
  EXPECT_TRUE(absl::StrContains((*second)->Start().message(), absl::StrCat(options_.listen.port)));
}

}  // namespace
}  // namespace flyball::apiservice
