#include "kube/client/event_correlator.h"

#include <malloc.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace flyball::kube {
namespace {

// What is recorded, and what comes of it: "message xcount", or "-" for nothing.
struct Step {
  double at_seconds;
  std::string message;
  std::string want;
  bool warning = false;
  std::string object = "web";
};

struct EventCorrelatorRow {
  std::string name;
  std::vector<Step> steps;
};

class CorrelateTest : public testing::TestWithParam<EventCorrelatorRow> {};

TEST_P(CorrelateTest, Row) {
  EventCorrelator correlator;
  int number = 0;
  for (const Step& step : GetParam().steps) {
    ++number;
    ObjectEventRecord event;
    event.about.name = step.object;
    event.warning = step.warning;
    event.reason = "R";
    event.message = step.message;
    event.name = absl::StrCat(step.object, ".", number);
    const absl::Duration now = absl::Seconds(step.at_seconds);
    const auto got = correlator.Correlate(event, absl::UnixEpoch() + now, now, "combined");
    EXPECT_EQ(got.has_value() ? absl::StrCat(got->message, " x", got->count) : "-", step.want)
        << "step " << number;
  }
}

constexpr char kCombined[] = "(combined from similar events): ";

// `count` different messages, from a0 on, each at its second.
std::vector<Step> Different(int count) {
  std::vector<Step> steps;
  for (int i = 0; i < count; ++i) {
    steps.push_back({1.0 * i, absl::StrCat("a", i), absl::StrCat("a", i, " x1")});
  }
  return steps;
}

std::vector<Step> Then(std::vector<Step> steps, const std::vector<Step>& more) {
  steps.insert(steps.end(), more.begin(), more.end());
  return steps;
}

// The same event again and again: the first 25 are within the budget.
std::vector<Step> Burst(int count) {
  std::vector<Step> steps;
  for (int i = 1; i <= count; ++i) {
    steps.push_back({0, "a", i <= 25 ? absl::StrCat("a x", i) : "-"});
  }
  return steps;
}

INSTANTIATE_TEST_SUITE_P(
    Counting, CorrelateTest,
    testing::Values(EventCorrelatorRow{"EqualOnesAreCounted",
                                       {{0, "a", "a x1"}, {1, "a", "a x2"}, {9999, "a", "a x3"}}},
                    EventCorrelatorRow{
                        "OtherObjectsAndTypesAreNot",
                        {{0, "a", "a x1"}, {0, "a", "a x1", true}, {0, "a", "a x1", false, "api"}}},
                    EventCorrelatorRow{"OtherMessagesAreNot",
                                       {{0, "a", "a x1"}, {0, "b", "b x1"}, {0, "a", "a x2"}}}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Combining, CorrelateTest,
    testing::Values(
        EventCorrelatorRow{"TenthMessageIsCombined",
                           Then(Different(9), {{9, "a9", absl::StrCat(kCombined, "a9 x1")},
                                               {10, "a10", absl::StrCat(kCombined, "a10 x2")},
                                               {11, "a9", absl::StrCat(kCombined, "a9 x3")}})},
        EventCorrelatorRow{
            "EarlierMessagesGoOnAlone",
            Then(Different(9), {{9, "a9", absl::StrCat(kCombined, "a9 x1")}, {10, "a0", "a0 x2"}})},
        // 8 + 600 s is not more than ten minutes after the last, 8 + 601 s is.
        EventCorrelatorRow{"TenMinutesOfQuietBeginAnew",
                           Then(Different(9), {{608, "a9", absl::StrCat(kCombined, "a9 x1")},
                                               {1209, "a10", "a10 x1"}})},
        EventCorrelatorRow{"OtherTypesAreNotSimilar",
                           Then(Different(9), {{9, "a9", "a9 x1", true}})}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Budget, CorrelateTest,
    testing::Values(EventCorrelatorRow{"TwentyFiveAtOnce", Burst(27)},
                    // What is not sent is counted all the same: 25 sent, two not, then the 28th.
                    EventCorrelatorRow{
                        "OneMoreEachFiveMinutes",
                        Then(Burst(26), {{299, "a", "-"}, {300, "a", "a x28"}, {300, "a", "-"}})},
                    EventCorrelatorRow{"EachTypeHasItsOwn",
                                       Then(Burst(25), {{0, "a", "a x1", true}})},
                    EventCorrelatorRow{"EachObjectHasItsOwn",
                                       Then(Burst(25), {{0, "a", "a x1", false, "api"}})}),
    [](const auto& info) { return info.param.name; });

// Sequences through client-go's own correlator (test/data/kube/README.md).
TEST(CorrelatorTest, AgreesWithClientGo) {
  std::ifstream in(FLYBALL_SOURCE_DIR "/test/data/kube/events.jsonl");
  int sequences = 0;
  for (std::string line; std::getline(in, line); ++sequences) {
    EventCorrelator correlator;
    int number = 0;
    for (const auto& step : nlohmann::json::parse(line, nullptr, false)) {
      const absl::Duration at = absl::Seconds(step[0].get<int>());
      ObjectEventRecord event;
      event.about = {.api_version = "v1",
                     .kind = "K",
                     .ns = "shop",
                     .name = step[1],
                     .uid = "u",
                     .resource_version = ""};
      event.component = "c";
      event.warning = step[2] == "Warning";
      event.reason = step[3];
      event.message = step[4];
      event.name = absl::StrCat("e", number);
      event.first = event.last = absl::UnixEpoch() + at;
      const auto got = correlator.Correlate(event, event.last, at, "");
      const nlohmann::json told =
          got.has_value()
              ? nlohmann::json({got->message, got->count, got->name,
                                absl::ToUnixSeconds(got->first), absl::ToUnixSeconds(got->last)})
              : nlohmann::json();
      ASSERT_EQ(told, step[5]) << "sequence " << sequences << ", step " << number;
      ++number;
    }
  }
  EXPECT_EQ(sequences, 50);
}

TEST(CorrelatorTest, OneMoreKeepsNameAndFirstTime) {
  EventCorrelator correlator;
  ObjectEventRecord event;
  event.message = "a";
  event.name = "web.1";
  event.first = event.last = absl::FromUnixSeconds(1);
  ASSERT_TRUE(correlator.Correlate(event, event.last, absl::ZeroDuration(), "x").has_value());
  event.name = "web.2";
  event.first = event.last = absl::FromUnixSeconds(2);
  const auto again = correlator.Correlate(event, event.last, absl::Seconds(1), "x");
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->name, "web.1");
  EXPECT_EQ(again->first, absl::FromUnixSeconds(1));
  EXPECT_EQ(again->last, absl::FromUnixSeconds(2));
  EXPECT_FALSE(again->combined);
}

size_t HeapBytes() {
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

// Whoever may create objects chooses the texts of thousands of messages.
TEST(CorrelatorTest, MessagesTakeNoMemory) {
  EventCorrelator correlator;
  ObjectEventRecord event;
  const size_t before = HeapBytes();
  for (int i = 0; i < 4096; ++i) {
    event.about.name = absl::StrCat("web-", i / 8);
    event.message = absl::StrCat(i, std::string(4000, 'a'));
    (void)correlator.Correlate(event, absl::UnixEpoch(), absl::ZeroDuration(), "x");
  }
  EXPECT_LT(HeapBytes(), before + 4'000'000);
}

TEST(CorrelatorTest, LeastRecentlyUsedIsForgotten) {
  EventCorrelator correlator(2);
  ObjectEventRecord event;
  const auto count = [&](const std::string& object) {
    event.about.name = object;
    return correlator.Correlate(event, absl::UnixEpoch(), absl::ZeroDuration(), "x")->count;
  };
  EXPECT_EQ(count("a"), 1);
  EXPECT_EQ(count("b"), 1);
  EXPECT_EQ(count("a"), 2);
  EXPECT_EQ(count("c"), 1);  // in place of b
  EXPECT_EQ(count("a"), 3);
  EXPECT_EQ(count("b"), 1);
}

}  // namespace
}  // namespace flyball::kube
