#include "apiservice/auth/token_authenticator.h"

#include <gtest/gtest.h>

namespace flyball::apiservice {
namespace {

TEST(TokenAuthenticator, AFileThatBecomesEmptyLeavesItsTokens) {
  SimulatedClock clock(absl::FromUnixSeconds(1'700'000'000));
  TokenAuthenticator tokens(nullptr, &clock, absl::Seconds(10), 1);
  ASSERT_TRUE(tokens.SetStaticTokens("").ok()) << "it was empty from the start";
  ASSERT_TRUE(tokens.SetStaticTokens("s3cret,ann,1\n").ok());
  EXPECT_EQ(tokens.SetStaticTokens("\n").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(tokens.Authenticate("s3cret", 0).ok());
  ASSERT_TRUE(tokens.SetStaticTokens("# nobody\n").ok());
  EXPECT_FALSE(tokens.Authenticate("s3cret", 0).ok());
}

}  // namespace
}  // namespace flyball::apiservice
