#include "cmd/flyball/decide_flags.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "scaler/math/math_config.h"
#include "serve/flags.h"
#include "serve/scaler_flags.h"

namespace flyball::cmd {
namespace {

using Words = std::vector<std::string>;

// The settings that `decide -f` would give to the math.
scaler::MathConfig OfDecide(const Words& words) {
  CLI::App app;
  DecideFlags flags;
  AddDecideFlags(app, flags);
  app.parse(Words(words.rbegin(), words.rend()));
  EXPECT_EQ(ReadDialectFlags("decide", flags.dialect), std::nullopt);
  const scaler::CaseOptions options = CaseOptionsOf(flags, absl::UnixEpoch());
  return scaler::MathConfigOf(options.flags, options.dialect);
}

// The settings that `serve` gives to it for a HorizontalPodAutoscaler, in a cluster of the newest
// version.
scaler::MathConfig OfServe(Words words) {
  words.push_back("--scaler");
  words.push_back("--config=rules.yaml");
  const auto flags = serve::ParseServeFlags(words);
  EXPECT_TRUE(flags.ok()) << flags.status();
  if (!flags.ok()) return {};
  const scaler::ScalerOptions options = serve::ScalerOptionsFrom(flags->scaler);
  const scaler::ServerVersion newest{.minor = scaler::kNewestMinor, .emulated_minor = {}};
  return scaler::MathConfigOf(options.controller, scaler::DialectOf(options.dialect, newest));
}

TEST(DecideFlags, DecideAsServeDoes) {
  const Words more = {"--horizontal-pod-autoscaler-tolerance=0.2",
                      "--horizontal-pod-autoscaler-downscale-stabilization=1m",
                      "--horizontal-pod-autoscaler-cpu-initialization-period=2m",
                      "--horizontal-pod-autoscaler-initial-readiness-delay=3s"};
  for (const Words& words :
       {Words{}, Words{"--kubernetes-version=1.34"}, Words{"--kubernetes-version=1.35"},
        Words{"--kubernetes-version=1.36"}, Words{"--kubernetes-version=1.37"},
        Words{"--kubernetes-version=1.34", "--feature-gates=HPAConfigurableTolerance=true"},
        Words{"--kubernetes-version=1.36", "--feature-gates=HPAScaleToZero=true"},
        Words{"--feature-gates=HPAGeneration=false,PodLevelResources=false"}, more}) {
    EXPECT_EQ(OfDecide(words), OfServe(words)) << testing::PrintToString(words);
  }
  EXPECT_EQ(OfServe(more).tolerance, 0.2);
  EXPECT_TRUE(OfServe({"--kubernetes-version=1.35"}).configurable_tolerance);
  EXPECT_FALSE(OfServe({"--kubernetes-version=1.34"}).configurable_tolerance);
}

TEST(DecideFlags, WhatIsNoDialectIsRefused) {
  for (const Words& words :
       {Words{"--kubernetes-version=1.33"}, Words{"--feature-gates=HPAScaleToZero"},
        Words{"--feature-gates=HPANonsense=true"},
        Words{"--kubernetes-version=1.36", "--feature-gates=HPAGeneration=true"},
        Words{"--kubernetes-version=1.37", "--feature-gates=HPAConfigurableTolerance=false"}}) {
    CLI::App app;
    DecideFlags flags;
    AddDecideFlags(app, flags);
    app.parse(Words(words.rbegin(), words.rend()));
    EXPECT_EQ(ReadDialectFlags("decide", flags.dialect), 2) << testing::PrintToString(words);
    Words served = words;
    served.push_back("--scaler");
    EXPECT_FALSE(serve::ParseServeFlags(served).ok()) << testing::PrintToString(words);
  }
}

}  // namespace
}  // namespace flyball::cmd
