#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "cmd/flyball/commands.h"

namespace flyball::cmd {
namespace {

using testing::HasSubstr;

std::string Write(const std::string& name, const std::string& text) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name);
  std::ofstream(path) << text;
  return path;
}

struct Ran {
  int status = 0;
  std::string out, err;
};

Ran Captured(int (*command)(const Args&), const Args& args) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = command(args);
  std::string out = testing::internal::GetCapturedStdout();
  return {status, std::move(out), testing::internal::GetCapturedStderr()};
}

constexpr char kRules[] =
    "rules:\n- seriesQuery: up\n  resources: {template: <<.Resource>>}\n"
    "  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)\n";

TEST(RunRules, ASeriesThatIsAMetricIsStatus0) {
  const std::string file = Write("explain.yaml", kRules);
  const Ran ran =
      Captured(RunRules, {"explain", "up{namespace=\"shop\",pod=\"web-1\"}", "-f", file});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("  pods/up\n"));
  const Ran json = Captured(RunRules, {"explain", "up{pod=\"web-1\"}", "-f", file, "-o", "json"});
  EXPECT_EQ(json.status, 1);
  EXPECT_THAT(json.out, HasSubstr("\"offered\": false"));
}

TEST(RunRules, WrongWordsAreStatus2) {
  const std::string file = Write("explain.yaml", kRules);
  EXPECT_EQ(Captured(RunRules, {"explain", "up{", "-f", file}).status, 2);
  EXPECT_EQ(Captured(RunRules, {"explain", "up", "-f", "/nonexistent.yaml"}).status, 2);
  EXPECT_EQ(Captured(RunRules, {"explain"}).status, 2);
  const std::string bad = Write("bad.yaml", "rules:\n- foo: 1\n");
  EXPECT_THAT(Captured(RunRules, {"explain", "up", "-f", bad}).err,
              HasSubstr("bad.yaml:2:3: rules[0].foo"));
}

TEST(RunDiff, EqualRulesAre0AndOtherRules1) {
  const std::string was = Write("was.yaml", kRules);
  const std::string is =
      Write("is.yaml", absl::StrCat("rules:\n- seriesQuery: down\n", kRules + 7));
  EXPECT_EQ(Captured(RunDiff, {was, was}).status, 0);
  const Ran ran = Captured(RunDiff, {was, is});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("new: rules[0] "));
  EXPECT_THAT(ran.out, HasSubstr("1 new, 1 the same\n"));
  EXPECT_EQ(Captured(RunDiff, {was, "/nonexistent.yaml"}).status, 2);
}

TEST(RunDiff, AConfigMapIsComparedWithAFile) {
  const std::string file = Write("was.yaml", kRules);
  const std::string map =
      Write("map.yaml",
            "kind: ConfigMap\nmetadata: {name: a}\ndata:\n  config.yaml: |\n    rules:\n"
            "    - seriesQuery: up\n      resources: {template: <<.Resource>>}\n"
            "      metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)\n");
  EXPECT_EQ(Captured(RunDiff, {file, map}).out, "1 the same\n");
}

TEST(RunConvert, ValuesOfTheOtherChart) {
  const std::string file = Write("values.yaml", "psp: {create: true}\nlogLevel: 4\n");
  const Ran ran = Captured(RunConvert, {"values", file});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("values.yaml:1: psp is left out: "));
  EXPECT_THAT(ran.out, HasSubstr("\nlogLevel: 4\n"));
  EXPECT_EQ(Captured(RunConvert, {"values", "/nonexistent.yaml"}).status, 2);
}

TEST(RunConvert, AFileWithoutTheKindIsStatus2) {
  const std::string file = Write("pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n");
  for (const char* kind : {"hpa", "scaledobject", "ksvc", "http"}) {
    const Ran ran = Captured(RunConvert, {kind, file});
    EXPECT_EQ(ran.status, 2) << kind;
    EXPECT_THAT(ran.err, HasSubstr("pod.yaml: no ")) << kind;
    EXPECT_EQ(ran.out, "") << kind;
  }
}

TEST(RunConvert, AsJsonTheObjectsAreOneList) {
  const std::string file =
      Write("hpas.yaml",
            "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\n"
            "spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: "
            "web}}\n");
  const Ran ran = Captured(RunConvert, {"hpa", file, "-o", "json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const auto list = nlohmann::json::parse(ran.out, nullptr, false);
  ASSERT_EQ(list["items"].size(), 1u);
  EXPECT_EQ(list["kind"], "List");
  EXPECT_EQ(list["items"][0]["kind"], "Autoscaler");
}

}  // namespace
}  // namespace flyball::cmd
