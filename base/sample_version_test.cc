#include "base/sample_version.h"

#include <gtest/gtest.h>

#include "base/freshness.h"

namespace flyball {
namespace {

TEST(SampleVersion, MovesOnceForAllSamplesUntilItIsTaken) {
  SampleVersion version([] {});
  const uint64_t first = version.Take();
  EXPECT_EQ(version.Take(), first);
  EXPECT_TRUE(version.Mark());
  EXPECT_FALSE(version.Mark());
  EXPECT_NE(version.number(), first);
  const uint64_t second = version.Take();
  EXPECT_EQ(version.number(), second);
  EXPECT_TRUE(version.Mark());
  EXPECT_NE(version.Take(), first);
}

TEST(SampleVersion, CallsOnceThoseWhoseNumberMoved) {
  SampleVersion version([] {});
  int early = 0, late = 0;
  const uint64_t first = version.Take();
  const auto following = version.Follow(first, [&] { ++early; });
  version.CallFollowers();
  EXPECT_EQ(early, 0);
  version.Mark();
  const auto next = version.Follow(version.Take(), [&] { ++late; });
  version.CallFollowers();
  version.CallFollowers();
  EXPECT_EQ(early, 1);
  EXPECT_EQ(late, 0);
  version.Mark();
  version.CallFollowers();
  EXPECT_EQ(early, 1);
  EXPECT_EQ(late, 1);
}

TEST(SampleVersion, TellsOfAnOldNumberAtOnce) {
  int told = 0;
  SampleVersion version([&] { ++told; });
  const uint64_t first = version.Take();
  ASSERT_TRUE(version.Mark());
  version.Tell();
  version.CallFollowers();
  EXPECT_EQ(told, 1);
  int called = 0;
  const auto following = version.Follow(first, [&] { ++called; });
  EXPECT_EQ(told, 2) << "the sample came before anybody followed";
  version.CallFollowers();
  EXPECT_EQ(called, 1);
}

TEST(SampleVersion, ForgetsWhoEnds) {
  SampleVersion version([] {});
  int called = 0;
  {
    const auto following = version.Follow(version.Take(), [&] { ++called; });
    version.Mark();
  }
  version.CallFollowers();
  EXPECT_EQ(called, 0);
}

TEST(Freshness, EndsWithTheNewestSamples) {
  const auto samples = std::make_shared<SampleVersion>([] {});
  const auto others = std::make_shared<SampleVersion>([] {});
  Freshness one = {.fresh_until = absl::Seconds(5),
                   .samples = SamplesRead({{samples, samples->Take()}})};
  Freshness two = {.fresh_until = absl::Seconds(9),
                   .samples = SamplesRead({{others, others->Take()}})};
  Freshness both = Freshness::Forever();
  EXPECT_TRUE(both.samples.told());
  both.Add(one);
  both.Add(two);
  both.Add(one);
  EXPECT_EQ(both.samples.versions().size(), 2u);
  EXPECT_TRUE(both.samples.told());
  EXPECT_TRUE(both.HoldsAt(absl::Seconds(4)));
  EXPECT_FALSE(both.HoldsAt(absl::Seconds(5)));
  others->Mark();
  EXPECT_FALSE(both.HoldsAt(absl::Seconds(4)));
  EXPECT_TRUE(one.HoldsAt(absl::Seconds(4)));
  others->Take();
  EXPECT_FALSE(both.HoldsAt(absl::Seconds(4))) << "whoever reads next does not bring it back";
}

TEST(Freshness, OfASourceThatDoesNotTellIsOfTimeAlone) {
  Freshness both = Freshness::Forever();
  both.Add({.fresh_until = absl::Seconds(5)});
  EXPECT_FALSE(both.samples.told());
  EXPECT_TRUE(both.HoldsAt(absl::Seconds(4)));
}

}  // namespace
}  // namespace flyball
