#include "scaler/spec/dialect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flyball::scaler {
namespace {

using testing::HasSubstr;

Dialect Of(int minor, const GateSettings& gates = {}) {
  return DialectOf(ServerVersion{.minor = minor, .emulated_minor = {}}, gates);
}

TEST(Dialect, GatesHaveTheDefaultsOfTheVersion) {
  EXPECT_EQ(Of(34), Dialect());
  EXPECT_TRUE(Of(35).gates.configurable_tolerance);
  EXPECT_FALSE(Of(35).gates.declarative_validation_beta);
  EXPECT_TRUE(Of(36).gates.declarative_validation_beta);
  EXPECT_FALSE(Of(36).gates.scale_to_zero);
  EXPECT_FALSE(Of(36).gates.generation);
  EXPECT_TRUE(Of(37).gates.scale_to_zero);
  EXPECT_TRUE(Of(37).gates.generation);
  EXPECT_TRUE(Of(37).gates.optimized_selector_store);
  EXPECT_EQ(Of(12), Of(34)) << "older ones count as the oldest";
  EXPECT_EQ(Of(99), Of(37)) << "newer ones as the newest";
}

TEST(Dialect, SettingsCountWhereTheVersionHasTheGate) {
  EXPECT_TRUE(Of(36, {{"HPAScaleToZero", true}}).gates.scale_to_zero);
  EXPECT_FALSE(Of(37, {{"HPAGeneration", false}}).gates.generation);
  EXPECT_FALSE(Of(36, {{"HPAGeneration", true}}).gates.generation) << "there is none yet";
  EXPECT_TRUE(Of(37, {{"HPAConfigurableTolerance", false}}).gates.configurable_tolerance)
      << "it is locked";
}

TEST(Dialect, GatesAreThoseOfTheEmulatedVersion) {
  const Dialect got = DialectOf(ServerVersion{.minor = 37, .emulated_minor = 36}, {});
  EXPECT_EQ(got.minor, 37);
  EXPECT_EQ(got.gates, Of(36).gates);
}

TEST(Dialect, IsShownWithWhatDiffersFromItsDefaults) {
  EXPECT_EQ(DialectText(Of(35)), "1.35");
  EXPECT_EQ(DialectText(Of(37, {{"HPAScaleToZero", false}, {"PodLevelResources", false}})),
            "1.37 with HPAScaleToZero=false, PodLevelResources=false");
}

TEST(ParseDialectChoice, TakesAutoAndTheKnownVersions) {
  EXPECT_EQ(ParseDialectChoice("auto", "")->minor, std::nullopt);
  const auto choice = ParseDialectChoice("1.36", "HPAScaleToZero=true, PodLevelResources=false");
  ASSERT_TRUE(choice.ok()) << choice.status();
  EXPECT_EQ(choice->minor, 36);
  EXPECT_EQ(choice->gates, (GateSettings{{"HPAScaleToZero", true}, {"PodLevelResources", false}}));
  EXPECT_EQ(DialectOf(*choice, ServerVersion{.minor = 34, .emulated_minor = {}}).minor, 36)
      << "what is asked for wins";
}

TEST(ParseDialectChoice, GatesOfOtherThingsAreLeftAlone) {
  const auto choice =
      ParseDialectChoice("1.37", "StaleControllerConsistencyHPA=true,HPAScaleToZero=false,X=true");
  ASSERT_TRUE(choice.ok()) << choice.status();
  EXPECT_EQ(choice->gates, (GateSettings{{"HPAScaleToZero", false}}));
  EXPECT_THAT(choice->other_gates, testing::ElementsAre("StaleControllerConsistencyHPA", "X"));
}

TEST(ParseDialectChoice, SaysWhatIsWrong) {
  const auto error = [](absl::string_view version, absl::string_view gates) {
    return std::string(ParseDialectChoice(version, gates).status().message());
  };
  for (const char* version : {"1.33", "1.38", "1.340", "1.+34", "v1.34", "34", "", "2.34"}) {
    EXPECT_THAT(error(version, ""), HasSubstr("expected auto or 1.34 to 1.37")) << version;
  }
  EXPECT_THAT(error("auto", "HPAScaleToZero"), HasSubstr("expected Name=true or Name=false"));
  EXPECT_THAT(error("auto", "HPAScaleToZero=maybe"), HasSubstr("expected Name=true"));
  EXPECT_THAT(error("auto", "HPAScaleTo0=true"), HasSubstr("there is no gate HPAScaleTo0; those"));
  EXPECT_THAT(error("auto", "AllBeta=false"), HasSubstr("AllBeta: name the gates that it sets"));
  EXPECT_THAT(error("auto", "=true"), HasSubstr("expected Name=true"));
  EXPECT_THAT(error("1.36", "HPAGeneration=true"), HasSubstr("1.36 has no such gate"));
  EXPECT_THAT(error("1.37", "HPAConfigurableTolerance=false"), HasSubstr("locked it to true"));
}

TEST(ParseServerVersion, ReadsWhatServersSay) {
  EXPECT_EQ(ParseServerVersion(R"({"major":"1","minor":"34","gitVersion":"v1.34.4"})")->minor, 34);
  EXPECT_EQ(ParseServerVersion(R"({"major":"1","minor":"35+"})")->minor, 35);
  const auto emulating = ParseServerVersion(
      R"({"major":"1","minor":"37","emulationMajor":"1","emulationMinor":"36"})");
  ASSERT_TRUE(emulating.ok()) << emulating.status();
  EXPECT_EQ(*emulating, (ServerVersion{.minor = 37, .emulated_minor = 36}));
  for (const char* bad : {"", "[]", "{}", R"({"major":"2","minor":"1"})",
                          R"({"major":"1","minor":35})", R"({"major":"1","minor":"x"})"}) {
    EXPECT_FALSE(ParseServerVersion(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace flyball::scaler
