#include "rules/joined_query.h"

#include <gtest/gtest.h>

#include "promql/parser.h"

namespace flyball::rules {
namespace {

// What they select is compared with what two queries would say in adapter/live/pod_amounts_test.cc.
TEST(JoinedQuery, SelectsByWhatTheOtherSays) {
  EXPECT_EQ(JoinedQuery("a{x=\"1\"}", "b{x=\"1\"}", "pod", /*nan_is_number=*/true),
            "(a{x=\"1\"}\n) and on (pod) (max by (pod) ((b{x=\"1\"}\n) >= bool "
            "9223372036854776) == 0)");
  EXPECT_EQ(JoinedQuery("a", "b", "pod", /*nan_is_number=*/false),
            "(a\n) and on (pod) (min by (pod) ((b\n) < bool 9223372036854776) == 1)");
}

TEST(JoinedQuery, MayJoinQueriesThatEndInAComment) {
  const auto expr = promql::Parse(JoinedQuery("a # (", "b # )", "pod", /*nan_is_number=*/true));
  ASSERT_TRUE(expr.ok()) << expr.status();
  EXPECT_EQ(promql::Print(**expr),
            "(a) and on (pod) (max by (pod) ((b) >= bool 9223372036854776) == 0)");
}

}  // namespace
}  // namespace flyball::rules
