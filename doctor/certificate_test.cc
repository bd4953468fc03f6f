#include "doctor/certificate.h"

#include <string>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http/testing/test_pki.h"

namespace flyball::doctor {
namespace {

using http::MakeTestCa;
using http::MakeTestPair;
using http::PemOf;
using http::TestPair;
using testing::HasSubstr;

constexpr char kName[] = "flyball.monitoring.svc";

std::string Pem(const http::TestPair& pair) { return http::PemOf(pair.certificate.get()); }

TEST(ReadValidity, IsThatOfTheFirstCertificate) {
  const http::TestPair ca = http::MakeTestCa("the CA");
  const auto read = ReadValidity(Pem(ca) + "and what else stands in the text");
  ASSERT_TRUE(read.ok()) << read.status();
  // A test's certificate is valid from an hour before its making to an hour after it.
  EXPECT_EQ(read->not_after - read->not_before, absl::Hours(2));
}

TEST(ReadValidity, RefusesTextWithoutOne) {
  EXPECT_FALSE(ReadValidity("").ok());
  EXPECT_FALSE(ReadValidity("-----BEGIN CERTIFICATE-----\nx\n").ok());
}

struct CertificateRow {
  std::string name;
  std::string names = "DNS:flyball.monitoring.svc";
  std::string usage = "serverAuth";
  bool other_ca = false;    // of the bundle
  bool own_bundle = false;  // the bundle is the certificate itself
  absl::Duration later = absl::ZeroDuration();
  std::string why;
};

class WhyNotTrustedTest : public testing::TestWithParam<CertificateRow> {};

TEST_P(WhyNotTrustedTest, Row) {
  const CertificateRow& row = GetParam();
  const http::TestPair ca = http::MakeTestCa("the CA"), other = http::MakeTestCa("another CA");
  const http::TestPair serving =
      http::MakeTestPair({.common_name = kName, .usage = row.usage, .names = row.names}, &ca);
  const std::string bundle = row.own_bundle ? Pem(serving) : Pem(row.other_ca ? other : ca);
  const auto why = WhyNotTrusted(Pem(serving), bundle, kName, absl::Now() + row.later);
  ASSERT_TRUE(why.ok()) << why.status();
  if (row.why.empty()) {
    EXPECT_EQ(*why, "");
  } else {
    EXPECT_THAT(*why, HasSubstr(row.why));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Certificates, WhyNotTrustedTest,
    testing::Values(
        CertificateRow{.name = "OneOfTheBundlesCa", .why = ""},
        CertificateRow{.name = "TheBundleIsTheCertificateItself", .own_bundle = true, .why = ""},
        CertificateRow{.name = "AnotherCa", .other_ca = true, .why = "issuer"},
        CertificateRow{.name = "AnotherName",
                       .names = "DNS:metrics.monitoring.svc",
                       .why = "hostname mismatch"},
        // Go looks only at alternative names, and the check has to do the same.
        CertificateRow{
            .name = "TheCommonNameDoesNotCount", .names = "", .why = "hostname mismatch"},
        CertificateRow{.name = "OfAClient", .usage = "clientAuth", .why = "purpose"},
        CertificateRow{.name = "Ended", .later = absl::Hours(2), .why = "expired"},
        CertificateRow{.name = "NotBegun", .later = -absl::Hours(2), .why = "not yet valid"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace flyball::doctor
