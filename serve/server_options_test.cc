#include "serve/server_options.h"

#include "adapter/queries/query_batcher.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::serve {
namespace {

using apiservice::AuthorizationMode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ServeFlags Flags(std::vector<std::string> args) {
  args.push_back("--config=c.yaml");
  auto flags = ParseServeFlags(args);
  EXPECT_TRUE(flags.ok()) << flags.status();
  return *flags;
}

TEST(ServerOptionsFromTest, AClusterIsAskedAboutEveryUser) {
  const auto options = ServerOptionsFrom(Flags({}));
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->authorization.mode, AuthorizationMode::kReview);
  EXPECT_EQ(options->listen.bind_address, "0.0.0.0");
}

TEST(ServerOptionsFromTest, WithoutAClusterItStaysOnLoopback) {
  const auto options = ServerOptionsFrom(Flags({"--objects=d"}));
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->authorization.mode, AuthorizationMode::kAll);
  EXPECT_EQ(options->listen.bind_address, "127.0.0.1");
}

TEST(ServerOptionsFromTest, WithoutAClusterAnOpenAddressIsRefused) {
  for (const char* address : {"0.0.0.0", "10.0.0.1", "::"}) {
    const auto options = ServerOptionsFrom(Flags({"--objects=d", "--bind-address", address}));
    ASSERT_EQ(options.status().code(), absl::StatusCode::kInvalidArgument) << address;
    EXPECT_THAT(std::string(options.status().message()), HasSubstr("--token-auth-file"));
  }
  EXPECT_TRUE(ServerOptionsFrom(Flags({"--objects=d", "--bind-address=127.0.0.2"})).ok());
}

TEST(ServerOptionsFromTest, UsersWithTokensMayComeFromAnywhere) {
  const auto options = ServerOptionsFrom(Flags({"--objects=d", "--token-auth-file=t.csv"}));
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->authorization.mode, AuthorizationMode::kAuthenticated);
  EXPECT_EQ(options->listen.bind_address, "0.0.0.0");
}

TEST(ServerOptionsFromTest, ObjectsWithAClusterForReviews) {
  const auto options = ServerOptionsFrom(Flags({"--objects=d", "--authorization-kubeconfig=k"}));
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->authorization.mode, AuthorizationMode::kReview);
}

// Tokens are for a cluster to know; what whoever has a good one may is everything, as with a file.
TEST(ServerOptionsFromTest, ObjectsWithAClusterThatKnowsUsers) {
  const ServeFlags flags = Flags({"--objects=d", "--authentication-kubeconfig=k"});
  const auto options = ServerOptionsFrom(flags);
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->authorization.mode, AuthorizationMode::kAuthenticated);
  EXPECT_TRUE(ReviewersOf(flags).authentication);
  EXPECT_FALSE(ReviewersOf(flags).authorization);
}

TEST(ReviewersOfTest, ThoseThatAreNamedOrTheClusterThatIsServed) {
  const auto both = [](const std::vector<std::string>& args) {
    const Reviewers reviewers = ReviewersOf(Flags(args));
    return std::pair(reviewers.authentication, reviewers.authorization);
  };
  EXPECT_EQ(both({}), std::pair(true, true));
  EXPECT_EQ(both({"--objects=d"}), std::pair(false, false));
  EXPECT_EQ(both({"--objects=d", "--authorization-kubeconfig=k"}), std::pair(false, true));
}

TEST(ServerOptionsFromTest, LimitsAreThoseOfTheServerUnlessGiven) {
  const apiservice::ServerOptions built_in;
  const auto options = ServerOptionsFrom(Flags({}));
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->limits.max_in_flight, built_in.limits.max_in_flight);
  EXPECT_EQ(options->limits.max_reviews, built_in.limits.max_reviews);
  EXPECT_EQ(options->limits.max_selector_bytes, built_in.limits.max_selector_bytes);
  EXPECT_EQ(options->limits.max_answer_bytes, built_in.limits.max_answer_bytes);
  EXPECT_EQ(options->listen.max_connections, built_in.listen.max_connections);
  EXPECT_EQ(options->listen.max_connection_bytes, built_in.listen.max_connection_bytes);
  EXPECT_EQ(options->listen.request.max_head_bytes, built_in.listen.request.max_head_bytes);
  EXPECT_EQ(options->listen.request.max_header_lines, built_in.listen.request.max_header_lines);

  const auto given = ServerOptionsFrom(
      Flags({"--max-reviews-inflight=1", "--max-selector-bytes=2", "--max-answer-bytes=3",
             "--max-connections=4", "--max-connection-bytes=5", "--max-header-bytes=6",
             "--max-header-lines=7"}));
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given->limits.max_reviews, 1);
  EXPECT_EQ(given->limits.max_selector_bytes, 2u);
  EXPECT_EQ(given->limits.max_answer_bytes, 3u);
  EXPECT_EQ(given->listen.max_connections, 4);
  EXPECT_EQ(given->listen.max_connection_bytes, 5u);
  EXPECT_EQ(given->listen.request.max_head_bytes, 6u);
  EXPECT_EQ(given->listen.request.max_header_lines, 7u);
}

// Of the 128 MiB in which the process is to stay whatever clients do, it needs about 30 itself.
TEST(ServerOptionsFromTest, WhatClientsMayTakeAtTheSameMomentLeavesRoomForTheProcess) {
  const auto options = ServerOptionsFrom(Flags({}));
  ASSERT_TRUE(options.ok());
  const adapter::BatcherOptions queries;
  constexpr size_t kOthers = 22 << 20;  // questions, lists, reviews, users and what they may do
  const size_t with_answers = options->listen.max_connection_bytes * 11 / 10;
  EXPECT_LE(with_answers + options->limits.response_cache_bytes + queries.max_group_bytes +
                queries.flights.max_bytes + kOthers,
            size_t{84} << 20);
}

TEST(ServerOptionsFromTest, ALimitOfNothingIsRefused) {
  for (const char* flag :
       {"--max-reviews-inflight=0", "--max-selector-bytes=-1", "--max-answer-bytes=0",
        "--max-connections=0", "--max-connection-bytes=0", "--max-header-bytes=0",
        "--max-header-lines=0"}) {
    const auto flags = ParseServeFlags({"--config=c.yaml", flag});
    EXPECT_EQ(flags.status().code(), absl::StatusCode::kFailedPrecondition) << flag;
  }
}

TEST(ParseSniCertificateTest, FilesAndNames) {
  auto plain = ParseSniCertificate("a.crt,a.key");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->cert_file, "a.crt");
  EXPECT_EQ(plain->key_file, "a.key");
  EXPECT_THAT(plain->names, IsEmpty());
  auto named = ParseSniCertificate("a.crt,a.key:*.example,b");
  ASSERT_TRUE(named.ok());
  EXPECT_THAT(named->names, ElementsAre("*.example", "b"));
  EXPECT_FALSE(ParseSniCertificate("a.crt").ok());
  EXPECT_FALSE(ParseSniCertificate("a,b,c").ok());
}

}  // namespace
}  // namespace flyball::serve
