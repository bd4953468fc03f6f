#include "http/server/http_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "base/openssl_ptr.h"
#include "base/test_log.h"
#include "http/server/tls.h"

namespace flyball::http {
namespace {

constexpr size_t kChangeOfKeys = 72'000;  // bytes of memory that one takes which does not end
constexpr int kFew = 1;                   // bytes of a socket's buffer: as few as there may be
constexpr int kAsUsual = 0;               // the system chooses, and takes some megabytes

// Moves by itself too, if a test says so.
class TestClock : public SimulatedClock {
 public:
  using SimulatedClock::SimulatedClock;
  MonotonicTime MonotonicNow() const override {
    return SimulatedClock::MonotonicNow() + absl::Nanoseconds(moved_ns_ += each_look_ns_);
  }
  void AdvanceAtEachLook(absl::Duration by) { each_look_ns_ = absl::ToInt64Nanoseconds(by); }

 private:
  std::atomic<int64_t> each_look_ns_{0};
  mutable std::atomic<int64_t> moved_ns_{0};
};

class HttpServerTest : public testing::Test {
 protected:
  void SetUp() override {
    TlsOptions tls;
    tls.cert_dir = testing::TempDir();
    auto certificates = TlsCertificates::Create(tls, "127.0.0.1");
    ASSERT_TRUE(certificates.ok()) << certificates.status();
    certificates_ = *std::move(certificates);
    Start([](const HttpRequest&) { return HttpResponse(); });
  }
  void Start(HttpServer::Handler handler, int send_buffer = kFew, int max_connections = 100) {
    ListenOptions options;
    options.max_connections = max_connections;
    options.bind_address = "127.0.0.1";
    options.port = 0;
    options.workers = options.max_workers = 1;
    server_ =
        std::make_unique<HttpServer>(options, certificates_.get(), &clock_, std::move(handler));
    ASSERT_TRUE(server_->Start().ok());
    // The connections of a listening socket get its buffers.
    for (int fd = 0; fd < 1000; ++fd) {
      int listens = 0;
      socklen_t size = sizeof listens;
      getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
      if (listens == 0 || send_buffer == kAsUsual) continue;
      setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer);
    }
  }
  // Anew, with a long answer for /long.
  void StartWithLong(std::shared_ptr<const std::string> body, int send_buffer,
                     int max_connections = 100) {
    server_.reset();
    Start(
        [body = std::move(body)](const HttpRequest& request) {
          HttpResponse response;
          if (request.target == "/long") response.body = body;
          return response;
        },
        send_buffer, max_connections);
  }
  ~HttpServerTest() override { close(fd_); }

  void ConnectSocket() {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(server_->port()));
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  // A client whose calls don't wait once it is connected.
  SslPtr Connect(SSL_CTX* context, int receive_buffer = kFew) {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    ConnectSocket();
    // Otherwise the kernel keeps the first request until the end of the handshake is acknowledged.
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    SslPtr client(SSL_new(context));
    SSL_set_fd(client.get(), fd_);
    EXPECT_EQ(SSL_connect(client.get()), 1);
    EXPECT_EQ(fcntl(fd_, F_SETFL, O_NONBLOCK), 0);
    return client;
  }

  static void Ask(const SslPtr& client, absl::string_view path) {
    const std::string request = absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(SSL_write(client.get(), request.data(), static_cast<int>(request.size())),
              static_cast<int>(request.size()));
  }
  // Reads until so many bytes or more have come, or the connection has ended.
  static std::string Read(const SslPtr& client, size_t bytes) {
    std::string got;
    char record[16 << 10];
    while (got.size() < bytes) {
      ERR_clear_error();
      const int size = SSL_read(client.get(), record, sizeof record);
      if (size > 0) {
        got.append(record, static_cast<size_t>(size));
        continue;
      }
      const int why = SSL_get_error(client.get(), size);
      if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) {
        ADD_FAILURE() << "the connection ended after " << got.size() << " bytes: " << why;
        break;
      }
      std::this_thread::yield();
    }
    return got;
  }

  const TestLog log_;  // first, since the server's threads log
  TestClock clock_{absl::Now()};
  std::unique_ptr<TlsCertificates> certificates_;
  std::unique_ptr<HttpServer> server_;
  int fd_ = -1;
};

TEST_F(HttpServerTest, WhoDoesNotEndAChangeOfKeysIsGivenUpAsInAHandshake) {
  const SslCtxPtr context(SSL_CTX_new(TLS_client_method()));
  const SslPtr client = Connect(context.get());
  // It asks for an answer each time and takes none, until the server cannot send another.
  while (server_->counters().connection_bytes < kChangeOfKeys) {
    if (SSL_do_handshake(client.get()) != 1) continue;
    ASSERT_EQ(SSL_key_update(client.get(), SSL_KEY_UPDATE_REQUESTED), 1);
  }
  absl::Notification drained;
  std::thread draining([&] {
    server_->Drain(absl::Seconds(60));
    drained.Notify();
  });
  // It may have been weighed before its deadline was set, which counts from then.
  for (int i = 0; i < 30 && !drained.WaitForNotificationWithTimeout(absl::Milliseconds(200)); ++i) {
    clock_.Advance(absl::Seconds(1));
  }
  EXPECT_TRUE(drained.HasBeenNotified());
  clock_.Advance(absl::Seconds(60));
  draining.join();
}

// A change of keys costs far more than the bytes of a request, and many may come before a byte.
TEST_F(HttpServerTest, WhoChangesKeysAllTheTimeWaitsForHisTurn) {
  constexpr int kMuch = 1 << 20;
  constexpr int kAnswerBytes = 27;  // to a change of keys
  struct Row {
    int changes;  // before each byte
    absl::Duration look;
    int most_in_a_turn;
  };
  for (const Row& row : {Row{31, absl::ZeroDuration(), 8}, Row{4, absl::Milliseconds(1), 4}}) {
    clock_.AdvanceAtEachLook(row.look);
    absl::Notification entered, release;
    std::atomic<int> hostile_fd = -1;
    int answered = -1;  // in bytes, when the other's request is served
    server_.reset();
    Start(
        [&](const HttpRequest& request) {
          if (request.target == "/wait") {
            entered.Notify();
            release.WaitForNotification();
          } else if (request.target == "/look") {
            EXPECT_EQ(ioctl(hostile_fd, FIONREAD, &answered), 0);
          }
          return HttpResponse();
        },
        kAsUsual);
    const SslCtxPtr context(SSL_CTX_new(TLS_client_method()));
    SslPtr clients[3];
    int fds[3];
    // Answered once, so that the server need not end their handshakes in these turns.
    for (int i = 0; i < 3; ++i) {
      clients[i] = Connect(context.get(), kMuch);
      fds[i] = std::exchange(fd_, -1);
      Ask(clients[i], "/");
      Read(clients[i], 1);
    }
    const auto& [hostile, honest, first] = clients;
    hostile_fd = fds[0];
    // All of it has come when the only worker goes on.
    Ask(first, "/wait");
    entered.WaitForNotification();
    for (const char byte : {'G', 'E', 'T', ' '}) {
      for (int i = 0; i < row.changes; ++i) {
        EXPECT_EQ(SSL_key_update(hostile.get(), SSL_KEY_UPDATE_REQUESTED), 1);
        EXPECT_EQ(SSL_do_handshake(hostile.get()), 1);
      }
      EXPECT_EQ(SSL_write(hostile.get(), &byte, 1), 1);
    }
    Ask(honest, "/look");
    release.Notify();
    EXPECT_EQ(Read(honest, 1).substr(0, 15), "HTTP/1.1 200 OK");
    server_.reset();  // before what its handler refers to
    EXPECT_GT(answered / kAnswerBytes, 0);
    EXPECT_LE(answered / kAnswerBytes, row.most_in_a_turn);
    for (const int fd : fds) close(fd);
  }
}

// A probe comes on a new connection.
TEST_F(HttpServerTest, ANewConnectionDoesNotWaitForTheTurnsOfAllOthers) {
  constexpr absl::string_view kRequest = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  absl::Notification entered, release;
  std::atomic<int> served = 0;
  std::atomic<int> newcomer = -1;
  bool was_answered = false;
  server_.reset();
  Start([&](const HttpRequest&) {
    const int number = ++served;
    if (number == 3) {  // the first two are those of the handshakes
      entered.Notify();
      release.WaitForNotification();
    } else if (number == 4) {
      pollfd readable = {.fd = newcomer, .events = POLLIN, .revents = 0};
      was_answered = poll(&readable, 1, 0) == 1;
    }
    return HttpResponse();
  });
  const SslCtxPtr context(SSL_CTX_new(TLS_client_method()));
  const auto send = [&](const SslPtr& client) {
    EXPECT_EQ(SSL_write(client.get(), kRequest.data(), static_cast<int>(kRequest.size())),
              static_cast<int>(kRequest.size()));
  };
  // Answered once, so that the server need not end their handshakes in these turns.
  SslPtr others[2];
  int fds[2];
  for (int i = 0; i < 2; ++i) {
    others[i] = Connect(context.get());
    fds[i] = std::exchange(fd_, -1);
    send(others[i]);
    char answer[256];
    while (SSL_read(others[i].get(), answer, sizeof answer) <= 0) std::this_thread::yield();
  }
  send(others[0]);
  entered.WaitForNotification();
  send(others[1]);
  newcomer = fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ConnectSocket();
  EXPECT_EQ(fcntl(fd_, F_SETFL, O_NONBLOCK), 0);
  const SslPtr client(SSL_new(context.get()));
  SSL_set_fd(client.get(), fd_);
  EXPECT_EQ(SSL_connect(client.get()), -1);  // its first message is sent
  // Once one that has come later, and is gone, was noticed, so was the first message.
  const int kept = std::exchange(fd_, socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ConnectSocket();
  close(std::exchange(fd_, kept));
  while (server_->counters().handshake_errors == 0) std::this_thread::yield();
  release.Notify();
  while (served < 4) std::this_thread::yield();
  server_.reset();  // before what its handler refers to
  EXPECT_TRUE(was_answered);
  for (const int fd : fds) close(fd);
}

TEST_F(HttpServerTest, ALongAnswerComesWholeWhileOthersAreAnswered) {
  constexpr int kMuch = 1 << 20;  // so that a whole piece is taken at once
  const auto body = std::make_shared<const std::string>(10 * kMuch, 'a');
  StartWithLong(body, kMuch);
  const SslCtxPtr context(SSL_CTX_new(TLS_client_method()));
  const SslPtr reader = Connect(context.get(), kMuch);
  const int kept = std::exchange(fd_, -1);
  Ask(reader, "/long");
  const std::string begin = Read(reader, 1);
  const SslPtr other = Connect(context.get(), kMuch);
  Ask(other, "/short");
  EXPECT_EQ(Read(other, 1).substr(0, 15), "HTTP/1.1 200 OK");
  const size_t head = begin.find("\r\n\r\n") + 4;
  const std::string rest = Read(reader, head + body->size() - begin.size());
  EXPECT_TRUE(begin.substr(head) + rest == *body);
  Ask(reader, "/short");
  EXPECT_EQ(Read(reader, 1).substr(0, 15), "HTTP/1.1 200 OK");
  server_.reset();
  close(kept);
}

// The kernel takes a part of the answer beyond what it calls writable, so that the server stops
// after a piece that was taken as a whole.
TEST_F(HttpServerTest, WhoStopsReadingALongAnswerMakesRoomBeforeOneThatIsIdle) {
  const auto body = std::make_shared<const std::string>(20 << 20, 'a');
  StartWithLong(body, kAsUsual, /*max_connections=*/3);
  const SslCtxPtr context(SSL_CTX_new(TLS_client_method()));
  SslPtr clients[4];
  int fds[4];
  const auto connect = [&](int i) {
    clients[i] = Connect(context.get());
    fds[i] = std::exchange(fd_, -1);
  };
  const auto is_answered = [&](int i) {
    Ask(clients[i], "/short");
    return Read(clients[i], 1).substr(0, 15) == "HTTP/1.1 200 OK";
  };
  connect(0);
  EXPECT_TRUE(is_answered(0));
  // It is idle by then, since the only worker serves one after the other.
  connect(1);
  EXPECT_TRUE(is_answered(1));
  clock_.Advance(absl::Seconds(2));
  connect(2);
  Ask(clients[2], "/long");
  // Between two answers to one connection the other has a turn.
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(is_answered(1));
  connect(3);
  EXPECT_TRUE(is_answered(3));
  EXPECT_EQ(server_->counters().ended_for_room, 1u);
  EXPECT_TRUE(is_answered(0));
  for (const int fd : fds) close(fd);
}

TEST_F(HttpServerTest, ALackOfDescriptorsIsLoggedOnceAMinute) {
  const auto await_more = [this](uint64_t more) {
    const uint64_t before = server_->counters().refused;
    while (server_->counters().refused < before + more) std::this_thread::yield();
  };
  fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  // Those that are open stay open, and poll takes no more than the limit.
  const rlimit low = {3, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  ConnectSocket();
  await_more(3);
  clock_.Advance(absl::Minutes(1));
  await_more(2);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  server_.reset();
  EXPECT_EQ(log_.Count("no file descriptors left"), 2u);
}

}  // namespace
}  // namespace flyball::http
