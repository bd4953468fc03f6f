#include "apiservice/endpoints/openapi.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace flyball::apiservice {
namespace {

using nlohmann::json;

void CollectReferences(const json& value, std::set<std::string>* out) {
  if (value.is_object() && value.contains("$ref")) out->insert(value["$ref"].get<std::string>());
  for (const auto& member : value) {
    if (member.is_structured()) CollectReferences(member, out);
  }
}

void ExpectResolved(const json& document) {
  std::set<std::string> references;
  CollectReferences(document, &references);
  EXPECT_FALSE(references.empty());
  for (const std::string& reference : references) {
    EXPECT_TRUE(document.contains(json::json_pointer(reference.substr(1)))) << reference;
  }
}

TEST(OpenApiTest, EveryReferenceLeadsSomewhere) {
  ExpectResolved(json::parse(OpenApiV2Json({{"custom.metrics.k8s.io", "v1beta1"},
                                            {"custom.metrics.k8s.io", "v1beta2"},
                                            {"external.metrics.k8s.io", "v1beta1"},
                                            {"metrics.k8s.io", "v1"},
                                            {"metrics.k8s.io", "v1beta1"}})));
  ExpectResolved(json::parse(OpenApiV3Json({"metrics.k8s.io", "v1"})));
  ExpectResolved(json::parse(OpenApiV3Json({"metrics.k8s.io", "v1beta1"})));
  ExpectResolved(json::parse(OpenApiV3Json({"custom.metrics.k8s.io", "v1beta2"})));
}

TEST(OpenApiTest, ExplainFindsTheKindByItsPath) {
  const json document = json::parse(OpenApiV3Json({"metrics.k8s.io", "v1beta1"}));
  const json kind =
      json::parse(R"({"group":"metrics.k8s.io","kind":"PodMetrics","version":"v1beta1"})");
  EXPECT_EQ(document["paths"]["/apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods/{name}"]
                    ["get"]["x-kubernetes-group-version-kind"],
            kind);
  EXPECT_EQ(document["components"]["schemas"]["io.k8s.metrics.pkg.apis.metrics.v1beta1.PodMetrics"]
                    ["x-kubernetes-group-version-kind"][0],
            kind);
}

TEST(OpenApiTest, BothVersionsOfResourceMetricsHaveTheSamePathsAndFields) {
  json stable = json::parse(OpenApiV3Json({"metrics.k8s.io", "v1"}));
  json beta = json::parse(OpenApiV3Json({"metrics.k8s.io", "v1beta1"}));
  EXPECT_EQ(stable["paths"].size(), 5u);
  EXPECT_EQ(stable["paths"].size(), beta["paths"].size());
  EXPECT_TRUE(stable["paths"].contains("/apis/metrics.k8s.io/v1/nodes/{name}"));
  for (const char* kind : {"PodMetrics", "PodMetricsList", "NodeMetrics", "NodeMetricsList"}) {
    const std::string package = "io.k8s.metrics.pkg.apis.metrics.v1";
    const json& one = stable["components"]["schemas"][package + "." + kind];
    const json& other = beta["components"]["schemas"][package + "beta1." + kind];
    EXPECT_TRUE(one.is_object()) << kind;
    EXPECT_EQ(one["required"], other["required"]) << kind;
    EXPECT_EQ(one["properties"].size(), other["properties"].size()) << kind;
  }
}

TEST(OpenApiTest, OnlyWhatIsServedIsTold) {
  const json document = json::parse(OpenApiV2Json({{"metrics.k8s.io", "v1beta1"}}));
  for (const auto& [path, item] : document["paths"].items()) {
    EXPECT_EQ(path.rfind("/apis/metrics.k8s.io/v1beta1/", 0), 0u) << path;
  }
}

}  // namespace
}  // namespace flyball::apiservice
