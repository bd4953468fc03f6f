#include "rules/last_answer.h"

#include "gtest/gtest.h"

namespace flyball::rules {
namespace {

TEST(LastAnswerTest, IsTheLastThatWasSent) {
  LastAnswer last;
  EXPECT_FALSE(last.Get().has_value());
  last.Note("up", SourceChoice::kLive, 3, absl::Milliseconds(2), absl::ZeroDuration());
  ASSERT_TRUE(last.Get().has_value());
  EXPECT_EQ(last.Get()->promql, "up");
  EXPECT_EQ(last.Get()->source, SourceChoice::kLive);
  EXPECT_EQ(last.Get()->values, 3u);
  EXPECT_EQ(last.Get()->took, absl::Milliseconds(2));

  last.Note("down", SourceChoice::kPrometheus, 0, absl::Seconds(1), absl::Seconds(5));
  EXPECT_EQ(last.Get()->promql, "down");
  EXPECT_EQ(last.Get()->values, 0u);
  EXPECT_EQ(last.Get()->sent, absl::Seconds(5));

  last.Note("before", SourceChoice::kLive, 1, absl::Seconds(9), absl::Seconds(4));
  EXPECT_EQ(last.Get()->promql, "down");
}

TEST(LastAnswerTest, KeepsTheBeginningOfALongQuery) {
  LastAnswer last;
  last.Note(std::string(1 << 20, 'x'), SourceChoice::kAny, 0, absl::ZeroDuration(),
            absl::ZeroDuration());
  EXPECT_EQ(last.Get()->promql.size(), LastAnswer::kMaxPromql);
}

}  // namespace
}  // namespace flyball::rules
