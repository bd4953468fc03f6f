#include "convert/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "scaler/spec/own/parser.h"

namespace flyball::convert {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string ReadData(absl::string_view name) {
  std::ifstream in(absl::StrCat(FLYBALL_SOURCE_DIR "/test/data/convert/", name));
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

TEST(ConvertHpasTest, TheListComesOutAsTheGoldenFile) {
  const Conversion got = ConvertHpas("hpas.yaml", ReadData("hpas.yaml"), {});
  EXPECT_THAT(got.errors, IsEmpty());
  EXPECT_EQ(got.yaml, ReadData("autoscalers.yaml"));
}

TEST(ConvertHpasTest, WhatComesOutIsAccepted) {
  const auto documents = scaler::ParseDocuments(ReadData("autoscalers.yaml"));
  ASSERT_TRUE(documents.ok());
  ASSERT_EQ(documents->size(), 3u);
  const scaler::OwnParseResult web = scaler::ParseOwnAutoscaler((*documents)[0], {});
  ASSERT_TRUE(web.ok()) << web.decode_error;
  ASSERT_EQ(web.autoscaler->metrics.size(), 3u);
  EXPECT_EQ(web.autoscaler->metrics[0].target.average_value->milli, 500);
  EXPECT_EQ(web.autoscaler->metrics[0].metric.selector_text, "code=200,y=no");
  EXPECT_EQ(web.autoscaler->behavior->scale_down.tolerance->quantity.ToString(), "50m");
}

TEST(ConvertHpasTest, ErrorsHaveAFileAndALine) {
  const Conversion got = ConvertHpas("bad.yaml", ReadData("bad.yaml"), {});
  EXPECT_THAT(
      got.errors,
      ElementsAre("bad.yaml:7: spec.maxReplicas: Invalid value: must be greater than or equal to "
                  "`minReplicas`",
                  "bad.yaml:21: spec.maxReplicas: expected a whole number, got the string \"many\"",
                  testing::StartsWith("bad.yaml:34: spec.metrics[0].external.metric.selector: ")));
}

TEST(ConvertHpasTest, TheModeIsPutIntoEach) {
  const Conversion got = ConvertHpas("x", ReadData("hpas.yaml"), {.mode = "Act", .dialect = {}});
  const auto documents = scaler::ParseDocuments(got.yaml);
  ASSERT_TRUE(documents.ok());
  for (const scaler::Node& document : *documents) {
    EXPECT_EQ(document.Find("spec")->FindText("mode"), "Act");
  }
}

TEST(ConvertHpasTest, ThoseThatKedaMadeAreSkipped) {
  const auto hpa = [](absl::string_view name, absl::string_view owner) {
    return absl::StrCat(
        "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: "
        "{name: ",
        name, ", ownerReferences: [", owner,
        "]}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: "
        "web}, maxReplicas: 3}\n");
  };
  constexpr char kKeda[] =
      "{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, name: web, controller: true}";
  const Conversion got = ConvertHpas(
      "x",
      hpa("keda-hpa-web", kKeda) + hpa("api", "{apiVersion: v1, kind: Queue, name: q, uid: u}"),
      {});
  EXPECT_THAT(got.errors, IsEmpty());
  EXPECT_EQ(got.yaml.find("# not converted: HorizontalPodAutoscaler keda-hpa-web (x:2): KEDA made "
                          "it for ScaledObject web, which `flyball convert scaledobject` takes.\n"),
            0u)
      << got.yaml;
  const auto documents = scaler::ParseDocuments(got.yaml);
  ASSERT_TRUE(documents.ok());
  ASSERT_EQ(documents->size(), 1u);
  EXPECT_EQ((*documents)[0].Find("metadata")->FindText("name"), "api");
}

TEST(ConvertHpasTest, OtherFilesAreRefused) {
  EXPECT_THAT(ConvertHpas("x", "kind: Service\napiVersion: v1", {}).errors,
              ElementsAre("x: no HorizontalPodAutoscaler in it"));
  EXPECT_THAT(ConvertHpas("x", "", {}).errors, ElementsAre("x: no HorizontalPodAutoscaler in it"));
  EXPECT_THAT(ConvertHpas("x", "a: [", {}).errors, ElementsAre(HasSubstr("x:1: column ")));
  EXPECT_THAT(
      ConvertHpas("x", "kind: HorizontalPodAutoscaler\napiVersion: autoscaling/v2beta2", {}).errors,
      ElementsAre(HasSubstr("no longer served since Kubernetes 1.26")));
}

}  // namespace
}  // namespace flyball::convert
