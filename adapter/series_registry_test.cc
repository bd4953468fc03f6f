#include "adapter/series_registry.h"

#include "adapter/testing/floor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::adapter {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr char kTwoRules[] = R"(
rules:
- {seriesQuery: a, name: {as: same}, resources: {overrides: {ns: {resource: namespace}, po: {resource: pod}}},
   metricsQuery: 'a{<<.LabelMatchers>>}'}
- {seriesQuery: b, name: {as: same}, resources: {overrides: {ns: {resource: namespace}, po: {resource: pod}}},
   metricsQuery: 'b{<<.LabelMatchers>>}'}
externalRules:
- {seriesQuery: a, name: {as: ext}, metricsQuery: 'a{<<.LabelMatchers>>}'}
- {seriesQuery: b, name: {as: ext}, metricsQuery: 'b{<<.LabelMatchers>>}'}
)";

std::shared_ptr<const SeriesTable> Table(std::vector<SeriesName> found) {
  return std::make_shared<const SeriesTable>(std::move(found));
}

class SeriesRegistryTest : public testing::Test {
 protected:
  // What rule 0 and rule 1 of both lists found.
  SeriesRegistry::Inputs Inputs(std::shared_ptr<const SeriesTable> first,
                                std::shared_ptr<const SeriesTable> second) {
    return {.custom = {{rules_->custom[0], first}, {rules_->custom[1], second}},
            .external = {{rules_->external[0], first}, {rules_->external[1], second}},
            .mapper = mapper_};
  }
  const kube::ResourceInfo& Pods() { return *mapper_->Find("", "pods"); }

  std::shared_ptr<const rules::CompiledRules> rules_ = CompileOrDie(kTwoRules);
  std::shared_ptr<const kube::RestMapper> mapper_ =
      std::make_shared<const kube::RestMapper>(SmallCluster());
};

TEST_F(SeriesRegistryTest, TheLastRuleThatWritesANameWins) {
  const auto both = SeriesRegistry::Build(
      Inputs(Table({{"a", {"ns", "po"}}}), Table({{"b", {"ns", "po"}}})), nullptr);
  EXPECT_EQ(both->FindCustom(Pods(), true, "same").series, "b");
  EXPECT_EQ(both->FindExternal("ext").series, "b");
  EXPECT_EQ(both->FindExternal("ext").rule, rules_->external[1]);
  // Without the second rule's series the first one is back.
  const auto first = SeriesRegistry::Build(Inputs(Table({{"a", {"ns", "po"}}}), nullptr), nullptr);
  EXPECT_EQ(first->FindCustom(Pods(), true, "same").series, "a");
  EXPECT_EQ(first->FindExternal("ext").series, "a");
}

TEST_F(SeriesRegistryTest, TheLastSeriesOfARuleThatWritesANameWins) {
  const auto built = SeriesRegistry::Build(
      Inputs(Table({{"x", {"ns", "po"}}, {"y", {"ns", "po"}}}), nullptr), nullptr);
  EXPECT_EQ(built->FindCustom(Pods(), true, "same").series, "y");
  EXPECT_THAT(*built->custom_list(), SizeIs(2));  // pods and namespaces
  EXPECT_THAT(built->custom_counts(), ElementsAre(2, 0));
}

TEST_F(SeriesRegistryTest, WhatIsNotThereIsNotFound) {
  const auto built = SeriesRegistry::Build(Inputs(Table({{"a", {"ns", "po"}}}), nullptr), nullptr);
  EXPECT_EQ(built->FindCustom(Pods(), false, "same").rule, nullptr);
  EXPECT_EQ(built->FindCustom(Pods(), true, "other").rule, nullptr);
  EXPECT_EQ(built->FindCustom(*mapper_->Find("", "services"), true, "same").rule, nullptr);
  EXPECT_EQ(built->FindExternal("same").rule, nullptr);
}

TEST_F(SeriesRegistryTest, UnchangedInputsGiveTheSameRegistry) {
  const auto before = SeriesRegistry::Build(Inputs(Table({{"a", {"po"}}}), nullptr), nullptr);
  EXPECT_EQ(SeriesRegistry::Build(Inputs(Table({{"a", {"po"}}}), nullptr), before), before);
}

TEST_F(SeriesRegistryTest, EqualListsKeepTheirPointers) {
  const auto before = SeriesRegistry::Build(Inputs(Table({{"a", {"po"}}}), nullptr), nullptr);
  // Another series behind the same names: a new registry, the same documents.
  const auto after = SeriesRegistry::Build(Inputs(Table({{"z", {"po"}}}), nullptr), before);
  EXPECT_NE(after, before);
  EXPECT_EQ(after->custom_list(), before->custom_list());
  EXPECT_EQ(after->external_list(), before->external_list());
  EXPECT_EQ(after->FindCustom(Pods(), true, "same").series, "z");
}

TEST_F(SeriesRegistryTest, ANewMappingBringsNewResources) {
  mapper_ = std::make_shared<const kube::RestMapper>(
      std::vector<kube::ResourceInfo>{Kind("", "namespaces", "namespace", "Namespace", false)});
  const auto table = Table({{"a", {"ns", "po"}}});
  const auto before = SeriesRegistry::Build(Inputs(table, nullptr), nullptr);
  EXPECT_THAT(*before->custom_list(), SizeIs(1));
  mapper_ = std::make_shared<const kube::RestMapper>(SmallCluster());
  const auto after = SeriesRegistry::Build(Inputs(table, nullptr), before);
  EXPECT_THAT(*after->custom_list(), SizeIs(2));
}

TEST(SeriesTableTest, EqualLabelNamesAreKeptOnce) {
  const SeriesTable table({{"a", {"x", "y"}}, {"b", {"x", "y"}}, {"c", {"x"}}});
  EXPECT_THAT(table.series(), SizeIs(3));
  EXPECT_THAT(table.label_sets(), ElementsAre(ElementsAre("x", "y"), ElementsAre("x")));
}

}  // namespace
}  // namespace flyball::adapter
