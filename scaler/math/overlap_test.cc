#include "scaler/math/pods.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace flyball::scaler {
namespace {

kube::Selector S(absl::string_view text) { return *kube::Selector::Parse(text); }

TEST(SelectingTest, NamesEveryAutoscalerThatSelectsAPod) {
  Pod pod;
  pod.ns = "prod";
  pod.labels = {{"app", "web"}};
  const std::vector<const Pod*> pods = {&pod};
  Selectors selectors;
  EXPECT_TRUE(Selecting(selectors, "prod", pods).empty())
      << "nothing is selected before a selector";
  selectors[{"prod", "web"}] = S("app=web");
  selectors[{"prod", "all"}] = S("app");
  selectors[{"test", "other"}] = S("app");
  EXPECT_EQ(Selecting(selectors, "prod", pods), std::vector<std::string>({"prod/all", "prod/web"}));
  selectors[{"prod", "all"}] = S("app=db");
  EXPECT_EQ(Selecting(selectors, "prod", pods), std::vector<std::string>({"prod/web"}));
  selectors.erase({"prod", "web"});
  EXPECT_TRUE(Selecting(selectors, "prod", pods).empty());
  EXPECT_TRUE(Selecting(selectors, "prod", {}).empty());
}

}  // namespace
}  // namespace flyball::scaler
