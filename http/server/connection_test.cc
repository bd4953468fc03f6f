#include "http/server/connection.h"

#include <openssl/ocsp.h>
#include <openssl/ssl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "absl/time/time.h"
#include "base/openssl_ptr.h"
#include "http/server/peer_chain.h"
#include "http/server/tls.h"
#include "http/testing/slow_certificate.h"
#include "http/testing/test_pki.h"

namespace flyball::http {
namespace {

class ServerConnectionTest : public testing::Test {
 protected:
  void SetUp() override {
    TlsOptions options;
    options.cert_dir = testing::TempDir();
    auto certificates = TlsCertificates::Create(options, "127.0.0.1");
    ASSERT_TRUE(certificates.ok()) << certificates.status();
    certificates_ = *std::move(certificates);
  }
  ~ServerConnectionTest() override { close(ends_[1]); }

  // Makes a connection, after which the one before is gone.
  void Connect() {
    connection_.reset();
    close(ends_[1]);
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends_), 0);
    connection_ =
        std::make_unique<ServerConnection>(ends_[0], certificates_->bundle(), RequestLimits());
    ASSERT_TRUE(connection_->StartTls());
  }
  // Until both are done, or the server gives up. Returns what its last step came to.
  ServerConnection::Io ShakeHands(SSL* client) {
    SSL_set_fd(client, ends_[1]);
    auto result = ServerConnection::Io::kWantRead;
    for (int i = 0; i < 100 && !connection_->handshake_done(); ++i) {
      SSL_connect(client);
      result = connection_->Handshake();
      if (result == ServerConnection::Io::kClosed) break;
    }
    return result;
  }

  int ends_[2] = {-1, -1};  // the server's, which it closes, and the peer's
  std::unique_ptr<TlsCertificates> certificates_;
  std::unique_ptr<ServerConnection> connection_;
};

// OpenSSL reads over records without data by itself. A peer that sends them without end gets no more
// of a thread than one that sends a request.
TEST_F(ServerConnectionTest, RecordsWithoutDataAreReadInParts) {
  ASSERT_NO_FATAL_FAILURE(Connect());
  const SslCtxPtr context(SSL_CTX_new(TLS_client_method()));
  const SslPtr client(SSL_new(context.get()));
  ShakeHands(client.get());
  ASSERT_TRUE(connection_->handshake_done());
  const auto waiting = [this] {
    int bytes = 0;
    EXPECT_EQ(ioctl(ends_[0], FIONREAD, &bytes), 0);
    return bytes;
  };
  int sent = 0;
  for (; sent < 1000; ++sent) {
    if (SSL_key_update(client.get(), SSL_KEY_UPDATE_NOT_REQUESTED) != 1) break;
    if (SSL_do_handshake(client.get()) != 1) break;
  }
  ASSERT_GT(sent, 100);
  EXPECT_EQ(connection_->Read(), ServerConnection::Io::kWantRead);
  EXPECT_GT(waiting(), 0);
  int reads = 0;
  while (waiting() > 0 && ++reads < 1000) (void)connection_->Read();
  EXPECT_EQ(waiting(), 0);
  EXPECT_GT(reads, 1);
  EXPECT_EQ(connection_->Read(), ServerConnection::Io::kWantRead);
}

// With one of these the server would have to work longer than its peer by orders of magnitude.
TEST_F(ServerConnectionTest, KeysAreNotExchangedInFiniteFields) {
  for (const char* groups : {"ffdhe2048", "ffdhe8192", "P-256", "X25519"}) {
    ASSERT_NO_FATAL_FAILURE(Connect());
    const SslCtxPtr context(SSL_CTX_new(TLS_client_method()));
    ASSERT_EQ(SSL_CTX_set1_groups_list(context.get(), groups), 1) << groups;
    const SslPtr client(SSL_new(context.get()));
    ShakeHands(client.get());
    EXPECT_EQ(connection_->handshake_done(), groups[0] != 'f') << groups;
  }
}

// What a peer has sent of its handshake is kept until it is whole: it counts.
TEST_F(ServerConnectionTest, HandshakesThatAreLongWeighWhatTheyTake) {
  ASSERT_NO_FATAL_FAILURE(Connect());
  const size_t at_first = connection_->Footprint();
  constexpr size_t kRecord = 16'000;
  std::string record("\x16\x03\x01\x3e\x80", 5);  // so long
  record.resize(5 + kRecord, 'x');
  record.replace(5, 6, "\x01\x01\xff\x00\x03\x03", 6);  // a first message of 130,816 bytes
  for (int i = 0; i < 6; ++i) {
    ASSERT_EQ(write(ends_[1], record.data(), record.size()), static_cast<ssize_t>(record.size()));
    ASSERT_EQ(connection_->Handshake(), ServerConnection::Io::kWantRead);
  }
  EXPECT_GT(connection_->Footprint(), at_first + 6 * kRecord);
}

// What OpenSSL would keep of it weighs up to 47 times its bytes, for as long as the connection.
TEST_F(ServerConnectionTest, HellosOfFarMoreThanAnyClientNeedsAreRefused) {
  const auto weight_with = [this](const std::function<void(SSL*)>& change) -> size_t {
    Connect();
    const SslCtxPtr context(SSL_CTX_new(TLS_client_method()));
    const SslPtr client(SSL_new(context.get()));
    change(client.get());
    ShakeHands(client.get());
    return connection_->handshake_done() ? connection_->Footprint() : 0;
  };
  const auto authorities = [](int count) {
    return [count](SSL* client) {
      STACK_OF(X509_NAME)* const names = sk_X509_NAME_new_null();
      for (int i = 0; i < count; ++i) sk_X509_NAME_push(names, X509_NAME_new());
      SSL_set0_CA_list(client, names);
    };
  };
  const auto responders = [](int count) {
    return [count](SSL* client) {
      SSL_set_tlsext_status_type(client, TLSEXT_STATUSTYPE_ocsp);
      auto* const ids = sk_OCSP_RESPID_new_null();
      for (int i = 0; i < count; ++i) {
        const unsigned char empty_key[] = {0xa2, 2, 4, 0};
        const unsigned char* at = empty_key;
        sk_OCSP_RESPID_push(ids, d2i_OCSP_RESPID(nullptr, &at, sizeof empty_key));
      }
      SSL_set_tlsext_status_ids(client, ids);
    };
  };
  const auto protocols = [](int count) {
    return [count](SSL* client) {
      std::string all;
      for (int i = 0; i < count; ++i) all += '\xff' + std::string(255, 'x');
      SSL_set_alpn_protos(client, reinterpret_cast<const unsigned char*>(all.data()),
                          static_cast<unsigned>(all.size()));
    };
  };
  const size_t plain = weight_with([](SSL*) {});
  ASSERT_GT(plain, 0u);
  EXPECT_GE(weight_with(authorities(100)), plain + 100u * 185);  // measured of OpenSSL 3.0
  EXPECT_EQ(weight_with(authorities(200)), 0u);
  EXPECT_GT(weight_with(responders(0)), 0u);
  EXPECT_EQ(weight_with(responders(1)), 0u);
  EXPECT_GE(weight_with(protocols(20)), plain + 20u * 256);
  EXPECT_EQ(weight_with(protocols(40)), 0u);
}

// Until the peer takes the answer, OpenSSL holds the buffers of a handshake once more.
TEST_F(ServerConnectionTest, AChangeOfKeysThatDoesNotEndWeighsWhatItTakes) {
  ASSERT_NO_FATAL_FAILURE(Connect());
  const int few = 1;
  setsockopt(ends_[0], SOL_SOCKET, SO_SNDBUF, &few, sizeof few);
  const SslCtxPtr context(SSL_CTX_new(TLS_client_method()));
  const SslPtr client(SSL_new(context.get()));
  ShakeHands(client.get());
  ASSERT_TRUE(connection_->handshake_done());
  const size_t before = connection_->Footprint();
  auto result = ServerConnection::Io::kWantRead;
  for (int i = 0; i < 1000 && result == ServerConnection::Io::kWantRead; ++i) {
    EXPECT_FALSE(connection_->changing_keys());
    ASSERT_EQ(SSL_key_update(client.get(), SSL_KEY_UPDATE_REQUESTED), 1);
    ASSERT_EQ(SSL_do_handshake(client.get()), 1);
    result = connection_->Read();
  }
  ASSERT_EQ(result, ServerConnection::Io::kWantWrite);
  EXPECT_TRUE(connection_->changing_keys());
  EXPECT_GE(connection_->Footprint(), before + 72'000);  // measured of OpenSSL 3.0
}

// A peer that takes a long answer as fast as it is written gets no more of a thread than others.
TEST_F(ServerConnectionTest, ALongAnswerIsSentInPieces) {
  using Io = ServerConnection::Io;
  ASSERT_NO_FATAL_FAILURE(Connect());
  const int much = 1 << 20;  // more than the system allows, and more than a piece
  setsockopt(ends_[0], SOL_SOCKET, SO_SNDBUF, &much, sizeof much);
  const SslCtxPtr context(SSL_CTX_new(TLS_client_method()));
  const SslPtr client(SSL_new(context.get()));
  ShakeHands(client.get());
  ASSERT_TRUE(connection_->handshake_done());
  const auto body = std::make_shared<std::string>();
  while (body->size() < 4 * ServerConnection::kPieceBytes) *body += std::to_string(body->size());
  std::string got;
  Io result = connection_->Send("front", body, 0);
  while (true) {
    const size_t before = got.size();
    char record[16 << 10];
    for (int size = 0; (size = SSL_read(client.get(), record, sizeof record)) > 0;) {
      got.append(record, static_cast<size_t>(size));
    }
    EXPECT_LE(got.size() - before, ServerConnection::kPieceBytes + sizeof record);
    if (result == Io::kOk) break;
    ASSERT_TRUE(result == Io::kMore || result == Io::kWantWrite);
    ASSERT_GT(got.size(), before);
    EXPECT_TRUE(connection_->sending());
    result = connection_->SendRest();
  }
  EXPECT_FALSE(connection_->sending());
  EXPECT_TRUE(got == "front" + *body);
}

SslCtxPtr ClientContext(const TestPair& pair) {
  SslCtxPtr context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_use_certificate(context.get(), pair.certificate.get());
  SSL_CTX_use_PrivateKey(context.get(), pair.key.get());
  return context;
}

TEST_F(ServerConnectionTest, CertificatesOfUsualKeysAreTaken) {
  for (const char* key : {"RSA", "P-256", "P-384", "P-521", "ED25519"}) {
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
      const SslCtxPtr context = ClientContext(MakeTestPair({.common_name = key, .key = key}));
      SSL_CTX_set_max_proto_version(context.get(), version);
      ASSERT_NO_FATAL_FAILURE(Connect());
      const SslPtr client(SSL_new(context.get()));
      ShakeHands(client.get());
      EXPECT_TRUE(connection_->handshake_done()) << key;
      ASSERT_NE(connection_->reader.request().peer, nullptr) << key;
      EXPECT_EQ(connection_->reader.request().peer->common_name, key);
    }
  }
}

// What this thread has computed.
absl::Duration ComputingTime() {
  timespec spent = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return absl::DurationFromTimespec(spent);
}

// OpenSSL decodes their keys before it asks anybody. A client without credentials may show so many
// of these that a handshake takes nine seconds.
TEST_F(ServerConnectionTest, KeysThatTakeLongToDecodeAreNotDecoded) {
  const absl::Duration before = ComputingTime();
  X509* const slow = DecodedSlowCertificate();
  const absl::Duration one = ComputingTime() - before;
  ASSERT_NE(slow, nullptr);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const SslCtxPtr context = ClientContext(MakeTestPair({.common_name = "a"}));
    SSL_CTX_set_max_proto_version(context.get(), version);
    SSL_CTX_set_security_level(context.get(), 0);
    for (int i = 0; i < 34; ++i) ASSERT_EQ(SSL_CTX_add1_chain_cert(context.get(), slow), 1);
    ASSERT_NO_FATAL_FAILURE(Connect());
    const SslPtr client(SSL_new(context.get()));
    const absl::Duration begin = ComputingTime();
    EXPECT_EQ(ShakeHands(client.get()), ServerConnection::Io::kClosed);
    EXPECT_LT(ComputingTime() - begin, one);
  }
}

// A certificate costs OpenSSL far more than its bytes, the smaller the more.
TEST_F(ServerConnectionTest, SmallCertificatesWeighWhatTheyTake) {
  const TestPair pair = MakeTestPair({.common_name = "a"});
  const SslCtxPtr context = ClientContext(pair);
  constexpr size_t kCertificates = 40;
  for (size_t i = 1; i < kCertificates; ++i) {
    ASSERT_EQ(SSL_CTX_add1_chain_cert(context.get(), pair.certificate.get()), 1);
  }
  ASSERT_NO_FATAL_FAILURE(Connect());
  const SslPtr client(SSL_new(context.get()));
  ShakeHands(client.get());
  ASSERT_TRUE(connection_->handshake_done());
  ASSERT_NE(connection_->reader.request().peer, nullptr);
  EXPECT_GT(connection_->Footprint(), kCertificates * 4'000);  // measured of OpenSSL 3.0
}

// While it waits for its peer's end.
TEST_F(ServerConnectionTest, AfterTheLastAnswerCertificatesAreGone) {
  const SslCtxPtr context = ClientContext(MakeTestPair({.common_name = "a"}));
  ASSERT_NO_FATAL_FAILURE(Connect());
  const SslPtr client(SSL_new(context.get()));
  ShakeHands(client.get());
  const std::weak_ptr<PeerChain> peer = connection_->reader.request().peer;
  ASSERT_FALSE(peer.expired());
  connection_->Finish();
  EXPECT_TRUE(peer.expired());
}

}  // namespace
}  // namespace flyball::http
