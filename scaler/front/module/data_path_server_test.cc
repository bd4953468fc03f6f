#include "scaler/front/module/data_path_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "base/module_library.h"
#include "base/openssl_ptr.h"
#include "http/testing/slow_certificate.h"
#include "http/testing/test_pki.h"

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

// Whether the server, after the handshake with a client of this context, begins to speak HTTP/2.
bool IsServed(SSL_CTX* context, uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  std::signal(SIGPIPE, SIG_IGN);  // the server may have left before the first request
  bool served = false;
  {
    const SslPtr client(SSL_new(context));
    SSL_set_fd(client.get(), fd);
    const std::string begin("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 24 + 9);
    char byte = 0;
    served = SSL_connect(client.get()) == 1 &&
             SSL_write(client.get(), begin.data(), static_cast<int>(begin.size())) > 0 &&
             SSL_read(client.get(), &byte, 1) == 1;
  }
  close(fd);
  return served;
}

// OpenSSL would decode their keys before gRPC hears of them, for seconds.
TEST_F(DataPathServerTest, KeysThatTakeLongToDecodeAreRefused) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/flyball-front-", getpid());
  const http::TestPair ca = http::MakeTestCa("front");
  const http::TestPair peer = http::MakeTestPair({.common_name = "envoy"}, &ca);
  http::WriteTestPair(folder + "-ca", ca);
  http::WriteTestPair(folder + "-server",
                      http::MakeTestPair({.common_name = "flyball", .usage = "serverAuth"}, &ca));
  DataPathServerOptions options;
  options.listen = "127.0.0.1:0";
  options.cert_file = folder + "-server.crt";
  options.key_file = folder + "-server.key";
  options.ca_file = folder + "-ca.crt";
  const auto server = Make(options);
  ASSERT_TRUE(server.ok()) << server.status();
  for (const int slow : {0, 4}) {
    const SslCtxPtr context(SSL_CTX_new(TLS_client_method()));
    SSL_CTX_set_security_level(context.get(), 0);
    constexpr unsigned char kHttp2[] = {2, 'h', '2'};
    SSL_CTX_set_alpn_protos(context.get(), kHttp2, sizeof kHttp2);
    SSL_CTX_use_certificate(context.get(), peer.certificate.get());
    SSL_CTX_use_PrivateKey(context.get(), peer.key.get());
    for (int i = 0; i < slow; ++i) {
      ASSERT_EQ(SSL_CTX_add1_chain_cert(context.get(), http::DecodedSlowCertificate()), 1);
    }
    EXPECT_EQ(IsServed(context.get(), (*server)->port()), slow == 0) << slow;
  }
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
