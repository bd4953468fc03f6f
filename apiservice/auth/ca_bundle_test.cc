#include "apiservice/auth/ca_bundle.h"

#include <malloc.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/openssl_ptr.h"
#include "http/server/connection.h"
#include "http/testing/test_pki.h"

namespace flyball::apiservice {
namespace {

// Each of its alternative names takes two bytes, and in OpenSSL 50 times as many.
http::TestPair PairOfEmptyNames(uint16_t names) {
  std::string list;
  for (int i = 0; i < names; ++i) absl::StrAppend(&list, "8200");
  return http::MakeTestPair(
      {.common_name = "a", .names = absl::StrFormat("DER:3082%04x%s", 2 * names, list)});
}

size_t BytesInUse() {
  const auto all = mallinfo2();
  return all.uordblks + all.hblkhd;
}

TEST(CaBundleTest, WhatAClockThatWasAheadHasSaidDoesNotStay) {
  const http::TestPair ca = http::MakeTestCa("ca");
  const auto bundle = CaBundle::FromPem(http::PemOf(ca.certificate.get()));
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  http::TestPair shown = http::MakeTestPair({.common_name = "jane", .valid_to = 100'000}, &ca);
  http::PeerChain chain;
  chain.leaf = shown.certificate.release();
  const absl::Time now = absl::Now();
  chain.not_after = absl::FromTimeT(absl::ToTimeT(now)) + absl::Seconds(100'000);
  EXPECT_FALSE((*bundle)->Verify(chain, chain.not_after + absl::Hours(24)).ok());
  EXPECT_TRUE((*bundle)->Verify(chain, now).ok());
}

TEST(CaBundleTest, AfterAVerificationAConnectionTakesNoMoreThanIsCounted) {
  http::TlsOptions options;
  options.cert_dir = testing::TempDir();
  const auto certificates = http::TlsCertificates::Create(options, "127.0.0.1");
  ASSERT_TRUE(certificates.ok()) << certificates.status();
  const http::TestPair ca = http::MakeTestCa("ca");
  const auto bundle = CaBundle::FromPem(http::PemOf(ca.certificate.get()));
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  const http::TestPair shown = PairOfEmptyNames(7'500);
  const SslCtxPtr context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_use_certificate(context.get(), shown.certificate.get());
  SSL_CTX_use_PrivateKey(context.get(), shown.key.get());

  const auto make_verified = [&] {
    int ends[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    auto connection = std::make_unique<http::ServerConnection>(ends[0], (*certificates)->bundle(),
                                                               http::RequestLimits());
    EXPECT_TRUE(connection->StartTls());
    const SslPtr client(SSL_new(context.get()));
    SSL_set_fd(client.get(), ends[1]);
    for (int i = 0; i < 100 && !connection->handshake_done(); ++i) {
      SSL_connect(client.get());
      (void)connection->Handshake();
    }
    close(ends[1]);
    const auto& peer = connection->reader.request().peer;
    EXPECT_TRUE(peer != nullptr && !(*bundle)->Verify(*peer, absl::Now()).ok());
    return connection;
  };
  const auto first = make_verified();  // and what the process keeps from then on
  const size_t before = BytesInUse();
  const auto second = make_verified();
  EXPECT_LT(BytesInUse() - before, second->Footprint());
}

}  // namespace
}  // namespace flyball::apiservice
