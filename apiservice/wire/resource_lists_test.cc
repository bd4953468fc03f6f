#include "apiservice/wire/resource_lists.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "absl/strings/escaping.h"

namespace flyball::apiservice::wire {
namespace {

const absl::Time kMeasured = absl::FromUnixSeconds(1772600767);  // 2026-03-04T05:06:07Z
const absl::Time kNow = absl::FromUnixSeconds(1772600768);

adapter::PodMetrics Cart() {
  auto meta = std::make_shared<kube::ObjectMeta>();
  meta->ns = "shop";
  meta->name = "cart-1";
  meta->labels = {{"app", "cart"}};
  // 12m + 1 core; 100Mi + 28Mi.
  return {meta,
          kMeasured,
          absl::Minutes(1),
          {{"c", {12, int64_t{104857600} * 1000}}, {"d", {1000, int64_t{29360128} * 1000}}}};
}

adapter::NodeMetrics NodeOne() {
  auto meta = std::make_shared<kube::ObjectMeta>();
  meta->name = "n1";
  return {meta, kMeasured, absl::Seconds(15), {1500, int64_t{2147483648} * 1000}};
}

TEST(PodMetricsJsonTest, ListHasFieldsInGoOrder) {
  EXPECT_EQ(
      ListJson(std::vector{Cart()}, "v1beta1", kNow),
      R"({"kind":"PodMetricsList","apiVersion":"metrics.k8s.io/v1beta1","metadata":{},"items":[{"metadata":{)"
      R"("name":"cart-1","namespace":"shop","creationTimestamp":"2026-03-04T05:06:08Z","labels":{"app":"cart"}},)"
      R"("timestamp":"2026-03-04T05:06:07Z","window":"1m0s","containers":[{"name":"c","usage":{"cpu":"12m","memory":"100Mi"}},)"
      R"({"name":"d","usage":{"cpu":"1","memory":"28Mi"}}]}]})"
      "\n");
}

TEST(NodeMetricsJsonTest, SingleObjectNamesItsKind) {
  EXPECT_EQ(
      ObjectJson(NodeOne(), "v1beta1", kNow),
      R"({"kind":"NodeMetrics","apiVersion":"metrics.k8s.io/v1beta1","metadata":{"name":"n1",)"
      R"("creationTimestamp":"2026-03-04T05:06:08Z"},"timestamp":"2026-03-04T05:06:07Z","window":"15s",)"
      R"("usage":{"cpu":"1500m","memory":"2Gi"}})"
      "\n");
}

TEST(TableJsonTest, PodRowsSumTheContainers) {
  const std::string table =
      TableJson(std::vector{Cart()}, "v1beta1", "v1", IncludeObject::kMetadata, kNow);
  EXPECT_NE(table.find(R"("cells":["cart-1","1012m","128Mi","1m0s"])"), std::string::npos) << table;
  EXPECT_NE(
      table.find(R"("object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",)"),
      std::string::npos);
  EXPECT_EQ(
      TableJson(std::vector<adapter::PodMetrics>(), "v1beta1", "v1", IncludeObject::kMetadata,
                kNow),
      R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},"columnDefinitions":null,"rows":null})"
      "\n");
}

TEST(TableJsonTest, RowsHoldAsMuchOfTheObjectAsIsAskedFor) {
  const std::string all =
      TableJson(std::vector{NodeOne()}, "v1beta1", "v1", IncludeObject::kObject, kNow);
  std::string one = ObjectJson(NodeOne(), "v1beta1", kNow);
  one.pop_back();  // the line's end
  EXPECT_NE(all.find("\"object\":" + one + "}]}"), std::string::npos) << all;
  const std::string none =
      TableJson(std::vector{Cart()}, "v1beta1", "v1", IncludeObject::kNone, kNow);
  EXPECT_NE(none.find(R"("1m0s"],"object":null}]})"), std::string::npos) << none;
}

TEST(NodeMetricsJsonTest, OfV1OnlyTheApiVersionDiffers) {
  std::string v1 = ObjectJson(NodeOne(), "v1", kNow);
  const size_t at = v1.find("metrics.k8s.io/v1\"");
  ASSERT_NE(at, std::string::npos) << v1;
  v1.insert(at + 17, "beta1");
  EXPECT_EQ(v1, ObjectJson(NodeOne(), "v1beta1", kNow));
  EXPECT_NE(ListJson(std::vector{NodeOne()}, "v1", kNow).find("metrics.k8s.io/v1\""),
            std::string::npos);
  EXPECT_NE(TableJson(std::vector{Cart()}, "v1", "v1beta1", IncludeObject::kObject, kNow)
                .find(R"("kind":"PodMetrics","apiVersion":"metrics.k8s.io/v1")"),
            std::string::npos);
}

TEST(NodeMetricsProtobufTest, TheEnvelopeNamesTheVersion) {
  const std::string v1 = ObjectProtobuf(NodeOne(), "v1", kNow);
  EXPECT_NE(v1.find(std::string("\x11metrics.k8s.io/v1\x12", 19)), std::string::npos)
      << absl::CHexEscape(v1);
}

TEST(NodeMetricsProtobufTest, MetadataHasGosEmptyFields) {
  // name n1, then generateName to resourceVersion "", generation 0, creationTimestamp.
  const std::string metadata("\x0a\x02n1\x12\x00\x1a\x00\x22\x00\x2a\x00\x32\x00\x38\x00\x42", 17);
  const std::string body = ObjectProtobuf(NodeOne(), "v1beta1", kNow);
  EXPECT_NE(body.find(metadata), std::string::npos) << absl::CHexEscape(body);
}

}  // namespace
}  // namespace flyball::apiservice::wire
