#include "http/peer_keys.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

#include "base/openssl_ptr.h"
#include "http/testing/slow_certificate.h"
#include "http/testing/test_pki.h"

namespace flyball::http {
namespace {

// One side of a handshake. It takes any certificate, and shows its own whatever its key is.
SslCtxPtr MakeContext(const TestPair& pair, bool with_slow) {
  SslCtxPtr context(SSL_CTX_new(TLS_method()));
  SSL_CTX_set_security_level(context.get(), 0);
  SSL_CTX_use_certificate(context.get(), pair.certificate.get());
  SSL_CTX_use_PrivateKey(context.get(), pair.key.get());
  if (with_slow) SSL_CTX_add1_chain_cert(context.get(), DecodedSlowCertificate());
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(
      context.get(), [](X509_STORE_CTX*, void*) { return 1; }, nullptr);
  return context;
}

struct Outcome {
  bool accepted = false;  // the one that checks has ended the handshake without an error
  std::string refused_key;
};

// `checking`: a server where `peer` is a client, and the other way round.
Outcome ShakeHands(SSL_CTX* checking, SSL_CTX* peer, bool peer_is_client, int version) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  const SslPtr one(SSL_new(checking)), other(SSL_new(peer));
  SSL_set_fd(one.get(), ends[0]);
  SSL_set_fd(other.get(), ends[1]);
  SSL_set_max_proto_version(one.get(), version);
  (peer_is_client ? SSL_set_accept_state : SSL_set_connect_state)(one.get());
  (peer_is_client ? SSL_set_connect_state : SSL_set_accept_state)(other.get());
  Outcome outcome;
  for (int i = 0; i < 10 && !outcome.accepted && outcome.refused_key.empty(); ++i) {
    SSL_do_handshake(other.get());
    ERR_clear_error();
    outcome.accepted = SSL_do_handshake(one.get()) == 1;
    outcome.refused_key = RefusedPeerKey();
    ERR_clear_error();
  }
  close(ends[0]);
  close(ends[1]);
  return outcome;
}

class PeerKeysTest : public testing::TestWithParam<int> {};

TEST_P(PeerKeysTest, ABadKeyEndsTheHandshakeOfEitherSide) {
  const TestPair usual = MakeTestPair({.common_name = "a"});
  const TestPair bad = MakeTestPair({.common_name = "a", .key = "ED448"});
  const SslCtxPtr checking = MakeContext(usual, false);
  CheckPeerKeys(checking.get());
  for (const bool peer_is_client : {false, true}) {
    const auto with = [&](const TestPair& pair, bool with_slow) {
      const SslCtxPtr peer = MakeContext(pair, with_slow);
      return ShakeHands(checking.get(), peer.get(), peer_is_client, GetParam());
    };
    const Outcome accepted = with(usual, false);
    EXPECT_TRUE(accepted.accepted);
    EXPECT_EQ(accepted.refused_key, "");
    const Outcome other_kind = with(bad, false);
    EXPECT_FALSE(other_kind.accepted);
    EXPECT_EQ(other_kind.refused_key, "a key that is not accepted: neither RSA, ECDSA nor Ed25519");
    const Outcome slow = with(usual, true);
    EXPECT_FALSE(slow.accepted);
    EXPECT_EQ(slow.refused_key,
              "a key that is not accepted: ECDSA on another curve than P-224, P-256, P-384 and "
              "P-521");
  }
}

TEST_P(PeerKeysTest, ContextsThatOthersMakeCheckThemToo) {
  CheckPeerKeysOfLaterContexts();
  CheckPeerKeysOfLaterContexts();  // which does nothing more
  const TestPair usual = MakeTestPair({.common_name = "a"});
  const SslCtxPtr checking = MakeContext(usual, false), peer = MakeContext(usual, true);
  EXPECT_EQ(SSL_CTX_get_max_cert_list(checking.get()), 16 << 10);
  EXPECT_NE(ShakeHands(checking.get(), peer.get(), true, GetParam()).refused_key, "");
}

INSTANTIATE_TEST_SUITE_P(Versions, PeerKeysTest, testing::Values(TLS1_2_VERSION, TLS1_3_VERSION),
                         [](const testing::TestParamInfo<int>& info) {
                           return info.param == TLS1_2_VERSION ? "Tls12" : "Tls13";
                         });

TEST(RefusedPeerKeyTest, OtherErrorsAreNone) {
  ERR_clear_error();
  EXPECT_EQ(RefusedPeerKey(), "");
  ERR_raise(ERR_LIB_SSL, SSL_R_LENGTH_MISMATCH);
  EXPECT_EQ(RefusedPeerKey(), "");
  ERR_clear_error();
}

}  // namespace
}  // namespace flyball::http
