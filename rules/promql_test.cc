#include "rules/promql.h"

#include <gtest/gtest.h>

#include <string>

#include "promql/parser.h"

namespace flyball::rules {
namespace {

using Op = kube::Operator;

struct PromqlRow {
  std::string name;
  kube::Requirement requirement;
  std::string matcher;  // "": refused
};

class AddRequirementTest : public testing::TestWithParam<PromqlRow> {};

TEST_P(AddRequirementTest, Row) {
  MatcherList matchers;
  const absl::Status status = matchers.AddRequirement(GetParam().requirement);
  EXPECT_EQ(status.ok(), !GetParam().matcher.empty()) << status;
  EXPECT_EQ(matchers.Join(), GetParam().matcher);
}

INSTANTIATE_TEST_SUITE_P(
    SelectorsToMatchers, AddRequirementTest,
    testing::Values(PromqlRow{"Equals", {"k", Op::kEquals, {"v"}}, R"(k="v")"},
                    PromqlRow{"DoubleEquals", {"k", Op::kDoubleEquals, {"v"}}, R"(k="v")"},
                    PromqlRow{"EqualsEmpty", {"k", Op::kEquals, {""}}, R"(k="")"},
                    PromqlRow{"NotEquals", {"k", Op::kNotEquals, {"v"}}, R"(k!="v")"},
                    PromqlRow{"Exists", {"k", Op::kExists, {}}, R"(k!="")"},
                    PromqlRow{"DoesNotExist", {"k", Op::kDoesNotExist, {}}, R"(k="")"},
                    PromqlRow{"InOne", {"k", Op::kIn, {"v"}}, R"(k=~"v")"},
                    PromqlRow{"InMore", {"k", Op::kIn, {"a", "b"}}, R"(k=~"a|b")"},
                    PromqlRow{"InOneTwice", {"k", Op::kIn, {"v", "v"}}, R"(k=~"v")"},
                    PromqlRow{"NotInOne", {"k", Op::kNotIn, {"v"}}, R"(k!~"v")"},
                    PromqlRow{"NotInMore", {"k", Op::kNotIn, {"a", "b"}}, R"(k!~"a|b")"},
                    // A single value may be a pattern as far as label syntax goes.
                    PromqlRow{"ValuesAreNotEscaped", {"k", Op::kIn, {"a.b"}}, R"(k=~"a.b")"},
                    PromqlRow{"GreaterThan", {"k", Op::kGreaterThan, {"5"}}, ""},
                    PromqlRow{"LessThan", {"k", Op::kLessThan, {"5"}}, ""},
                    PromqlRow{"InNothing", {"k", Op::kIn, {}}, ""},
                    PromqlRow{"ExistsWithValue", {"k", Op::kExists, {"v"}}, ""},
                    PromqlRow{"NoKey", {"", Op::kEquals, {"v"}}, ""}),
    [](const auto& info) { return info.param.name; });

TEST(MatcherListTest, KeepsOrderAndTheLaterValue) {
  MatcherList matchers;
  ASSERT_TRUE(matchers.AddRequirement({"ns", Op::kEquals, {"other"}}).ok());
  matchers.AddEqual("ns", "web \"1\"");
  matchers.AddNames("po", {"b.x", "a", "b.x"});
  EXPECT_EQ(matchers.Join(), R"(ns="other",ns="web \"1\"",po=~"a|b\\.x")");
  const std::map<std::string, std::string> values = {{"ns", "web \"1\""}, {"po", "a|b.x"}};
  EXPECT_EQ(matchers.values_by_name(), values);
}

TEST(MatcherListTest, NoNamesMatchNoName) {
  MatcherList matchers;
  matchers.AddNames("po", {});
  EXPECT_EQ(matchers.Join(), R"(po="")");
}

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
