#include "scaler/triggers/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flyball::scaler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TriggerSpec Spec(std::map<std::string, std::string> metadata) {
  TriggerSpec spec;
  spec.metadata = std::move(metadata);
  return spec;
}

TEST(MetadataTest, BlankIsAbsent) {
  const TriggerSpec spec = Spec({{"a", " \t"}, {"b", " x "}});
  Metadata metadata(spec, 0);
  EXPECT_FALSE(metadata.Has("a"));
  EXPECT_EQ(metadata.Text("a", "otherwise"), "otherwise");
  EXPECT_EQ(metadata.Text("b"), " x ");
  EXPECT_TRUE(metadata.status().ok());
}

TEST(MetadataTest, NumbersAreJsons) {
  for (const char* good : {"0", "-1", "2.5", "1e3", "1E-3", " 7 "}) {
    const TriggerSpec spec = Spec({{"n", good}});
    Metadata metadata(spec, 0);
    metadata.Number("n", 99);
    EXPECT_TRUE(metadata.status().ok()) << good;
  }
  for (const char* bad : {"+5", "05", ".5", "5.", "0x10", "1_0", "NaN", "inf", "1e999", "5 5"}) {
    const TriggerSpec spec = Spec({{"n", bad}});
    Metadata metadata(spec, 0);
    EXPECT_EQ(metadata.Number("n", 99), 99) << bad;
    EXPECT_FALSE(metadata.status().ok()) << bad;
  }
}

TEST(MetadataTest, IntegersHaveNoFraction) {
  const TriggerSpec spec = Spec({{"a", "10.0"}, {"b", "9223372036854775808"}, {"c", "-3"}});
  Metadata metadata(spec, 2);
  metadata.Integer("a", 0);
  metadata.Integer("b", 0);
  EXPECT_EQ(metadata.Integer("c", 0), -3);
  EXPECT_EQ(metadata.status().message(),
            R"(triggers[2].metadata.a: expected a whole number, got "10.0"; )"
            R"(triggers[2].metadata.b: expected a whole number, got "9223372036854775808")");
}

TEST(MetadataTest, BoolsAreGos) {
  const TriggerSpec spec = Spec({{"a", "T"}, {"b", "False"}, {"c", "yes"}, {"d", "tRUE"}});
  Metadata metadata(spec, 0);
  EXPECT_TRUE(metadata.Bool("a", false));
  EXPECT_FALSE(metadata.Bool("b", true));
  EXPECT_TRUE(metadata.Bool("c", true));
  EXPECT_TRUE(metadata.Bool("absent", true));
  EXPECT_THAT(std::string(metadata.status().message()), HasSubstr("metadata.c: expected true"));
}

TEST(MetadataTest, DurationsAreTextOrMilliseconds) {
  const TriggerSpec spec =
      Spec({{"a", "1500"}, {"b", "1m30s"}, {"c", "-1s"}, {"d", "soon"}, {"e", "0"}, {"f", "inf"}});
  Metadata metadata(spec, 0);
  EXPECT_EQ(metadata.Duration("a", {}), absl::Milliseconds(1500));
  EXPECT_EQ(metadata.Duration("b", {}), absl::Seconds(90));
  EXPECT_TRUE(metadata.status().ok());
  for (const char* bad : {"c", "d", "e", "f"}) {
    Metadata again(spec, 0);
    EXPECT_EQ(again.Duration(bad, absl::Seconds(3)), absl::Seconds(3));
    EXPECT_FALSE(again.status().ok()) << bad;
  }
}

TEST(MetadataTest, PairsHaveOneEqualsSignEach) {
  const TriggerSpec spec = Spec({{"a", "k=v, l = w"}, {"b", "k=v=w"}, {"c", "k"}, {"d", "=v"}});
  Metadata metadata(spec, 0);
  EXPECT_THAT(metadata.Pairs("a"), ElementsAre(Pair("k", "v"), Pair("l", "w")));
  EXPECT_TRUE(metadata.status().ok());
  for (const char* bad : {"b", "c", "d"}) {
    Metadata again(spec, 0);
    EXPECT_THAT(again.Pairs(bad), IsEmpty());
    EXPECT_FALSE(again.status().ok());
    // What stands there may be a credential.
    EXPECT_THAT(std::string(again.status().message()), testing::Not(HasSubstr("v=w")));
  }
}

TEST(MetadataTest, TargetsAreAboveZero) {
  const TriggerSpec spec = Spec({{"a", "2.5"}, {"b", "0"}, {"c", "x"}});
  Metadata metadata(spec, 0);
  EXPECT_EQ(metadata.RequiredTarget("a"), 2500);
  metadata.RequiredTarget("b");
  metadata.RequiredTarget("c");
  metadata.RequiredTarget("absent");
  EXPECT_EQ(metadata.status().message(), R"(triggers[0].metadata.b: must be greater than 0; )"
                                         R"(triggers[0].metadata.c: expected a number, got "x"; )"
                                         R"(triggers[0].metadata.absent: is required)");
}

}  // namespace
}  // namespace flyball::scaler
