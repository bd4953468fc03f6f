#include "apiservice/wire/metric_lists.h"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "absl/time/time.h"

namespace flyball::apiservice::wire {
namespace {

using kube::Operator;
using kube::Requirement;
using kube::Selector;

const absl::Time kThen = absl::FromUnixSeconds(1772600767);  // 2026-03-04T05:06:07Z

adapter::CustomMetricList QueueLength(std::vector<Requirement> requirements = {}) {
  adapter::CustomMetricList list;
  list.metric = "queue_len";
  list.timestamp = kThen;
  list.items = {{{"Pod", "/v1", "shop", "cart-1"}, 1500}};
  list.metric_selector = Selector(std::move(requirements));
  return list;
}

TEST(CustomMetricJsonTest, VersionTwo) {
  EXPECT_EQ(
      ToJson(QueueLength(), "v1beta2"),
      R"({"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta2","metadata":{},"items":[)"
      R"({"describedObject":{"kind":"Pod","namespace":"shop","name":"cart-1","apiVersion":"/v1"},)"
      R"("metric":{"name":"queue_len","selector":null},"timestamp":"2026-03-04T05:06:07Z","value":"1500m"}]})"
      "\n");
}

TEST(CustomMetricJsonTest, VersionOneCarriesTheSelectorLast) {
  EXPECT_EQ(
      ToJson(QueueLength({{"verb", Operator::kEquals, {"GET"}}}), "v1beta1"),
      R"({"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta1","metadata":{},"items":[)"
      R"({"describedObject":{"kind":"Pod","namespace":"shop","name":"cart-1","apiVersion":"/v1"},)"
      R"("metricName":"queue_len","timestamp":"2026-03-04T05:06:07Z","value":"1500m",)"
      R"("selector":{"matchLabels":{"verb":"GET"}}}]})"
      "\n");
}

TEST(CustomMetricJsonTest, ClusterScopeHasNoNamespaceAndNoItemsIsNotNull) {
  adapter::CustomMetricList list = QueueLength();
  list.items[0].object.ns = "";
  EXPECT_EQ(ToJson(list, "v1beta2").find("\"namespace\""), std::string::npos);
  list.items.clear();
  EXPECT_NE(ToJson(list, "v1beta2").find("\"items\":[]}"), std::string::npos);
}

TEST(LabelSelectorJsonTest, ExpressionsKeepTheirOrderAndValues) {
  const Selector selector({{"code", Operator::kNotIn, {"500", "503"}},
                           {"verb", Operator::kDoubleEquals, {"GET"}},
                           {"x", Operator::kExists, {}},
                           {"y", Operator::kDoesNotExist, {}}});
  EXPECT_EQ(LabelSelectorJson(selector),
            R"({"matchLabels":{"verb":"GET"},"matchExpressions":[)"
            R"({"key":"code","operator":"NotIn","values":["500","503"]},)"
            R"({"key":"x","operator":"Exists"},{"key":"y","operator":"DoesNotExist"}]})");
  EXPECT_EQ(LabelSelectorJson(Selector()), "null");
}

TEST(ExternalMetricJsonTest, LabelsMayBeEmptyOrNull) {
  adapter::ExternalMetricList list;
  list.metric = "queue_len";
  list.items = {{adapter::LabelSet{{"queue", "a"}}, kThen, 42000},
                {adapter::LabelSet{}, kThen, 0},
                {std::nullopt, kThen, -1000}};
  EXPECT_EQ(
      ToJson(list),
      R"({"kind":"ExternalMetricValueList","apiVersion":"external.metrics.k8s.io/v1beta1","metadata":{},"items":[)"
      R"({"metricName":"queue_len","metricLabels":{"queue":"a"},"timestamp":"2026-03-04T05:06:07Z","value":"42"},)"
      R"({"metricName":"queue_len","metricLabels":{},"timestamp":"2026-03-04T05:06:07Z","value":"0"},)"
      R"({"metricName":"queue_len","metricLabels":null,"timestamp":"2026-03-04T05:06:07Z","value":"-1"}]})"
      "\n");
}

// The bytes that the Go types of k8s.io/metrics v0.34.4 decode to the same object:
//   0a 00                         metadata {}
//   12 ..                         one item: metricName "q", metricLabels {a: b}, timestamp, value
//   "1"
TEST(ExternalMetricProtobufTest, KnownBytes) {
  adapter::ExternalMetricList list;
  list.metric = "q";
  list.items = {{adapter::LabelSet{{"a", "b"}}, absl::FromUnixSeconds(5), 1000}};
  const std::string item(
      "\x0a\x01q"
      "\x12\x06\x0a\x01"
      "a\x12\x01"
      "b"
      "\x1a\x04\x08\x05\x10\x00"
      "\x2a\x03\x0a\x01"
      "1",
      22);
  const std::string body = ToProtobuf(list);
  EXPECT_EQ(body.substr(0, 4), std::string("k8s\0", 4));
  EXPECT_NE(body.find(std::string("\x0a\x06\x0a\x00\x12\x00\x1a\x00\x12\x16", 10) + item),
            std::string::npos);
}

TEST(MetricListJsonTest, IsJsonWhateverTheNames) {
  adapter::CustomMetricList list = QueueLength({{"k", Operator::kIn, {"<", "\""}}});
  list.metric = "a\"b\n\xff";
  list.items[0].object.name = "\\";
  for (const auto version : {"v1beta1", "v1beta2"}) {
    EXPECT_TRUE(nlohmann::json::accept(ToJson(list, version)));
  }
}

}  // namespace
}  // namespace flyball::apiservice::wire
