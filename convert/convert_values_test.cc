#include "convert/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "base/read_file.h"

namespace flyball::convert {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Conversion Convert(const std::string& text, const std::vector<std::string>& path = {}) {
  const auto schema =
      ReadFile(absl::StrCat(FLYBALL_SOURCE_DIR, "/charts/flyball/values.schema.json"));
  EXPECT_TRUE(schema.ok()) << schema.status();
  return ConvertValues("old.yaml", text, path, *schema);
}

TEST(ConvertValues, WhatBothChartsKnowIsTakenAsItIs) {
  const Conversion got =
      Convert("prometheus: {url: 'http://prometheus', port: 9090}\nlogLevel: 4\n");
  EXPECT_THAT(got.errors, ElementsAre());
  EXPECT_EQ(got.yaml,
            "# All values are taken as they are: both charts know them, with the same meaning.\n"
            "prometheus:\n  url: \"http://prometheus\"\n  port: 9090\nlogLevel: 4\n");
}

TEST(ConvertValues, TheDefaultsOfTheOtherChartAreKnown) {
  const auto text =
      ReadFile(absl::StrCat(FLYBALL_SOURCE_DIR, "/test/data/prometheus-adapter-chart/values.yaml"));
  ASSERT_TRUE(text.ok());
  const Conversion got = Convert(*text);
  EXPECT_THAT(got.errors, ElementsAre());
  EXPECT_THAT(got.yaml, HasSubstr("image.repository is left out: it holds prometheus-adapter"));
  EXPECT_THAT(got.yaml, Not(HasSubstr("no such value")));
}

TEST(ConvertValues, AnImageOfTheOtherProgramIsLeftOut) {
  const Conversion mirrored =
      Convert("image: {repository: mirror.example/k8s-prometheus-adapter-amd64, tag: v0.9.1}\n");
  EXPECT_EQ(mirrored.yaml,
            "# old.yaml:1: image.repository is left out: it holds prometheus-adapter\n"
            "# old.yaml:1: image.tag is left out: it is a tag of prometheus-adapter\n"
            "image: {}\n");
  EXPECT_THAT(Convert("image: {tag: v0.12.0}\n").yaml, HasSubstr("image.tag is left out"));
  EXPECT_THAT(Convert("image: {repository: mirror.example/flyball, tag: v0.12.0}\n").yaml,
              HasSubstr("tag: v0.12.0\n"));
}

TEST(ConvertValues, WhatHasNoPlaceAnyMoreIsSaid) {
  EXPECT_EQ(Convert("psp: {create: true}\nrunAsUser: 1000\nserviceMonitors: {}\n"
                    "rules: {custom: [], nonsense: 1}\n")
                .yaml,
            "# old.yaml:1: psp is left out: Kubernetes has no PodSecurityPolicies any more\n"
            "# old.yaml:2: runAsUser is securityContext.runAsUser here\n"
            "# old.yaml:4: rules.nonsense is left out: the chart has no such value\n"
            "# old.yaml:3: serviceMonitors is left out: the chart has no such value\n"
            "rules:\n  custom: []\nsecurityContext:\n  runAsUser: 1000\n");
}

TEST(ConvertValues, TheUserIsKeptWhereThereIsNoContextYet) {
  EXPECT_EQ(Convert("securityContext:\nrunAsUser: 5\n").yaml,
            "# old.yaml:2: runAsUser is securityContext.runAsUser here\n"
            "securityContext:\n  runAsUser: 5\n");
  EXPECT_EQ(Convert("securityContext: {runAsUser: 1, runAsNonRoot: true}\nrunAsUser: 5\n").yaml,
            "# old.yaml:2: runAsUser is securityContext.runAsUser here\n"
            "securityContext:\n  runAsNonRoot: true\n  runAsUser: 5\n");
}

TEST(ConvertValues, AKeyCannotEndItsComment) {
  EXPECT_EQ(Convert("\"a\\nreplicas: 9\": 1\n").yaml,
            "# old.yaml:1: a replicas: 9 is left out: the chart has no such value\n{}\n");
}

TEST(ConvertValues, AChartAroundTheChartIsNamedByItsKey) {
  const std::string text = "prometheus-adapter: {logLevel: 2}\ngrafana: {}\n";
  EXPECT_THAT(Convert(text, {"prometheus-adapter"}).yaml, HasSubstr("\nlogLevel: 2\n"));
  EXPECT_THAT(Convert(text, {"other"}).errors,
              ElementsAre("old.yaml: --path other: the values have no such key with a mapping"));
}

TEST(ConvertValues, WhatIsNoMappingIsRefused) {
  EXPECT_THAT(Convert("- a\n").errors, ElementsAre(HasSubstr("expected one mapping of values")));
  EXPECT_THAT(Convert("a: {\n").errors, ElementsAre(StartsWith("old.yaml:")));
}

}  // namespace
}  // namespace flyball::convert
