#include "http/client/credentials.h"

#include <sys/resource.h>
#include <unistd.h>
#include <filesystem>

#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace flyball::http {
namespace {

namespace fs = std::filesystem;

class CredentialSourceTest : public testing::Test {
 protected:
  CredentialSourceTest()
      : file_(testing::TempDir() + "/flyball-token-" + std::to_string(getpid())) {
    Write("first\n");
  }
  ~CredentialSourceTest() override { fs::remove(file_); }
  void Write(const std::string& text) const { std::ofstream(file_) << text; }

  const std::string file_;
  SimulatedClock clock_{absl::FromUnixSeconds(1000)};
};

TEST_F(CredentialSourceTest, TokenFileIsTrimmedAndReadAgainAfterASecond) {
  TransportOptions options;
  options.token_file = file_;
  auto source = CredentialSource::Make(options, false, clock_);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->Get().authorization, "Bearer first");
  Write("second\n\n");
  EXPECT_EQ((*source)->Get().authorization, "Bearer first");
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ((*source)->Get().authorization, "Bearer second");
}

TEST_F(CredentialSourceTest, EmptiedTokenFileKeepsTheLastToken) {
  TransportOptions options;
  options.token_file = file_;
  auto source = CredentialSource::Make(options, false, clock_);
  ASSERT_TRUE(source.ok()) << source.status();
  Write("");
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ((*source)->Get().authorization, "Bearer first");
}

TEST_F(CredentialSourceTest, AReadThatFailsForAMomentIsMadeUpFor) {
  TransportOptions options;
  options.token_file = file_;
  auto source = CredentialSource::Make(options, false, clock_);
  ASSERT_TRUE(source.ok()) << source.status();
  // So large that only its stamp is compared, also while it is young.
  Write(std::string(5 << 20, ' ') + "second");
  rlimit usual = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit none = {.rlim_cur = 0, .rlim_max = usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  clock_.Advance(absl::Seconds(1));
  const std::string meanwhile = (*source)->Get().authorization;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
  EXPECT_EQ(meanwhile, "Bearer first");
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ((*source)->Get().authorization, "Bearer second");
}

TEST_F(CredentialSourceTest, TokenGoesBeforePassword) {
  TransportOptions options;
  options.username = "user";
  options.password = "secret";
  EXPECT_EQ((*CredentialSource::Make(options, false, clock_))->Get().authorization,
            "Basic dXNlcjpzZWNyZXQ=");
  options.token = "t";
  EXPECT_EQ((*CredentialSource::Make(options, false, clock_))->Get().authorization, "Bearer t");
}

TEST_F(CredentialSourceTest, BadFilesAreNamed) {
  TransportOptions options;
  options.token_file = file_ + ".absent";
  EXPECT_EQ(CredentialSource::Make(options, false, clock_).status().message(),
            "token file cannot be read or is empty: " + file_ + ".absent");
  options.token_file.clear();
  options.ca_file = file_;
  EXPECT_EQ(CredentialSource::Make(options, true, clock_).status().message(),
            "CA file " + file_ + " holds no PEM certificate");
  // Also where it is of no use, as the original's start fails.
  EXPECT_EQ(CredentialSource::Make(options, false, clock_).status().message(),
            "CA file " + file_ + " holds no PEM certificate");
  options.ca_file.clear();
  options.client_cert_data = "x";
  EXPECT_EQ(CredentialSource::Make(options, true, clock_).status().message(),
            "a client certificate and its key must be given together");
}

}  // namespace
}  // namespace flyball::http
