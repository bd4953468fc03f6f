#include "scaler/math/overlap.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace flyball::scaler {
namespace {

kube::Selector S(absl::string_view text) { return *kube::Selector::Parse(text); }

TEST(SelectorRegistryTest, NamesEveryAutoscalerThatSelectsAPod) {
  Pod pod;
  pod.ns = "prod";
  pod.labels = {{"app", "web"}};
  const std::vector<const Pod*> pods = {&pod};
  SelectorRegistry registry;
  registry.Register("prod", "web");
  EXPECT_TRUE(registry.Selecting("prod", pods).empty()) << "nothing is selected before a selector";
  registry.Replace("prod", "web", S("app=web"));
  registry.Register("prod", "all");
  registry.Replace("prod", "all", S("app"));
  registry.Register("test", "other");
  registry.Replace("test", "other", S("app"));
  registry.Replace("prod", "unknown", S("app"));
  EXPECT_EQ(registry.Selecting("prod", pods), std::vector<std::string>({"prod/all", "prod/web"}));
  registry.Replace("prod", "all", S("app=db"));
  EXPECT_EQ(registry.Selecting("prod", pods), std::vector<std::string>({"prod/web"}));
  registry.Remove("prod", "web");
  EXPECT_TRUE(registry.Selecting("prod", pods).empty());
  EXPECT_TRUE(registry.Selecting("prod", {}).empty());
}

}  // namespace
}  // namespace flyball::scaler
