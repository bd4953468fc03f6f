#include "scaler/triggers/parts/clients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "absl/strings/str_cat.h"
#include "http/testing/fake_dns_server.h"
#include "http/testing/test_pki.h"

namespace flyball::scaler {
namespace {

using testing::HasSubstr;

class TriggerClientsTest : public testing::Test {
 protected:
  std::shared_ptr<http::HttpTransport> Http(const std::string& ns, const std::string& host,
                                            const std::string& token = "") {
    http::TransportOptions options;
    options.url = absl::StrCat("http://", host);
    options.token = token;
    auto client = clients_.Http(ns, options);
    EXPECT_TRUE(client.ok()) << client.status();
    given_.insert(*client);
    return *std::move(client);
  }
  // How many of the clients that were given still exist. The tests that count them hold none.
  size_t Kept() const {
    return static_cast<size_t>(std::count_if(given_.begin(), given_.end(),
                                             [](const auto& client) { return !client.expired(); }));
  }

  SimulatedClock clock_{absl::FromUnixSeconds(1'800'000'000)};
  TriggerClients clients_{clock_};
  std::set<std::weak_ptr<http::HttpTransport>, std::owner_less<>> given_;
};

TEST_F(TriggerClientsTest, EqualServersAndCredentialsAreOneClient) {
  const auto one = Http("a", "s:80", "t");
  EXPECT_EQ(Http("a", "s:80", "t"), one);
  EXPECT_NE(Http("b", "s:80", "t"), one);
  EXPECT_NE(Http("a", "s:81", "t"), one);
  EXPECT_NE(Http("a", "s:80", "changed"), one);
}

TEST_F(TriggerClientsTest, AClientIsKeptBetweenReadingsAndForgottenAfterwards) {
  const void* first = Http("a", "s:80").get();
  clock_.Advance(TriggerClients::kUnusedFor / 2);
  EXPECT_EQ(Http("a", "s:80").get(), first);
  (void)Http("a", "s:80", "changed");
  EXPECT_EQ(Kept(), 2u);
  // The first client's credentials are not used any more.
  for (int i = 0; i < 3; ++i) {
    clock_.Advance(TriggerClients::kUnusedFor / 2);
    (void)Http("a", "s:80", "changed");
  }
  EXPECT_EQ(Kept(), 1u);
}

TEST_F(TriggerClientsTest, OneNamespaceKeepsNoMoreThanItsShare) {
  const void* other = Http("calm", "calm:80").get();
  for (int i = 0; i < 1000; ++i) {
    clock_.Advance(absl::Milliseconds(1));
    (void)Http("busy", absl::StrCat("s-", i, ":80"));
  }
  EXPECT_EQ(Kept(), TriggerClients::kMostOfOneNamespace + 1);
  EXPECT_EQ(Http("calm", "calm:80").get(), other);
  // The clients that were used last are kept.
  const size_t before = Kept();
  (void)Http("busy", "s-999:80");
  EXPECT_EQ(Kept(), before);
}

// OpenSSL takes many times the bytes of a CA, so that whoever has some namespaces could otherwise
// take all memory.
TEST_F(TriggerClientsTest, TheCertificatesOfAllNamespacesHaveALimit) {
  std::string ca = http::PemOf(http::MakeTestCa("a").certificate.get());
  while (ca.size() < (16 << 10)) ca += "this text is as long as a line of a certificate\n";
  const auto make = [&](int ns, int host) {
    http::TransportOptions options;
    options.url = absl::StrCat("https://s-", host);
    options.ca_data = ca;
    clock_.Advance(absl::Milliseconds(1));
    auto client = clients_.Http(absl::StrCat("ns-", ns), options);
    ASSERT_TRUE(client.ok()) << client.status();
    given_.insert(*client);
  };
  const size_t bytes = ca.size();
  for (int i = 0; i < 40; ++i) make(0, i);
  EXPECT_EQ(Kept(), TriggerClients::kMostBytes / TriggerClients::kPartOfOneNamespace / bytes);
  for (int ns = 1; ns <= 15; ++ns) {
    for (int i = 0; i < 40; ++i) make(ns, i);
  }
  const size_t kept = Kept();
  EXPECT_LE(kept * bytes, TriggerClients::kMostBytes);
  make(16, 0);
  EXPECT_EQ(Kept(), kept + 1) << "who comes late has room too";
}

TEST_F(TriggerClientsTest, WhoIsAskedNowIsNotForgotten) {
  const auto asked = Http("busy", "asked:80");
  for (int i = 0; i < 100; ++i) (void)Http("busy", absl::StrCat("s-", i, ":80"));
  clock_.Advance(10 * TriggerClients::kUnusedFor);
  EXPECT_EQ(Http("busy", "asked:80"), asked);
}

TEST_F(TriggerClientsTest, OneNamespaceHasNoMoreExternalScalersThanItsShare) {
  const auto external = [&](const std::string& ns, const std::string& host) {
    ExternalAddress address;
    address.address = absl::StrCat(host, ":80");
    address.host = host;
    address.port = 80;
    return clients_.External(ns, address, absl::Seconds(1));
  };
  std::vector<std::shared_ptr<ExternalScaler>> used;
  for (size_t i = 0; i < TriggerClients::kMostOfOneNamespace; ++i) {
    const auto scaler = external("busy", absl::StrCat("10.0.0.", i));
    ASSERT_TRUE(scaler.ok()) << scaler.status();
    used.push_back(*scaler);
  }
  const absl::Status refused = external("busy", "10.0.1.1").status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(std::string(refused.message()),
            "triggers of namespace busy would have 65 connections to external scalers, one for "
            "each address and credentials, and there may be 64");
  EXPECT_EQ(*external("busy", "10.0.0.7"), used[7]);
  const auto other = external("calm", "10.0.0.7");  // tenants do not share a connection
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_NE(*other, used[7]);
  used.pop_back();
  EXPECT_TRUE(external("busy", "10.0.1.1").ok());
}

// gRPC connects to all of a name's addresses.
TEST_F(TriggerClientsTest, EachAddressOfAnExternalScalerCounts) {
  http::FakeDnsServer dns;
  dns.Set("scaler.example", {"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"});
  TriggerClients clients(Clock::System(),
                         TriggerClientOptions{.addresses = {}, .dns = dns.Settings()});
  const auto external = [&](uint16_t port) {
    ExternalAddress address;
    address.address = absl::StrCat("scaler.example:", port);
    address.host = "scaler.example";
    address.port = port;
    return clients.External("busy", address, absl::Seconds(10));
  };
  std::vector<std::shared_ptr<ExternalScaler>> used;
  for (uint16_t port = 1; port <= 16; ++port) {
    const auto scaler = external(port);
    ASSERT_TRUE(scaler.ok()) << scaler.status();
    used.push_back(*scaler);
  }
  EXPECT_EQ(external(17).status().code(), absl::StatusCode::kResourceExhausted);
  used.pop_back();
  EXPECT_TRUE(external(17).ok());
}

// gRPC keeps as much of them as an HTTP client does.
TEST_F(TriggerClientsTest, TheCertificatesOfExternalScalersHaveALimit) {
  std::vector<std::shared_ptr<ExternalScaler>> used;
  const std::string one = http::PemOf(http::MakeTestCa("a").certificate.get());
  std::string ca;
  while (ca.size() < 16 << 10) ca += one;
  const auto make = [&](const std::string& ns, int number) {
    ExternalAddress address;
    address.host = absl::StrCat("10.0.0.", number);
    address.address = absl::StrCat(address.host, ":80");
    address.port = 80;
    address.ca = ca;
    const auto scaler = clients_.External(ns, address, absl::Seconds(1));
    if (scaler.ok()) used.push_back(*scaler);
    return scaler.status();
  };
  absl::Status refused;
  for (int i = 0; i < 40; ++i) refused.Update(make("busy", i));
  constexpr size_t kMost = 524288;
  EXPECT_EQ(used.size(), kMost / ca.size());
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr(absl::StrCat("triggers of namespace busy would have ",
                                     (used.size() + 1) * ca.size(),
                                     " bytes of certificates and keys for external scalers, and "
                                     "there may be ",
                                     kMost, "; ")));
  EXPECT_TRUE(make("calm", 1).ok());
  ca.clear();  // the part of `busy` is less now
  EXPECT_TRUE(make("busy", 100).ok());
}

TEST_F(TriggerClientsTest, NothingIsAskedAfterTheEnd) {
  const auto before = Http("a", "127.0.0.1:1");
  clients_.Shutdown();
  for (const auto& client : {before, Http("a", "127.0.0.1:2")}) {
    EXPECT_EQ(client->Do({}).status().code(), absl::StatusCode::kCancelled);
  }
}

TEST_F(TriggerClientsTest, SpecialAddressesAreRefused) {
  const absl::Status http = Http("a", "169.254.169.254")->Do({}).status();
  EXPECT_EQ(http.code(), absl::StatusCode::kPermissionDenied);
  ExternalAddress address;
  address.address = "[fe80::1]:80";
  address.host = "fe80::1";
  address.port = 80;
  const absl::Status external = clients_.External("a", address, absl::Seconds(1)).status();
  EXPECT_EQ(external.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(external.message()),
              HasSubstr("fe80::1 is a link-local address, which triggers may not ask "
                        "(--scaler-trigger-allow-addresses)"));
}

}  // namespace
}  // namespace flyball::scaler
