#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "scaler/spec/knative/annotations.h"
#include "scaler/spec/knative/config.h"
#include "scaler/spec/knative/settings.h"

namespace flyball::scaler::knative {
namespace {

TextMap Annotations(const std::vector<std::pair<std::string, std::string>>& written) {
  TextMap annotations;
  for (const auto& [name, text] : written) annotations[kDomain + name] = text;
  return annotations;
}

std::string ConfigError(const TextMap& data) {
  return std::string(ReadConfig(data).status().message());
}

std::string AnnotationError(const TextMap& annotations, const Config& config = {}) {
  return std::string(CheckAnnotations(config, annotations).message());
}

TEST(ReadConfigTest, RangesWithTheirEnds) {
  const std::vector<std::pair<const char*, const char*>> good = {
      {"container-concurrency-target-percentage", "100"},
      {"container-concurrency-target-percentage", "0.5"},
      {"container-concurrency-target-default", "0.02"},
      {"requests-per-second-target-default", "0.01"},
      {"target-burst-capacity", "-1"},
      {"target-burst-capacity", "70.5"},
      {"stable-window", "6s"},
      {"stable-window", "3600000ms"},
      {"panic-window-percentage", "1"},
      {"panic-threshold-percentage", "-5"},
      {"max-scale-up-rate", "inf"},
      {"scale-down-delay", "0"},
      {"scale-down-delay", "48h"},
      {"scale-to-zero-grace-period", "1ns"},
      {"enable-scale-to-zero", "F"},
      {"nobody-knows-this", "x"}};
  for (const auto& [key, text] : good) EXPECT_EQ(ConfigError({{key, text}}), "") << key << text;
  const std::vector<std::pair<const char*, const char*>> bad = {
      {"container-concurrency-target-percentage", "100.1"},
      {"container-concurrency-target-percentage", "0"},
      {"container-concurrency-target-default", "0.01"},
      {"requests-per-second-target-default", "0.009"},
      {"target-burst-capacity", "-0.5"},
      {"stable-window", "5s"},
      {"stable-window", "1h1s"},
      {"stable-window", "6500ms"},
      {"panic-window-percentage", "100.5"},
      {"max-scale-up-rate", "1"},
      {"max-scale-down-rate", "1"},
      {"scale-down-delay", "-1s"},
      {"scale-down-delay", "1.5s"},
      {"scale-to-zero-grace-period", "0s"},
      {"scale-to-zero-pod-retention-period", "-1s"},
      {"enable-scale-to-zero", "yes"},
      {"activator-capacity", "0.5"},
      {"initial-scale", "0"},
      {"min-scale", "-1"},
      {"max-scale", "-1"},
      {"max-scale-limit", "-1"},
      {"max-scale-limit", "5"}};  // then max-scale may not be without limit
  for (const auto& [key, text] : bad) EXPECT_NE(ConfigError({{key, text}}), "") << key << text;
}

TEST(ReadConfigTest, ErrorsSayWhichKeyAndWhy) {
  EXPECT_EQ(ConfigError({{"scale-down-delay", "1500ms"}}),
            "scale-down-delay = 1.5s, must be specified with at most second precision");
  EXPECT_EQ(ConfigError({{"activator-capacity", "0"}}),
            "activator-capacity = 0, must be at least 1");
  EXPECT_EQ(ConfigError({{"min-scale", "3"}, {"max-scale", "2"}}),
            "min-scale (3) must be less than max-scale (2)");
  EXPECT_EQ(ConfigError({{"min-scale", "x"}}), "failed to parse \"min-scale\": x");
}

TEST(CheckAnnotationsTest, AllThatIsWrongInOrder) {
  EXPECT_EQ(AnnotationError(Annotations({{"class", kKpaClass},
                                         {"activation-scale", "-3"},
                                         {"metricAggregationAlgorithm", "median"}})),
            "invalid value: median: autoscaling.knative.dev/metricAggregationAlgorithm\n"
            "min-scale=0 is greater than activation-scale=-3: "
            "autoscaling.knative.dev/activation-scale");
  EXPECT_EQ(AnnotationError(Annotations({{"panic-threshold-percentage", "109.9"}})),
            "expected 110 <= 109.9 <= 1000: autoscaling.knative.dev/panic-threshold-percentage");
  EXPECT_EQ(AnnotationError(Annotations({{"initial-scale", "-1"}})),
            "invalid value: -1: autoscaling.knative.dev/initial-scale must be greater than 0");
}

TEST(CheckAnnotationsTest, WhatDependsOnTheClass) {
  EXPECT_NE(AnnotationError(Annotations({{"metric", "cpu"}})), "");
  EXPECT_EQ(AnnotationError(Annotations({{"metric", "cpu"}, {"class", kHpaClass}})), "");
  EXPECT_NE(AnnotationError(Annotations({{"metric", ""}, {"class", kHpaClass}})), "");
  EXPECT_EQ(AnnotationError(Annotations({{"metric", ""}, {"class", "mine"}})), "");
  EXPECT_NE(AnnotationError(Annotations({{"class", "x.knative.dev"}})), "");
  // The algorithm is checked only if the annotations themselves name the class.
  EXPECT_EQ(AnnotationError(Annotations({{"metric-aggregation-algorithm", "median"}})), "");
}

TEST(CheckAnnotationsTest, ScalesAgainstEachOtherAndTheLimit) {
  Config limited;
  limited.max_scale_limit = 10;
  EXPECT_NE(AnnotationError(Annotations({{"max-scale", "0"}}), limited), "");
  EXPECT_NE(AnnotationError(Annotations({{"max-scale", "11"}}), limited), "");
  EXPECT_EQ(AnnotationError(Annotations({{"max-scale", "10"}}), limited), "");
  EXPECT_NE(AnnotationError(Annotations({{"min-scale", "5"}, {"max-scale", "4"}})), "");
  EXPECT_EQ(AnnotationError(Annotations({{"min-scale", "5"}, {"max-scale", "0"}})), "");
  EXPECT_NE(AnnotationError(Annotations({{"activation-scale", "5"}, {"max-scale", "4"}})), "");
  EXPECT_NE(AnnotationError(Annotations({{"min-scale", "2147483648"}})), "");
}

TEST(ResolveSettingsTest, TargetsOfBothMetrics) {
  const auto resolve = [](const TextMap& annotations, int64_t limit) {
    return ResolveSettings(Config(), {.annotations = annotations, .container_concurrency = limit});
  };
  EXPECT_EQ(resolve({}, 0).target, 70);
  EXPECT_EQ(resolve({}, 10).total, 10);
  EXPECT_EQ(resolve(Annotations({{"target", "20"}}), 10).total, 10);
  EXPECT_EQ(resolve(Annotations({{"target", "20"}, {"metric", "rps"}}), 10).total, 20);
  EXPECT_EQ(resolve(Annotations({{"metric", "rps"}}), 0).target, 140);
  EXPECT_EQ(resolve(Annotations({{"target", "0.01"}}), 0).target, 0.01);
}

TEST(ResolveSettingsTest, OlderNamesAndWordsThatDoNotParse) {
  const RequestSettings settings =
      ResolveSettings(Config(), {.annotations = Annotations({{"maxScale", "5"},
                                                             {"min-scale", "x"},
                                                             {"minScale", "3"},
                                                             {"window", "25s"},
                                                             {"scaleDownDelay", "6s"}})});
  EXPECT_EQ(settings.max_scale, 5);
  EXPECT_EQ(settings.min_scale, 0);  // the newer name is present and has precedence, though empty
  EXPECT_EQ(settings.panic_window, absl::Seconds(3));  // 2.5 s, rounded up
  EXPECT_EQ(settings.scale_down_delay, absl::Seconds(6));
}

TEST(ResolveSettingsTest, UnreachableHasNoMinimumAndKeepsNoPod) {
  const TextMap annotations =
      Annotations({{"min-scale", "2"}, {"scale-to-zero-pod-retention-period", "20s"}});
  const RequestSettings away = ResolveSettings(
      Config(), {.annotations = annotations, .reachability = Reachability::kUnreachable});
  EXPECT_EQ(away.min_scale, 0);
  EXPECT_EQ(away.pod_retention, absl::ZeroDuration());
  const RequestSettings unknown = ResolveSettings(Config(), {.annotations = annotations});
  EXPECT_EQ(unknown.min_scale, 2);
  EXPECT_EQ(unknown.pod_retention, absl::Seconds(20));
}

}  // namespace
}  // namespace flyball::scaler::knative
