#include "serve/connections.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace flyball::serve {
namespace {

bool Shared(std::vector<std::string> args) {
  args.push_back("--config=c.yaml");
  const auto flags = ParseServeFlags(args);
  EXPECT_TRUE(flags.ok()) << flags.status();
  return ScalerWatchesAllPods(*flags);
}

TEST(ScalerWatchesAllPodsTest, WhereItSeesThemAllWithTheSameCredentials) {
  EXPECT_TRUE(Shared({"--scaler"}));
  EXPECT_TRUE(Shared({"--scaler", "--lister-kubeconfig=k"}));
  EXPECT_TRUE(Shared({"--scaler", "--lister-kubeconfig=k", "--scaler-kubeconfig=k"}));
}

TEST(ScalerWatchesAllPodsTest, NotWhereItIsAnotherOrSeesLess) {
  EXPECT_FALSE(Shared({}));
  EXPECT_FALSE(Shared({"--scaler", "--scaler-kubeconfig=s"}));
  EXPECT_FALSE(Shared({"--scaler", "--lister-kubeconfig=k", "--scaler-kubeconfig=s"}));
  EXPECT_FALSE(Shared({"--scaler", "--scaler-namespace=shop"}));
}

}  // namespace
}  // namespace flyball::serve
