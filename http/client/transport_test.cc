#include "http/client/transport.h"

#include <arpa/inet.h>
#include <malloc.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/synchronization/notification.h"
#include "base/clock.h"
#include "base/openssl_ptr.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http/client/address_rules.h"
#include "http/client/tls_client.h"
#include "http/pem.h"
#include "http/testing/fake_dns_server.h"
#include "http/testing/gzip.h"
#include "http/testing/slow_certificate.h"
#include "httplib.h"

namespace flyball::http {
namespace {

using testing::HasSubstr;
using testing::Not;

// ---- certificates ----

struct Pair {
  std::string certificate, key;  // PEM
};

X509Ptr CertificateOf(const Pair& pair) {
  const BioPtr bio(BIO_new_mem_buf(pair.certificate.data(), -1));
  return X509Ptr(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

PkeyPtr KeyOf(const Pair& pair) {
  const BioPtr bio(BIO_new_mem_buf(pair.key.data(), -1));
  return PkeyPtr(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
}

void Extend(X509* certificate, int nid, const std::string& value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// A certificate of that common name; without an issuer it is its own CA.
Pair Issue(const std::string& common_name, const std::string& alternative_names, bool is_ca = false,
           const Pair* issuer = nullptr) {
  const PkeyPtr key(EVP_EC_gen("P-256"));
  const X509Ptr certificate(X509_new());
  X509* const x = certificate.get();
  X509_set_version(x, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
  X509_gmtime_adj(X509_getm_notBefore(x), -60);
  X509_gmtime_adj(X509_getm_notAfter(x), 3600);
  X509_set_pubkey(x, key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                             0);
  const X509Ptr signer = issuer == nullptr ? nullptr : CertificateOf(*issuer);
  X509_set_issuer_name(x, X509_get_subject_name(signer == nullptr ? x : signer.get()));
  if (!alternative_names.empty()) Extend(x, NID_subject_alt_name, alternative_names);
  if (is_ca) Extend(x, NID_basic_constraints, "critical,CA:TRUE");
  const PkeyPtr issuer_key = issuer == nullptr ? nullptr : KeyOf(*issuer);
  X509_sign(x, issuer_key == nullptr ? key.get() : issuer_key.get(), EVP_sha256());
  return {PemOf(x), PemOf(key.get())};
}

Pair SelfSigned(const std::string& alternative_names) { return Issue("test", alternative_names); }

std::string TempFile(const std::string& name, const std::string& text) {
  const std::string path =
      testing::TempDir() + "/flyball-transport-" + std::to_string(getpid()) + "-" + name;
  std::ofstream(path) << text;
  return path;
}

// ---- servers ----

// An httplib server on a port of its own.
class Server {
 public:
  explicit Server(std::unique_ptr<httplib::Server> server = std::make_unique<httplib::Server>())
      : server_(std::move(server)), port_(server_->bind_to_any_port("127.0.0.1")) {}
  ~Server() {
    server_->stop();
    if (thread_.joinable()) thread_.join();
  }
  httplib::Server* operator->() { return server_.get(); }
  void Start() {
    thread_ = std::thread([this] { server_->listen_after_bind(); });
    while (!server_->is_running()) std::this_thread::yield();
  }
  std::string Authority() const { return absl::StrCat("127.0.0.1:", port_); }

 private:
  std::unique_ptr<httplib::Server> server_;
  int port_;
  std::thread thread_;
};

// Plays bytes: `talk` gets each accepted socket in turn.
class RawServer {
 public:
  explicit RawServer(std::function<void(int socket, int nth)> talk) : talk_(std::move(talk)) {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    listen(listener_, 8);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    url_ = absl::StrCat("http://127.0.0.1:", ntohs(address.sin_port));
    thread_ = std::thread([this] {
      for (int nth = 0;; ++nth) {
        const int socket = accept(listener_, nullptr, nullptr);
        if (socket < 0) return;
        talk_(socket, nth);
        close(socket);
      }
    });
  }
  ~RawServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  const std::string& url() const { return url_; }

 private:
  std::function<void(int, int)> talk_;
  int listener_;
  std::string url_;
  std::thread thread_;
};

// Reads one request's head; "" when the peer closed.
std::string ReadHead(int socket) {
  std::string head;
  char byte = 0;
  while (!absl::StrContains(head, "\r\n\r\n") && recv(socket, &byte, 1, 0) == 1) {
    head.push_back(byte);
  }
  return head;
}

bool Send(int socket, const std::string& text) {
  return send(socket, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

std::string Ok(const std::string& body) {
  return absl::StrCat("HTTP/1.1 200 OK\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
}

std::unique_ptr<HttpTransport> Make(TransportOptions options) {
  auto transport = MakeHttpTransport(std::move(options), Clock::System());
  EXPECT_TRUE(transport.ok()) << transport.status();
  return *std::move(transport);
}

std::unique_ptr<HttpTransport> To(const std::string& url) {
  TransportOptions options;
  options.url = url;
  return Make(options);
}

HttpCall Get(const std::string& target) {
  HttpCall call;
  call.target = target;
  return call;
}

// ---- plain HTTP ----

TEST(DoTest, SendsTheCallAndReturnsAnyStatus) {
  Server server;
  server->Post("/base/x", [](const httplib::Request& request, httplib::Response& response) {
    response.status = 418;
    response.set_header("X-Seen", absl::StrCat(request.get_header_value("Authorization"), "|",
                                               request.get_header_value("X-Fixed"), ",",
                                               request.get_header_value("X-Fixed", 1), "|",
                                               request.get_header_value("Content-Type"), "|",
                                               request.get_param_value("q")));
    response.set_content(request.body, "text/plain");
  });
  server.Start();
  TransportOptions options;
  options.url = absl::StrCat("http://user:pw@", server.Authority(), "/base/");
  options.headers = {{"X-Fixed", "1"}, {"content-type", "text/plain"}, {"X-Fixed", "2"}};
  const auto transport = Make(options);
  HttpCall call = Get("/x?q=a%20b");
  call.method = "POST";
  call.body = "body";
  call.content_type = "application/json";
  const auto answer = transport->Do(call);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->status, 418);
  EXPECT_EQ(answer->Header("x-seen"), "Basic dXNlcjpwdw==|1,2|application/json|a b");
  EXPECT_EQ(answer->body, "body");
}

// Longer than what a socket takes at once.
std::string LongBody() {
  std::string body;
  while (body.size() < 4 << 20) absl::StrAppend(&body, body.size(), ",");
  return body;
}

void Echo(const httplib::Request& request, httplib::Response& response) {
  response.set_content(request.body, "text/plain");
}

HttpCall PostOf(std::string body) {
  HttpCall call = Get("/echo");
  call.method = "POST";
  call.body = std::move(body);
  call.content_type = "application/json";
  return call;
}

TEST(DoTest, ALongBodyArrivesWhole) {
  Server server;
  server->Post("/echo", Echo);
  server.Start();
  const auto transport = To(absl::StrCat("http://", server.Authority()));
  const HttpCall call = PostOf(LongBody());
  for (int i = 0; i < 2; ++i) {
    const auto answer = transport->Do(call);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_TRUE(answer->body == call.body);
  }
}

TEST(DoTest, ConnectionsAreKeptAndAGoneOneIsReplaced) {
  std::atomic<int> connections = 0;
  RawServer server([&](int socket, int nth) {
    ++connections;
    // The first connection answers twice and then closes in the face of the third request.
    for (int i = 0; nth > 0 || i < 2; ++i) {
      if (ReadHead(socket).empty()) return;
      Send(socket, Ok("x"));
    }
    ReadHead(socket);
  });
  const auto transport = To(server.url());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(transport->Do(Get("/")).ok()) << i;
  EXPECT_EQ(connections, 2);
}

TEST(DoTest, PostIsNotSentTwiceUnlessItMayBe) {
  std::atomic<int> requests = 0;
  RawServer server([&](int socket, int nth) {
    if (ReadHead(socket).empty()) return;
    ++requests;
    Send(socket, Ok("x"));
    if (ReadHead(socket).empty()) return;
    ++requests;
    if (nth > 0) Send(socket, Ok("x"));
  });
  const auto transport = To(server.url());
  ASSERT_TRUE(transport->Do(Get("/")).ok());
  HttpCall post = Get("/");
  post.method = "POST";
  EXPECT_EQ(transport->Do(post).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(requests, 2);
  ASSERT_TRUE(transport->Do(Get("/")).ok());
}

TEST(DoTest, NobodyListeningIsUnavailable) {
  std::string url;
  {
    url = RawServer([](int, int) {}).url();
  }
  const auto status = To(url)->Do(Get("/")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("connection refused"));
}

TEST(DoTest, GarbageIsUnavailable) {
  RawServer server([](int socket, int) {
    ReadHead(socket);
    Send(socket, "SSH-2.0-OpenSSH_9.2\r\n\r\n");
  });
  EXPECT_EQ(To(server.url())->Do(Get("/")).status().code(), absl::StatusCode::kUnavailable);
}

TEST(DoTest, CutBodyIsUnavailable) {
  RawServer server([](int socket, int) {
    ReadHead(socket);
    Send(socket, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
  });
  EXPECT_EQ(To(server.url())->Do(Get("/")).status().code(), absl::StatusCode::kUnavailable);
}

// ---- deadlines ----

class SlowServerTest : public testing::TestWithParam<std::string> {};

// Sends its prefix, then a byte at a time for ever: each single read is quick.
TEST_P(SlowServerTest, WholeCallHasADeadline) {
  RawServer server([&](int socket, int) {
    ReadHead(socket);
    Send(socket, GetParam());
    while (Send(socket, "x")) poll(nullptr, 0, 1);
  });
  HttpCall call = Get("/");
  call.timeout = absl::Milliseconds(50);
  const auto status = To(server.url())->Do(call).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
}

INSTANTIATE_TEST_SUITE_P(DripIn, SlowServerTest,
                         testing::Values("HTTP/1.1 200 O", "HTTP/1.1 200 OK\r\nX: ",
                                         "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"));

TEST(DoTest, SilentServerMeetsTheDeadline) {
  RawServer server([](int socket, int) {
    ReadHead(socket);
    ReadHead(socket);
  });
  HttpCall call = Get("/");
  call.timeout = absl::Milliseconds(50);
  EXPECT_EQ(To(server.url())->Do(call).status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(DoTest, BothTriesShareOneDeadline) {
  SimulatedClock clock(absl::UnixEpoch());
  absl::Notification done;
  RawServer server([&](int socket, int nth) {
    if (ReadHead(socket).empty()) return;
    if (nth > 0) {  // silent, and open until the time is over
      clock.Advance(absl::Milliseconds(200));
      done.WaitForNotificationWithTimeout(absl::Seconds(30));
      return;
    }
    Send(socket, Ok("x"));
    ReadHead(socket);
    // Closes when four fifths of the time are over: the call is sent again.
    clock.Advance(absl::Milliseconds(800));
  });
  TransportOptions options;
  options.url = server.url();
  const auto transport = *MakeHttpTransport(options, clock);
  ASSERT_TRUE(transport->Do(Get("/")).ok());
  HttpCall call = Get("/");
  call.method = "PUT";
  call.timeout = absl::Seconds(1);
  EXPECT_EQ(transport->Do(call).status().code(), absl::StatusCode::kDeadlineExceeded);
  done.Notify();
}

TEST(DoTest, ANameIsLookedUpWithinTheDeadline) {
  FakeDnsServer dns;
  dns.Hang();
  TransportOptions options;
  options.url = "http://slow.example";
  options.dns = dns.Settings();
  const auto transport = Make(options);
  HttpCall call = Get("/");
  call.timeout = absl::Milliseconds(100);
  EXPECT_EQ(transport->Do(call).status().code(), absl::StatusCode::kDeadlineExceeded);
}

// What a call that was cut had not sent is never sent: it is not the kernel's to go on with.
TEST(DoTest, ACallThatIsCutSendsNothingAfterwards) {
  absl::Notification cut;
  std::atomic<ssize_t> last = 1;
  absl::Notification read;
  RawServer server([&](int socket, int) {
    cut.WaitForNotification();
    char buffer[64 << 10];
    while ((last = recv(socket, buffer, sizeof buffer, 0)) > 0) {
    }
    read.Notify();
  });
  HttpCall call = PostOf(LongBody() + LongBody());
  call.timeout = absl::Seconds(1);
  EXPECT_EQ(To(server.url())->Do(call).status().code(), absl::StatusCode::kDeadlineExceeded);
  cut.Notify();
  read.WaitForNotification();
  EXPECT_EQ(last, -1) << "the server saw a request's end instead of a reset";
}

// ---- sizes ----

struct EndlessAnswer {
  std::string prefix, again;  // the second for ever
};

class FloodingServerTest : public testing::TestWithParam<EndlessAnswer> {};

TEST_P(FloodingServerTest, EndsSoon) {
  std::atomic<size_t> sent = 0;
  RawServer server([&](int socket, int) {
    ReadHead(socket);
    Send(socket, GetParam().prefix);
    std::string piece;
    while (piece.size() < 32'000) piece += GetParam().again;
    while (Send(socket, piece)) sent += piece.size();
  });
  HttpCall call = Get("/");
  call.timeout = absl::Seconds(20);
  EXPECT_EQ(To(server.url())->Do(call).status().code(), absl::StatusCode::kResourceExhausted);
  // What the kernel took of it included.
  EXPECT_LT(sent, 10u << 20);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, FloodingServerTest,
    testing::Values(EndlessAnswer{"HTTP/1.1 200 ", "x"},
                    EndlessAnswer{"HTTP/1.1 200 OK\r\n", "a:\r\n"},
                    EndlessAnswer{"HTTP/1.1 200 OK\r\na: ", "x"},
                    EndlessAnswer{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;", "x"}));

// A recursive matcher of the line would need more stack than there is.
TEST(DoTest, ALongStatusLineIsRefused) {
  RawServer server([](int socket, int) {
    ReadHead(socket);
    Send(socket, absl::StrCat("HTTP/1.1 200 ", std::string(1 << 20, 'x'), "\r\n\r\n"));
  });
  EXPECT_EQ(To(server.url())->Do(Get("/")).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(DoTest, ABodyHasNoMoreRoomThanItsLimit) {
  const std::string chunk = absl::StrCat("4000\r\n", std::string(0x4000, 'x'), "\r\n");
  RawServer server([&](int socket, int) {
    ReadHead(socket);
    Send(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 40; ++i) Send(socket, chunk);
    Send(socket, "0\r\n\r\n");
  });
  HttpCall call = Get("/");
  call.max_body_bytes = 700'000;
  const auto answer = To(server.url())->Do(call);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->body.size(), 40u * 0x4000);
  EXPECT_LE(answer->body.capacity(), 700'000u + 64);
}

TEST(DoTest, LargeBodiesAreRefusedWhetherAnnouncedOrNot) {
  const std::string body(10'000, 'x');
  RawServer server([&](int socket, int nth) {
    ReadHead(socket);
    Send(socket, nth == 0 ? Ok(body) : "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body);
  });
  const auto transport = To(server.url());
  HttpCall call = Get("/");
  call.max_body_bytes = 9'999;
  EXPECT_EQ(transport->Do(call).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(transport->Do(call).status().code(), absl::StatusCode::kResourceExhausted);
  call.max_body_bytes = 10'000;
  const auto answer = transport->Do(call);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->body, body);
}

TEST(DoTest, GzipIsUndoneAndABombIsStopped) {
  const std::string text(50 << 20, 'x');
  const std::string packed = Gzip(text);
  ASSERT_LT(packed.size(), 100'000u);
  RawServer server([&](int socket, int) {
    EXPECT_THAT(ReadHead(socket), HasSubstr("Accept-Encoding: gzip"));
    Send(socket, absl::StrCat("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ",
                              packed.size(), "\r\n\r\n", packed));
  });
  const auto transport = To(server.url());
  HttpCall call = Get("/");
  call.max_body_bytes = 1 << 20;
  EXPECT_EQ(transport->Do(call).status().code(), absl::StatusCode::kResourceExhausted);
  call.max_body_bytes = text.size();
  const auto answer = transport->Do(call);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->body.size(), text.size());
}

// ---- redirects ----

TEST(RedirectTest, APostStaysOneOrBecomesAGetWithoutItsBody) {
  Server server;
  const auto say = [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(absl::StrCat(request.method, " ", request.body, " ",
                                      request.get_header_value("Content-Type")),
                         "text/plain");
  };
  server->Get("/end", say);
  server->Post("/end", say);
  for (const int status : {303, 307}) {
    server->Post(absl::StrCat("/", status), [status](const auto&, httplib::Response& response) {
      response.set_redirect("/end", status);
    });
  }
  server.Start();
  const auto transport = To(absl::StrCat("http://", server.Authority()));
  HttpCall call = PostOf("body");
  call.target = "/307";
  EXPECT_EQ(transport->Do(call)->body, "POST body application/json");
  call.target = "/303";
  EXPECT_EQ(transport->Do(call)->body, "GET  ");
  call.writes = true;
  EXPECT_EQ(transport->Do(call)->status, 303);
  call.target = "/307";
  EXPECT_EQ(transport->Do(call)->body, "POST body application/json");
}

TEST(RedirectTest, SameHostKeepsCredentialsOtherHostDropsThem) {
  Server other;
  other->Get("/far", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(absl::StrCat("far:", request.get_header_value("Authorization"),
                                      request.get_header_value("X-Secret")),
                         "text/plain");
  });
  other.Start();
  Server server;
  server->Get("/near", [](const httplib::Request&, httplib::Response& response) {
    response.set_redirect("/here?a=b%20c");
  });
  server->Get("/here", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(request.get_header_value("Authorization"), "text/plain");
  });
  server->Get("/away", [&](const httplib::Request&, httplib::Response& response) {
    response.set_redirect(absl::StrCat("http://", other.Authority(), "/far"));
  });
  server->Get("/loop", [](const httplib::Request&, httplib::Response& response) {
    response.set_redirect("/loop");
  });
  server.Start();
  TransportOptions options;
  options.url = absl::StrCat("http://", server.Authority());
  options.token = "t";
  options.headers = {{"X-Secret", "s"}};
  const auto transport = Make(options);
  EXPECT_EQ(transport->Do(Get("/near"))->body, "Bearer t");
  EXPECT_EQ(transport->Do(Get("/away"))->body, "far:");
  EXPECT_EQ(transport->Do(Get("/loop")).status().code(), absl::StatusCode::kUnavailable);
}

TEST(RedirectTest, AnErrorShowsNothingOfWhereItLeads) {
  RawServer server([](int socket, int) {
    ReadHead(socket);
    Send(socket,
         "HTTP/1.1 302 Found\r\nLocation: http://secret:99999/\r\nContent-Length: 0\r\n\r\n");
  });
  EXPECT_EQ(To(server.url())->Do(Get("/")).status(),
            absl::UnavailableError(
                absl::StrCat(server.url(), ": status 302 redirects to what is no valid URL")));
}

TEST(RedirectTest, WhoMayNotLeaveTheOriginFollowsWithinItOnly) {
  std::atomic<int> far = 0;
  RawServer other([&](int socket, int) {
    ReadHead(socket);
    ++far;
    Send(socket, Ok("secret"));
  });
  Server server;
  server->Get("/near", [](const httplib::Request&, httplib::Response& response) {
    response.set_redirect("/here");
  });
  server->Get("/here", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("here", "text/plain");
  });
  std::string away;
  server->Get("/away", [&](const httplib::Request&, httplib::Response& response) {
    response.set_redirect(away);
  });
  server.Start();
  TransportOptions options;
  options.url = absl::StrCat("http://", server.Authority());
  options.leave_origin = false;
  const auto transport = Make(options);
  EXPECT_EQ(transport->Do(Get("/near"))->body, "here");
  const std::string https = absl::StrCat("https://", server.Authority(), "/here");
  const std::string name = absl::StrReplaceAll(options.url, {{"127.0.0.1", "localhost"}});
  for (const std::string& to : {other.url() + "/far", https, name, absl::StrCat("//x", "/far")}) {
    away = to;
    const auto status = transport->Do(Get("/away")).status();
    EXPECT_EQ(status, absl::FailedPreconditionError(
                          absl::StrCat(options.url,
                                       ": status 302 redirects to another scheme, host or port, "
                                       "which is not followed")));
  }
  EXPECT_EQ(far, 0);
}

// ---- addresses ----

class AddressesTest : public testing::Test {
 protected:
  AddressesTest()
      : server_([this](int socket, int) {
          ++connections_;
          if (!ReadHead(socket).empty()) Send(socket, Ok("x"));
        }) {}

  absl::Status Ask(const std::string& host, std::vector<std::string> allowed) {
    TransportOptions options;
    options.url = absl::StrReplaceAll(server_.url(), {{"127.0.0.1", host}});
    options.addresses = std::make_shared<AddressRules>(*AddressRules::Parse(allowed));
    options.dns = dns_.Settings();
    return Make(options)->Do(Get("/")).status();
  }

  std::atomic<int> connections_ = 0;
  FakeDnsServer dns_;
  RawServer server_;
};

TEST_F(AddressesTest, WhatIsNotAllowedIsNotConnectedTo) {
  dns_.Set("inside.example", {"127.0.0.1"});
  for (const char* host : {"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "inside.example"}) {
    const absl::Status status = Ask(host, {});
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("is a loopback address"));
  }
  EXPECT_EQ(connections_, 0);
}

TEST_F(AddressesTest, WhatIsAllowedIs) {
  dns_.Set("inside.example", {"127.0.0.1"});
  for (const char* host : {"127.0.0.1", "[::ffff:127.0.0.1]", "inside.example"}) {
    const absl::Status status = Ask(host, {"127.0.0.0/8"});
    EXPECT_TRUE(status.ok()) << host << ": " << status;
  }
}

// The first answer is not what counts: each connection goes to an address that was checked.
TEST_F(AddressesTest, OfSeveralAddressesThoseThatAreAllowedAreTried) {
  dns_.Set("mixed.example", {"169.254.169.254", "127.0.0.1"});
  EXPECT_TRUE(Ask("mixed.example", {"127.0.0.1"}).ok());
  dns_.Set("mixed.example", {"127.0.0.1", "169.254.169.254"});
  EXPECT_TRUE(Ask("mixed.example", {"127.0.0.1"}).ok());
}

// ---- arguments ----

TEST(DoTest, LineBreaksNeverReachTheWire) {
  const auto transport = To("http://127.0.0.1:1");
  HttpCall call = Get("/a\r\nX: y");
  EXPECT_EQ(transport->Do(call).status().code(), absl::StatusCode::kInvalidArgument);
  call = Get("/");
  call.headers = {{"X", "a\nb"}};
  EXPECT_EQ(transport->Do(call).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(MakeHttpTransportTest, ErrorsDoNotShowThePassword) {
  TransportOptions options;
  options.url = "http://user:secret@host:0/";
  const auto status = MakeHttpTransport(options, Clock::System()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("secret")));
  options.url = "http://user:secret@127.0.0.1:1/";
  EXPECT_THAT(std::string(Make(options)->Do(Get("/")).status().message()),
              Not(HasSubstr("secret")));
}

// ---- TLS ----

class TlsTest : public testing::Test {
 protected:
  // A server certificate for 127.0.0.1 and db.example only.
  const Pair server_pair_ = SelfSigned("IP:127.0.0.1,DNS:db.example");
  const Pair client_pair_ = SelfSigned("DNS:client");

  std::unique_ptr<httplib::Server> MakeServer(bool wants_client) const {
    return MakeServer(wants_client, server_pair_);
  }

  std::unique_ptr<httplib::Server> MakeServer(bool wants_client, const Pair& pair) const {
    const std::string client_ca =
        wants_client ? TempFile("client.crt", client_pair_.certificate) : "";
    auto server = std::make_unique<httplib::SSLServer>(
        TempFile("server.crt", pair.certificate).c_str(), TempFile("server.key", pair.key).c_str(),
        wants_client ? client_ca.c_str() : nullptr);
    server->Get("/", [](const httplib::Request& request, httplib::Response& response) {
      response.set_content(SSL_get_servername(request.ssl, TLSEXT_NAMETYPE_host_name) == nullptr
                               ? "none"
                               : SSL_get_servername(request.ssl, TLSEXT_NAMETYPE_host_name),
                           "text/plain");
    });
    server->Post("/echo", Echo);
    return server;
  }

  // For a server that does each step itself.
  static SslCtxPtr MakeServerContext(const Pair& pair) {
    SslCtxPtr context(SSL_CTX_new(TLS_server_method()));
    EXPECT_EQ(SSL_CTX_use_certificate(context.get(), CertificateOf(pair).get()), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey(context.get(), KeyOf(pair).get()), 1);
    return context;
  }
};

TEST_F(TlsTest, ALongBodyArrivesWhole) {
  Server server(MakeServer(false));
  server.Start();
  TransportOptions options;
  options.url = absl::StrCat("https://", server.Authority());
  options.ca_data = server_pair_.certificate;
  const auto transport = Make(options);
  const HttpCall call = PostOf(LongBody());
  for (int i = 0; i < 2; ++i) {
    const auto answer = transport->Do(call);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_TRUE(answer->body == call.body);
  }
}

TEST_F(TlsTest, CertificateMustBeTrustedAndNameTheServer) {
  Server server(MakeServer(false));
  server.Start();
  TransportOptions options;
  options.url = absl::StrCat("https://", server.Authority());
  const auto untrusted = Make(options)->Do(Get("/")).status();
  EXPECT_EQ(untrusted.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(untrusted.message()), HasSubstr("certificate refused: self-signed"));

  options.ca_data = server_pair_.certificate;
  EXPECT_EQ(Make(options)->Do(Get("/"))->body, "none");  // an address is no server name

  options.server_name = "db.example";
  EXPECT_EQ(Make(options)->Do(Get("/"))->body, "db.example");

  options.server_name = "other.example";
  const auto misnamed = Make(options)->Do(Get("/")).status();
  EXPECT_THAT(std::string(misnamed.message()), HasSubstr("certificate refused: hostname mismatch"));

  options.ca_data.clear();
  options.insecure_skip_verify = true;
  EXPECT_EQ(Make(options)->Do(Get("/"))->body, "other.example");
}

// A server that wants one makes its client work for it.
TEST_F(TlsTest, KeysAreNotExchangedInFiniteFields) {
  TransportOptions options;
  options.insecure_skip_verify = true;
  const auto client = TlsClient::Load(options);
  ASSERT_TRUE(client.ok()) << client.status();
  const SslPtr connection((*client)->NewConnection("db.example"));
  const STACK_OF(SSL_CIPHER)* ciphers = SSL_get_ciphers(connection.get());
  ASSERT_GT(sk_SSL_CIPHER_num(ciphers), 0);
  for (int i = 0; i < sk_SSL_CIPHER_num(ciphers); ++i) {
    const SSL_CIPHER* cipher = sk_SSL_CIPHER_value(ciphers, i);
    EXPECT_NE(SSL_CIPHER_get_kx_nid(cipher), NID_kx_dhe) << SSL_CIPHER_get_name(cipher);
  }
  for (const char* groups : {"ffdhe8192", "P-384"}) {
    auto made = MakeServer(false);
    SSL_CTX* const context = static_cast<httplib::SSLServer&>(*made).ssl_context();
    ASSERT_EQ(SSL_CTX_set1_groups_list(context, groups), 1) << groups;
    Server server(std::move(made));
    server.Start();
    options.url = absl::StrCat("https://", server.Authority());
    EXPECT_EQ(Make(options)->Do(Get("/")).ok(), groups[0] != 'f') << groups;
  }
}

// Makes the server show its certificate as often as it takes to come to so many bytes.
void ShowCertificates(size_t bytes, httplib::Server& server) {
  SSL_CTX* const context = static_cast<httplib::SSLServer&>(server).ssl_context();
  X509* const certificate = SSL_CTX_get0_certificate(context);
  const auto size = static_cast<size_t>(i2d_X509(certificate, nullptr));
  for (size_t shown = size; shown < bytes; shown += size) {
    ASSERT_EQ(SSL_CTX_add1_chain_cert(context, certificate), 1);
  }
}

// They are kept as long as the connection.
TEST_F(TlsTest, AServerShowsNoMoreCertificatesThanAnyNeeds) {
  TransportOptions options;
  options.insecure_skip_verify = true;
  for (const size_t bytes : {20'000, 40'000}) {
    auto made = MakeServer(false);
    ASSERT_NO_FATAL_FAILURE(ShowCertificates(bytes, *made));
    Server server(std::move(made));
    server.Start();
    options.url = absl::StrCat("https://", server.Authority());
    EXPECT_EQ(Make(options)->Do(Get("/")).ok(), bytes < 32'768) << bytes;
  }
}

// OpenSSL decodes their keys before it asks anybody, and a deadline counts only while it waits.
TEST_F(TlsTest, AServersKeysThatTakeLongToDecodeAreNotDecoded) {
  auto made = MakeServer(false);
  SSL_CTX* const context = static_cast<httplib::SSLServer&>(*made).ssl_context();
  SSL_CTX_set_security_level(context, 0);
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(SSL_CTX_add1_chain_cert(context, DecodedSlowCertificate()), 1);
  }
  Server server(std::move(made));
  server.Start();
  TransportOptions options;
  options.url = absl::StrCat("https://", server.Authority());
  for (const bool insecure : {false, true}) {
    options.insecure_skip_verify = insecure;
    HttpCall call = Get("/");
    call.timeout = absl::Seconds(1);
    const absl::Status status = Make(options)->Do(call).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("certificate refused: a key that is not accepted: ECDSA on another curve"
                          " than P-224"));
  }
}

size_t BytesInUse() {
  const auto all = mallinfo2();
  return all.uordblks + all.hblkhd;
}

// What a verification decodes of them, up to 60 times their bytes, is not kept.
TEST_F(TlsTest, AConnectionKeepsNoMoreOfCertificatesThanIsCounted) {
  constexpr int kNames = 3'500;  // of two bytes
  std::string names;
  for (int i = 0; i < kNames; ++i) absl::StrAppend(&names, "8200");
  const Pair pair = Issue("a", absl::StrFormat("DER:3082%04x%s", 2 * kNames, names));
  const SslCtxPtr context = MakeServerContext(pair);
  TransportOptions options;
  options.insecure_skip_verify = true;
  const auto client = TlsClient::Load(options);
  ASSERT_TRUE(client.ok()) << client.status();
  const auto connect = [&] {
    int ends[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    SslPtr connection((*client)->NewConnection("a"));
    const SslPtr server(SSL_new(context.get()));
    SSL_set_fd(connection.get(), ends[0]);
    SSL_set_fd(server.get(), ends[1]);
    for (int i = 0; i < 100 && SSL_is_init_finished(connection.get()) == 0; ++i) {
      SSL_connect(connection.get());
      SSL_accept(server.get());
    }
    EXPECT_NE(SSL_is_init_finished(connection.get()), 0);
    close(ends[0]);
    close(ends[1]);
    return connection;
  };
  const auto first = connect();  // and what the process keeps from then on
  const size_t before = BytesInUse();
  const auto second = connect();
  EXPECT_LT(BytesInUse() - before, (16u << 10) + 30u * 2 * kNames);  // as Connection::IdleBytes
}

// How many connections three calls to that server make, one after the other.
size_t ConnectionsOfThreeCalls(std::unique_ptr<httplib::Server> made) {
  absl::Mutex mutex;
  std::set<int> peers;
  made->set_pre_routing_handler([&](const httplib::Request& request, httplib::Response&) {
    absl::MutexLock lock(&mutex);
    peers.insert(request.remote_port);
    return httplib::Server::HandlerResponse::Unhandled;
  });
  Server server(std::move(made));
  server.Start();
  TransportOptions options;
  options.insecure_skip_verify = true;
  options.url = absl::StrCat("https://", server.Authority());
  const auto transport = Make(options);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(transport->Do(Get("/")).ok());
  absl::MutexLock lock(&mutex);
  return peers.size();
}

TEST_F(TlsTest, ConnectionsWithManyCertificatesAreNotKept) {
  for (const size_t bytes : {6'000, 10'000}) {
    auto made = MakeServer(false);
    ASSERT_NO_FATAL_FAILURE(ShowCertificates(bytes, *made));
    EXPECT_EQ(ConnectionsOfThreeCalls(std::move(made)), bytes < 8192 ? 1u : 3u) << bytes;
  }
}

// They are kept as long as the connection too.
TEST_F(TlsTest, ConnectionsWithManyNamesOfAuthoritiesAreNotKept) {
  for (const int count : {20, 2'000}) {
    auto made = MakeServer(false);
    SSL_CTX* const context = static_cast<httplib::SSLServer&>(*made).ssl_context();
    STACK_OF(X509_NAME)* const names = sk_X509_NAME_new_null();
    for (int i = 0; i < count; ++i) sk_X509_NAME_push(names, X509_NAME_new());
    SSL_CTX_set_client_CA_list(context, names);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);  // it asks for a certificate
    EXPECT_EQ(ConnectionsOfThreeCalls(std::move(made)), count == 20 ? 1u : 3u) << count;
  }
}

// The last one is kept as long as the connection too.
TEST_F(TlsTest, ConnectionsWithLongTicketsAreNotKept) {
  static constexpr auto kAddTo = [](SSL* ssl, void* text) {
    const auto& more = *static_cast<const std::string*>(text);
    return SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), more.data(), more.size());
  };
  for (const size_t bytes : {1'000, 12'000}) {
    std::string more(bytes, 'x');
    auto made = MakeServer(false);
    SSL_CTX* const context = static_cast<httplib::SSLServer&>(*made).ssl_context();
    SSL_CTX_set_session_ticket_cb(context, kAddTo, nullptr, &more);
    EXPECT_EQ(ConnectionsOfThreeCalls(std::move(made)), bytes == 1'000 ? 1u : 3u) << bytes;
  }
}

TEST_F(TlsTest, IdleConnectionsTakeSoMuchMemoryTogether) {
  constexpr size_t kOne = 240'000;  // 16 KiB, and 30 for each byte of certificates
  for (const size_t connections : {1, 2}) {
    auto made = MakeServer(false);
    ASSERT_NO_FATAL_FAILURE(ShowCertificates(6'000, *made));
    absl::Mutex mutex;
    std::set<int> peers;
    int expected = 0;
    int arrived = 0;
    made->set_pre_routing_handler([&](const httplib::Request& request, httplib::Response&) {
      absl::MutexLock lock(&mutex);
      peers.insert(request.remote_port);
      ++arrived;
      const auto all = [&] { return arrived >= expected; };
      mutex.Await(absl::Condition(&all));
      return httplib::Server::HandlerResponse::Unhandled;
    });
    Server server(std::move(made));
    server.Start();
    TransportOptions options;
    options.insecure_skip_verify = true;
    options.url = absl::StrCat("https://", server.Authority());
    options.idle_memory = std::make_shared<ByteBudget>(connections * kOne);
    const auto transport = Make(options);
    for (int round = 1; round <= 2; ++round) {
      {
        absl::MutexLock lock(&mutex);
        expected = 2 * round;
      }
      std::thread other([&] { EXPECT_TRUE(transport->Do(Get("/")).ok()); });
      EXPECT_TRUE(transport->Do(Get("/")).ok());
      other.join();
    }
    absl::MutexLock lock(&mutex);
    EXPECT_EQ(peers.size(), connections == 1 ? 3u : 2u) << connections;
  }
}

// They are read once in a process, hence in one of its own.
TEST_F(TlsTest, WithoutACaTheMachinesRootsAreTrusted) {
  if (std::getenv("FLYBALL_EMULATED") != nullptr) GTEST_SKIP() << "it starts itself once more";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto ask = [this] {
    setenv("SSL_CERT_FILE", TempFile("roots.crt", server_pair_.certificate).c_str(), 1);
    Server server(MakeServer(false));
    server.Start();
    TransportOptions options;
    options.url = absl::StrCat("https://", server.Authority());
    const auto answer = Make(options)->Do(Get("/"));
    if (!answer.ok()) std::cerr << answer.status();
    _exit(answer.ok() && answer->body == "none" ? 0 : 1);
  };
  EXPECT_EXIT(ask(), testing::ExitedWithCode(0), "");
}

// As Go: each certificate of the CA file is an anchor.
TEST_F(TlsTest, AnIntermediateAloneIsEnoughToTrust) {
  const Pair root = Issue("root", "", true);
  const Pair intermediate = Issue("intermediate", "", true, &root);
  const Pair leaf = Issue("leaf", "IP:127.0.0.1", false, &intermediate);
  Server server(MakeServer(false, leaf));
  server.Start();
  TransportOptions options;
  options.url = absl::StrCat("https://", server.Authority());
  options.ca_data = intermediate.certificate;
  const auto answer = Make(options)->Do(Get("/"));
  EXPECT_TRUE(answer.ok()) << answer.status();
  options.ca_data = leaf.certificate;
  EXPECT_TRUE(Make(options)->Do(Get("/")).ok());
  options.ca_data = root.certificate;  // the server does not show what is between
  EXPECT_FALSE(Make(options)->Do(Get("/")).ok());
}

TEST_F(TlsTest, ClientCertificateIsShown) {
  Server server(MakeServer(true));
  server.Start();
  TransportOptions options;
  options.url = absl::StrCat("https://", server.Authority());
  options.ca_file = TempFile("ca.crt", server_pair_.certificate);
  EXPECT_EQ(Make(options)->Do(Get("/")).status().code(), absl::StatusCode::kUnavailable);
  options.client_cert_data = client_pair_.certificate;
  options.client_key_data = client_pair_.key;
  EXPECT_TRUE(Make(options)->Do(Get("/")).ok());
  options.client_key_data = server_pair_.key;
  EXPECT_EQ(MakeHttpTransport(options, Clock::System()).status().message(),
            "client key data is not the key of the certificate in client certificate data");
}

TEST_F(TlsTest, ConnectionIsReusedAfterAnAnswer) {
  Server server(MakeServer(false));
  std::set<int> peers;
  server->set_pre_routing_handler([&](const httplib::Request& request, httplib::Response&) {
    peers.insert(request.remote_port);
    return httplib::Server::HandlerResponse::Unhandled;
  });
  server.Start();
  TransportOptions options;
  options.url = absl::StrCat("https://", server.Authority());
  options.ca_data = server_pair_.certificate;
  const auto transport = Make(options);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(transport->Do(Get("/")).ok());
  EXPECT_EQ(peers.size(), 1u);
}

// What TLS sends at the end goes out before the descriptor is closed, whose number may be another
// connection's from then on.
TEST_F(TlsTest, TheEndIsSaidOnTheConnectionItself) {
  const SslCtxPtr context = MakeServerContext(server_pair_);
  std::atomic<int> end = -1;
  {
    RawServer server([&](int socket, int) {
      const SslPtr ssl(SSL_new(context.get()));
      SSL_set_fd(ssl.get(), socket);
      char byte = 0;
      if (SSL_accept(ssl.get()) != 1 || SSL_read(ssl.get(), &byte, 1) != 1) return;
      const std::string answer = Ok("x");
      SSL_write(ssl.get(), answer.data(), static_cast<int>(answer.size()));
      int got = 1;
      while (got > 0) got = SSL_read(ssl.get(), &byte, 1);
      end = SSL_get_error(ssl.get(), got);
    });
    TransportOptions options;
    options.url = absl::StrCat("https", server.url().substr(4));
    options.ca_data = server_pair_.certificate;
    ASSERT_TRUE(Make(options)->Do(Get("/")).ok());
  }
  EXPECT_EQ(end, SSL_ERROR_ZERO_RETURN);
}

// The body has no length, so that it ends with the connection.
TEST_F(TlsTest, AnAlertDoesNotEndABodyButCutsIt) {
  const SslCtxPtr context = MakeServerContext(server_pair_);
  RawServer server([&](int socket, int nth) {
    const SslPtr ssl(SSL_new(context.get()));
    SSL_set_fd(ssl.get(), socket);
    char bytes[4096];
    if (SSL_accept(ssl.get()) != 1 || SSL_read(ssl.get(), bytes, sizeof(bytes)) <= 0) return;
    constexpr absl::string_view kAnswer = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\npart";
    SSL_write(ssl.get(), kAnswer.data(), static_cast<int>(kAnswer.size()));
    if (nth == 0) {
      SSL_shutdown(ssl.get());
    } else {
      // A record that nobody has encrypted makes the server send the alert bad_record_mac.
      const std::string record = std::string("\x17\x03\x03\x00\x40", 5) + std::string(64, 'x');
      BIO* const bio = BIO_new(BIO_s_mem());
      BIO_write(bio, record.data(), static_cast<int>(record.size()));
      SSL_set0_rbio(ssl.get(), bio);
      SSL_read(ssl.get(), bytes, sizeof(bytes));
    }
    recv(socket, bytes, sizeof(bytes), 0);  // until the client has closed
  });
  TransportOptions options;
  options.url = absl::StrCat("https", server.url().substr(4));
  options.ca_data = server_pair_.certificate;
  const auto transport = Make(options);
  const auto whole = transport->Do(Get("/"));
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->body, "part");
  EXPECT_EQ(transport->Do(Get("/")).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(TlsTest, HandshakeThatHangsMeetsTheDeadline) {
  RawServer server([](int socket, int) { ReadHead(socket); });
  TransportOptions options;
  options.url = absl::StrCat("https", server.url().substr(4));
  HttpCall call = Get("/");
  call.timeout = absl::Milliseconds(50);
  EXPECT_EQ(Make(options)->Do(call).status().code(), absl::StatusCode::kDeadlineExceeded);
}

// OpenSSL passes over requests for another handshake by itself, as long as they come.
TEST_F(TlsTest, HandshakeOfRequestsForAnotherEndsInTime) {
  constexpr absl::string_view kRecord("\x16\x03\x03\0\4\0\0\0\0", 9);
  std::string piece;
  while (piece.size() < 32'000) absl::StrAppend(&piece, kRecord);
  absl::Notification flooding;
  RawServer server([&](int socket, int nth) {
    const MonotonicTime end = Clock::System().MonotonicNow() + absl::Seconds(10);
    while (Clock::System().MonotonicNow() < end && Send(socket, piece)) {
      if (nth == 1 && !flooding.HasBeenNotified()) flooding.Notify();
    }
  });
  TransportOptions options;
  options.url = absl::StrCat("https", server.url().substr(4));
  options.connect_timeout = absl::Seconds(30);
  const auto transport = Make(options);
  HttpCall call = Get("/");
  call.timeout = absl::Milliseconds(300);
  EXPECT_EQ(transport->Do(call).status().code(), absl::StatusCode::kDeadlineExceeded);
  std::thread stopper([&] {
    flooding.WaitForNotification();
    transport->Shutdown();
  });
  call.timeout = absl::Seconds(30);
  EXPECT_EQ(transport->Do(call).status().code(), absl::StatusCode::kCancelled);
  stopper.join();
}

TEST_F(TlsTest, AnswerOfChangedKeysEndsInTime) {
  const SslCtxPtr context = MakeServerContext(server_pair_);
  RawServer server([&](int socket, int) {
    const MonotonicTime end = Clock::System().MonotonicNow() + absl::Seconds(10);
    const SslPtr ssl(SSL_new(context.get()));
    SSL_set_fd(ssl.get(), socket);
    if (SSL_accept(ssl.get()) != 1) return;
    while (Clock::System().MonotonicNow() < end &&
           SSL_key_update(ssl.get(), SSL_KEY_UPDATE_NOT_REQUESTED) == 1 &&
           SSL_do_handshake(ssl.get()) == 1) {
    }
  });
  TransportOptions options;
  options.url = absl::StrCat("https", server.url().substr(4));
  options.insecure_skip_verify = true;
  HttpCall call = Get("/");
  call.timeout = absl::Milliseconds(300);
  EXPECT_EQ(Make(options)->Do(call).status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(TlsTest, ClientsWithoutCertificatesShareTheMemoryOfAContext) {
  const auto connection_of = [](const TransportOptions& options) {
    const auto client = TlsClient::Load(options);
    EXPECT_TRUE(client.ok()) << client.status();
    return SslPtr((*client)->NewConnection("db.example"));
  };
  TransportOptions named, insecure, known;
  named.server_name = "other.example";
  insecure.insecure_skip_verify = true;
  known.client_cert_data = client_pair_.certificate;
  known.client_key_data = client_pair_.key;
  const SslPtr first = connection_of({});
  EXPECT_EQ(SSL_get_SSL_CTX(connection_of({}).get()), SSL_get_SSL_CTX(first.get()));
  EXPECT_EQ(SSL_get_SSL_CTX(connection_of(named).get()), SSL_get_SSL_CTX(first.get()));
  EXPECT_NE(SSL_get_SSL_CTX(connection_of(insecure).get()), SSL_get_SSL_CTX(first.get()));
  EXPECT_NE(SSL_get_SSL_CTX(connection_of(known).get()), SSL_get_SSL_CTX(first.get()));
  EXPECT_EQ(SSL_get_verify_mode(first.get()), SSL_VERIFY_PEER);
  EXPECT_EQ(SSL_get_verify_mode(connection_of(insecure).get()), SSL_VERIFY_NONE);
}

TEST_F(TlsTest, NoHandshakeIsMadeAnew) {
  const auto client = TlsClient::Load({});
  ASSERT_TRUE(client.ok()) << client.status();
  const SslPtr connection((*client)->NewConnection("db.example"));
  EXPECT_NE(SSL_get_options(connection.get()) & SSL_OP_NO_RENEGOTIATION, 0u);
}

// ---- streams ----

TEST(StreamTest, PiecesComeAsTheyAreSent) {
  absl::Notification first_seen;
  RawServer server([&](int socket, int) {
    ReadHead(socket);
    Send(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n");
    first_seen.WaitForNotification();
    Send(socket, "4\r\ntwo\n\r\n0\r\n\r\n");
  });
  std::string got;
  const auto status = To(server.url())->Stream(Get("/"), [&](absl::string_view piece) {
    absl::StrAppend(&got, piece);
    if (got == "one\n") first_seen.Notify();
    return true;
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(got, "one\ntwo\n");
}

TEST(StreamTest, ReceiverMayEndIt) {
  RawServer server([](int socket, int) {
    ReadHead(socket);
    Send(socket, "HTTP/1.1 200 OK\r\n\r\n");
    while (Send(socket, "x")) std::this_thread::yield();
  });
  EXPECT_TRUE(To(server.url())->Stream(Get("/"), [](absl::string_view) { return false; }).ok());
}

TEST(StreamTest, SilenceIsTooLate) {
  RawServer server([](int socket, int) {
    ReadHead(socket);
    Send(socket, "HTTP/1.1 200 OK\r\n\r\n");
    ReadHead(socket);
  });
  HttpCall call = Get("/");
  call.timeout = absl::Milliseconds(50);
  EXPECT_EQ(To(server.url())->Stream(call, [](absl::string_view) { return true; }).code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST(StreamTest, HeadHasATimeOfItsOwn) {
  SimulatedClock clock(absl::UnixEpoch());
  absl::Notification opened;
  RawServer server([&](int socket, int number) {
    ReadHead(socket);
    if (number > 0) {
      Send(socket, "HTTP/1.1 200 OK\r\n\r\n");
      opened.WaitForNotification();
      clock.Advance(absl::Milliseconds(150));
      Send(socket, "late");
      return;
    }
    clock.Advance(absl::Milliseconds(50));
    ReadHead(socket);
  });
  TransportOptions options;
  options.url = server.url();
  const auto transport = *MakeHttpTransport(options, clock);
  HttpCall call = Get("/");
  call.head_timeout = absl::Milliseconds(50);
  const auto late = transport->Stream(call, [](absl::string_view) { return true; });
  EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(absl::StrContains(late.message(), "50ms")) << late;
  // After the head it is the call's.
  std::string got;
  const auto status = transport->Stream(call, [&](absl::string_view piece) {
    absl::StrAppend(&got, piece, ";");
    if (!opened.HasBeenNotified()) opened.Notify();  // the head has come, told as ""
    return true;
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(got, ";late;");
}

TEST(StreamTest, ErrorStatusKeepsItsMeaningAndText) {
  Server server;
  server->Get("/gone", [](const httplib::Request&, httplib::Response& response) {
    response.status = 410;
    response.set_content("too old", "text/plain");
  });
  server.Start();
  const auto transport = To(absl::StrCat("http://", server.Authority()));
  const auto never = [](absl::string_view) {
    ADD_FAILURE();
    return true;
  };
  EXPECT_EQ(transport->Stream(Get("/gone"), never), absl::OutOfRangeError("too old"));
  EXPECT_EQ(transport->Stream(Get("/none"), never).code(), absl::StatusCode::kNotFound);
}

TEST(ShutdownTest, EndsABlockedStreamAndRefusesNewCalls) {
  absl::Notification streaming;
  RawServer server([&](int socket, int) {
    ReadHead(socket);
    Send(socket, "HTTP/1.1 200 OK\r\n\r\nx");
    ReadHead(socket);
  });
  const auto transport = To(server.url());
  std::thread stopper([&] {
    streaming.WaitForNotification();
    transport->Shutdown();
  });
  const auto status = transport->Stream(Get("/"), [&](absl::string_view) {
    if (!streaming.HasBeenNotified()) streaming.Notify();
    return true;
  });
  stopper.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(transport->Do(Get("/")).status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace flyball::http
