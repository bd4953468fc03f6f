#include "http/server/tls.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "http/testing/test_pki.h"

namespace flyball::http {
namespace {

TEST(CipherListsFromGoTest, SplitsByProtocolVersion) {
  const auto lists =
      CipherListsFromGo({"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256",
                         "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305"});
  ASSERT_TRUE(lists.ok()) << lists.status();
  EXPECT_EQ(lists->tls12, "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305");
  EXPECT_EQ(lists->tls13, "TLS_AES_128_GCM_SHA256");
  EXPECT_FALSE(CipherListsFromGo({"ECDHE-RSA-AES128-GCM-SHA256"}).ok());
}

TEST(TlsCertificatesTest, WithoutAFolderAPairIsMadeInMemory) {
  TlsOptions options;
  options.cert_dir = "";
  const auto certificates = TlsCertificates::Create(options, "127.0.0.1");
  EXPECT_TRUE(certificates.ok()) << certificates.status();
}

TEST(TlsCertificatesTest, AStartThatCouldNotWriteThePairLeavesNoHalfOfIt) {
  TlsOptions options;
  options.cert_dir = testing::TempDir() + "/half";
  const std::string in_the_way = options.cert_dir + "/apiserver.crt.new";
  std::filesystem::remove_all(options.cert_dir);
  std::filesystem::create_directories(in_the_way);
  EXPECT_FALSE(TlsCertificates::Create(options, "127.0.0.1").ok());
  std::filesystem::remove(in_the_way);
  const auto again = TlsCertificates::Create(options, "127.0.0.1");
  EXPECT_TRUE(again.ok()) << again.status();
}

TEST(TlsCertificatesTest, ErrorsNameWhatIsWrong) {
  TlsOptions options;
  options.cert_file = "/nowhere.crt";
  const auto half = TlsCertificates::Create(options, "127.0.0.1");
  EXPECT_NE(half.status().message().find("--tls-private-key-file"), absl::string_view::npos);
  options.key_file = "/nowhere.key";
  const auto missing = TlsCertificates::Create(options, "127.0.0.1");
  EXPECT_NE(missing.status().message().find("/nowhere.crt"), absl::string_view::npos);
  options.min_version = "TLS1.2";
  const auto version = TlsCertificates::Create(options, "127.0.0.1");
  EXPECT_NE(version.status().message().find("VersionTLS12"), absl::string_view::npos);
  const std::string folder = testing::TempDir();
  WriteTestPair(folder + "/one", MakeTestPair({.common_name = "one"}));
  WriteTestPair(folder + "/other", MakeTestPair({.common_name = "other"}));
  TlsOptions mixed;
  mixed.cert_file = folder + "/one.crt";
  mixed.key_file = folder + "/other.key";
  const auto foreign = TlsCertificates::Create(mixed, "127.0.0.1");
  EXPECT_NE(foreign.status().message().find("one.crt"), absl::string_view::npos)
      << foreign.status();
  TlsOptions unwritable;
  unwritable.cert_dir = "/proc/nowhere";
  EXPECT_EQ(TlsCertificates::Create(unwritable, "127.0.0.1").status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace flyball::http
