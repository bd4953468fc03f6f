// Thousands of random courses of events, none of which may make a wrong count be written.
//
// FLYBALL_COURSES=FIRST:COUNT in the environment runs these seeds instead, in one go.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "scaler/testing/random_course.h"
#include "spdlog/spdlog.h"

namespace flyball::scaler {
namespace {

// As parts of one test, so that they run side by side.
constexpr uint32_t kParts = 20, kWideParts = 4, kFrozenParts = 1, kPartsWithRestarts = 2;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr uint32_t kMostOfAPart = 50;  // they take ten times as long and more
#else
constexpr uint32_t kMostOfAPart = 500;
#endif

uint32_t CoursesOfAPart() {
  return std::getenv("FLYBALL_EMULATED") == nullptr ? kMostOfAPart : kMostOfAPart / 20;
}

// That the courses do what they are for: there are writes to be judged.
struct Tally {
  int writes = 0, shrinks = 0;
};

void RunCourses(uint32_t first, uint32_t count, Tally& tally) {
  const auto level = spdlog::get_level();
  spdlog::set_level(count == 1 ? level : spdlog::level::off);  // trouble is what these are made of
  int bad = 0;
  for (uint32_t seed = first; seed < first + count && bad < 3; ++seed) {
    RandomCourse course(seed);
    const std::string wrong = course.Run();
    if (!wrong.empty()) {
      ADD_FAILURE() << "seed " << seed << "\n" << wrong;
      ++bad;
    }
    tally.writes += course.judge().writes();
    tally.shrinks += course.judge().shrinks();
  }
  spdlog::set_level(level);
}

// The first course of a part. The wide ones come first, those with restarts last.
uint32_t FirstOf(uint32_t part, uint32_t count) {
  if (part >= kParts + kFrozenParts) {
    return RandomCourse::kFirstWithRestarts + (part - kParts - kFrozenParts) * count;
  }
  if (part >= kParts) return RandomCourse::kFirstFrozen + (part - kParts) * count;
  return (part < kWideParts ? RandomCourse::kFirstWide : 1) + part * count;
}

class RandomCourses : public testing::TestWithParam<uint32_t> {};

TEST_P(RandomCourses, WriteNothingWrong) {
  Tally tally;
  const uint32_t count = CoursesOfAPart();
  RunCourses(FirstOf(GetParam(), count), count, tally);
  EXPECT_GT(tally.writes, count * 3);
  EXPECT_GT(tally.shrinks, count / 2);
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomCourses,
                         testing::Range(uint32_t{0}, kParts + kFrozenParts + kPartsWithRestarts));

// Each found a mistake of the scaler, the judge or the courses, as these are drawn today.
TEST(RandomCourse, OfTheSeedsThatFoundSomething) {
  Tally tally;
  for (const uint32_t seed : std::initializer_list<uint32_t>{
           1085894,    1132674,    1252620,    1284218,    1309988,  1529071,    1546821,
           1563177,    1563508,    1581132,    1597412,    1660632,  1257513,    1346840,
           1680651,    1706792,    1739821,    1271803,    1651534,  1768590,    2527427,
           2057156,    2123524,    2150359,    2686875,    2204441,  3015196,    2723482,
           5518136,    5528579,    9055060,    9088204,    9593403,  1000092454, 1000096927,
           3010002438, 2020000216, 2020003769, 2020003708, 40034500, 41006305,   3042018997,
           2043000337}) {
    RunCourses(seed, 1, tally);
  }
}

TEST(RandomCourse, OfTheSeedsThatAreAskedFor) {
  const char* asked = std::getenv("FLYBALL_COURSES");
  if (asked == nullptr) return;
  const std::pair<std::string, std::string> range = absl::StrSplit(asked, ':');
  uint32_t first = 0, count = 0;
  ASSERT_TRUE(absl::SimpleAtoi(range.first, &first) && absl::SimpleAtoi(range.second, &count));
  Tally tally;
  RunCourses(first, count, tally);
  RecordProperty("writes", tally.writes);
  std::cout << "courses " << count << ", scale writes " << tally.writes << ", of which smaller "
            << tally.shrinks << std::endl;
}

}  // namespace
}  // namespace flyball::scaler
