#include "adapter/live/formats/otlp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/str_join.h"
#include "adapter/live/formats/otlp_answers.h"
#include "adapter/live/formats/otlp_attributes.h"
#include "adapter/live/formats/otlp_series.h"
#include "adapter/live/formats/testing/write_request.h"
#include "promql/engine/series.h"
#include "promql/text.h"

namespace flyball::formats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// What a request held, as lines of text: resources, metrics, and the samples of their points.
class Lines : public OtlpSink {
 public:
  explicit Lines(std::vector<std::string> promoted = {}) : labels_(std::move(promoted)) {}

  void OnResource(const OtlpAttributes& attributes) override {
    labels_.SetResource(attributes);
    const auto target = labels_.OfTarget();
    lines.push_back(absl::StrCat("resource ", Describe(target)));
  }
  void OnMetric(const OtlpMetric& metric) override {
    metric_ = metric;
    lines.push_back(absl::StrCat(
        "metric ", metric.name, " unit:", metric.unit, " kind:", static_cast<int>(metric.kind),
        metric.monotonic ? " rising" : "", " temporality:", static_cast<int>(metric.temporality),
        " points:", metric.points));
  }
  void OnPoint(OtlpPoint& point) override {
    if (metric_.kind == OtlpKind::kExponentialHistogram) {
      point.status.Update(ExpandExponents(point));
    }
    const auto labels = labels_.OfPoint(point.attributes);
    lines.push_back(absl::StrCat(point.start_ns, "-", point.time_ns, " ", Describe(labels),
                                 point.status.ok() ? "" : " ! ", point.status.message()));
    if (!labels.ok() || !point.status.ok()) return;
    ForEachOtlpSample(
        "m", metric_.kind, *labels, point, [&](const std::vector<LabelView>& views, double value) {
          std::string line(views.front().value);
          for (const LabelView& view : views) {
            const bool bound = view.name == "le" || view.name == "quantile";
            if (bound) absl::StrAppend(&line, " ", view.name, "=", view.value);
          }
          absl::StrAppend(&line, " ",
                          promql::IsStale(value) ? "stale" : promql::FormatValue(value));
          lines.push_back(line);
        });
  }
  void OnResourceEnd() override { lines.push_back("end"); }

  std::vector<std::string> lines;

 private:
  static std::string Describe(const absl::StatusOr<promql::LabelSet>& labels) {
    return labels.ok() ? promql::FormatLabels(*labels)
                       : absl::StrCat("! ", labels.status().message());
  }

  OtlpLabels labels_;
  OtlpMetric metric_;
};

std::vector<std::string> Read(OtlpEncoding encoding, const std::string& message,
                              std::vector<std::string> promoted = {}) {
  Lines sink(std::move(promoted));
  const absl::Status status = ReadOtlp(encoding, message, sink);
  if (!status.ok()) sink.lines.push_back(absl::StrCat("! ", status.message()));
  return sink.lines;
}

Message Attribute(const std::string& key, const Message& value) {
  return Message().Bytes(1, key).Add(2, value);
}
Message TextAttribute(const std::string& key, const std::string& text) {
  return Attribute(key, Message().Bytes(1, text));
}

// A request with metrics of one resource.
std::string Request(const std::vector<Message>& metrics, const Message& resource = {}) {
  Message scope = Message().Add(1, Message().Bytes(1, "scope"));
  for (const Message& metric : metrics) scope.Add(2, metric);
  return Message().Add(1, Message().Add(2, scope).Add(1, resource)).bytes();
}
std::string JsonRequest(const std::string& metrics, const std::string& resource = "{}") {
  return absl::StrCat(R"({"resourceMetrics":[{"scopeMetrics":[{"scope":{},"metrics":[)", metrics,
                      R"(]}],"resource":)", resource, "}]}");
}

const Message kGaugePoint = Message()
                                .Bits(2, 1'000'000)
                                .Bits(3, 2'999'999)
                                .Double(4, 1.5)
                                .Add(7, TextAttribute("a.b", "x"));

TEST(ReadOtlp, AGaugeAndASumInBothEncodings) {
  const Message gauge = Message().Bytes(1, "g").Bytes(3, "s").Add(5, Message().Add(1, kGaugePoint));
  const Message point = Message().Bits(3, 5).Bits(6, static_cast<uint64_t>(-7));
  const Message sum = Message().Add(7, Message().Varint(2, 2).Add(1, point).Varint(3, 1));
  const Message resource = Message()
                               .Add(1, TextAttribute("service.name", "shop"))
                               .Add(1, TextAttribute("service.namespace", "eu"))
                               .Add(1, TextAttribute("service.instance.id", "i"))
                               .Add(1, TextAttribute("host.name", "h"));
  const auto expected = ElementsAre(R"(resource {host_name="h", instance="i", job="eu/shop"})",
                                    "metric g unit:s kind:1 temporality:0 points:1",
                                    R"(1000000-2999999 {a_b="x", instance="i", job="eu/shop"})",
                                    "m 1.5", "metric  unit: kind:2 rising temporality:2 points:1",
                                    R"(0-5 {instance="i", job="eu/shop"})", "m -7", "end");
  EXPECT_THAT(Read(OtlpEncoding::kProtobuf, Request({gauge, sum}, resource)), expected);
  const std::string json = JsonRequest(
      R"({"name":"g","unit":"s","later":[1],"gauge":{"dataPoints":[{"startTimeUnixNano":"1000000",
          "timeUnixNano":2999999,"asDouble":1.5,
          "attributes":[{"key":"a.b","value":{"stringValue":"x"}}]}]}},
         {"sum":{"dataPoints":[{"timeUnixNano":"5","asInt":"-7"}],"isMonotonic":true,
          "aggregationTemporality":2}})",
      R"({"attributes":[{"key":"service.name","value":{"stringValue":"shop"}},
          {"key":"service.namespace","value":{"stringValue":"eu"}},
          {"key":"service.instance.id","value":{"stringValue":"i"}},
          {"key":"host.name","value":{"stringValue":"h"}}]})");
  EXPECT_THAT(Read(OtlpEncoding::kJson, json), expected);
}

TEST(ReadOtlp, AHistogramInBothEncodings) {
  const std::string bounds =
      Message().Double(1, 0.5).bytes().substr(1) + Message().Double(1, 10).bytes().substr(1);
  std::string counts;
  for (const uint64_t count : {1, 2, 3}) counts += Message().Bits(1, count).bytes().substr(1);
  const Message point =
      Message().Bits(4, 6).Double(5, 12.5).Bytes(6, counts).Bytes(7, bounds).Bits(3, 9);
  const Message histogram = Message().Add(9, Message().Varint(2, 1).Add(1, point));
  const auto expected = ElementsAre("resource {}", "metric  unit: kind:3 temporality:1 points:1",
                                    "0-9 {}", "m_sum 12.5", "m_count 6", "m_bucket le=0.5 1",
                                    "m_bucket le=10 3", "m_bucket le=+Inf 6", "end");
  EXPECT_THAT(Read(OtlpEncoding::kProtobuf, Request({histogram})), expected);
  EXPECT_THAT(
      Read(OtlpEncoding::kJson,
           JsonRequest(
               R"({"histogram":{"aggregationTemporality":1,"dataPoints":[{"timeUnixNano":"9",
                     "count":"6","sum":12.5,"explicitBounds":[0.5,"10"],
                     "bucketCounts":["1",2,"3"]}]}})")),
      expected);
}

TEST(ReadOtlp, AHistogramWhoseBoundsDoNotRiseIsRefused) {
  EXPECT_THAT(
      Read(
          OtlpEncoding::kJson,
          JsonRequest(
              R"({"histogram":{"dataPoints":[{"explicitBounds":[2,1],"bucketCounts":[1,1,1]}]}})")),
      testing::Contains("0-0 {} ! the bounds of a histogram do not rise"));
}

TEST(ReadOtlp, ASummaryInBothEncodings) {
  const Message point =
      Message().Bits(4, 2).Double(5, 3).Add(6, Message().Double(1, 0.99).Double(2, 7));
  const Message summary = Message().Add(11, Message().Add(1, point));
  const auto expected = ElementsAre("resource {}", "metric  unit: kind:5 temporality:0 points:1",
                                    "0-0 {}", "m_sum 3", "m_count 2", "m quantile=0.99 7", "end");
  EXPECT_THAT(Read(OtlpEncoding::kProtobuf, Request({summary})), expected);
  EXPECT_THAT(Read(OtlpEncoding::kJson, JsonRequest(
                                            R"({"summary":{"dataPoints":[{"count":2,"sum":3,
                      "quantileValues":[{"quantile":0.99,"value":7}]}]}})")),
              expected);
}

// Scale 1: a bucket ends where the square root of 2 is raised by one. 2^-1, 2^-0.5, 1.
TEST(ReadOtlp, AnExponentialHistogramBecomesAClassicOneInBothEncodings) {
  const Message buckets = Message().Varint(1, 3).Packed(2, {0, 4, 5});  // offset -2, zigzag
  const Message negative = Message().Varint(1, 0).Packed(2, {2});
  const Message point =
      Message().Bits(4, 14).Varint(6, 2).Bits(7, 3).Add(8, buckets).Add(9, negative);
  const Message histogram = Message().Add(10, Message().Varint(2, 2).Add(1, point));
  const auto expected =
      ElementsAre("resource {}", "metric  unit: kind:4 temporality:2 points:1", "0-0 {}",
                  "m_count 14", "m_bucket le=-1.4142135623730951 0", "m_bucket le=-1 2",
                  "m_bucket le=0 5", "m_bucket le=0.7071067811865476 5", "m_bucket le=1 9",
                  "m_bucket le=1.4142135623730951 14", "m_bucket le=+Inf 14", "end");
  EXPECT_THAT(Read(OtlpEncoding::kProtobuf, Request({histogram})), expected);
  EXPECT_THAT(
      Read(OtlpEncoding::kJson,
           JsonRequest(
               R"({"exponentialHistogram":{"aggregationTemporality":2,"dataPoints":[{"count":14,
                      "scale":1,"zeroCount":"3","positive":{"offset":-2,"bucketCounts":[0,4,"5"]},
                      "negative":{"bucketCounts":["2"]}}]}})")),
      expected);
}

TEST(ExpandExponents, AFinerScaleIsAddedUp) {
  OtlpPoint point;
  point.scale = 5;  // four buckets of it are one of scale 3
  point.positive = {-1, {1, 2, 3, 4, 5, 6}};
  ASSERT_TRUE(ExpandExponents(point).ok());
  ASSERT_EQ(point.buckets.size(), 4u);
  EXPECT_EQ(point.buckets[0].upper, std::exp2(-1.0 / 8));
  EXPECT_EQ(point.buckets[1].upper, 1);
  EXPECT_EQ(point.buckets[1].count, 1);
  EXPECT_EQ(point.buckets[2].upper, std::exp2(1.0 / 8));
  EXPECT_EQ(point.buckets[2].count, 2 + 3 + 4 + 5);
  EXPECT_EQ(point.buckets[3].count, 6);
}

TEST(ExpandExponents, TheEdgesOfTheRange) {
  OtlpPoint point;
  point.scale = std::numeric_limits<int32_t>::max();
  point.positive = {std::numeric_limits<int32_t>::max(), {1, 1}};
  EXPECT_TRUE(ExpandExponents(point).ok());
  point.scale = -4;  // a bucket spans 16 powers of two: beyond the largest double
  EXPECT_TRUE(ExpandExponents(point).ok());
  EXPECT_THAT(point.buckets, testing::IsEmpty());
  point.scale = -5;
  EXPECT_THAT(ExpandExponents(point).message(), HasSubstr("scale -5"));
  point.scale = 3;
  point.positive = {0, std::vector<uint64_t>(kMaxBuckets, 1)};
  EXPECT_TRUE(ExpandExponents(point).ok());
  point.positive.counts.push_back(1);
  EXPECT_THAT(ExpandExponents(point).message(), HasSubstr("more than 1024 buckets"));
}

TEST(ReadOtlp, NoRecordedValueIsAStalenessMarker) {
  const Message point = Message().Bits(3, 5).Varint(8, 1);
  EXPECT_THAT(Read(OtlpEncoding::kProtobuf, Request({Message().Add(5, Message().Add(1, point))})),
              testing::Contains("m stale"));
  EXPECT_THAT(Read(OtlpEncoding::kJson,
                   JsonRequest(R"({"histogram":{"dataPoints":[{"flags":1,"sum":0}]}})")),
              ElementsAre("resource {}", "metric  unit: kind:3 temporality:0 points:1", "0-0 {}",
                          "m_sum stale", "m_count stale", "m_bucket le=+Inf stale", "end"));
}

TEST(ReadOtlp, ValuesOfAttributesBecomeText) {
  const Message list = Message().Add(1, Message().Varint(3, 12)).Add(1, Message());
  const Message map =
      Message().Add(1, TextAttribute("z", "\x01\"")).Add(1, Attribute("a", Message().Add(5, list)));
  Message point = Message()
                      .Add(7, Attribute("bool", Message().Varint(2, 1)))
                      .Add(7, Attribute("int", Message().Varint(3, static_cast<uint64_t>(-5))))
                      .Add(7, Attribute("double", Message().Double(4, 1.5e-7)))
                      .Add(7, Attribute("map", Message().Add(6, map)))
                      .Add(7, Attribute("bytes", Message().Bytes(7, "\xff\x01")))
                      .Add(7, Attribute("none", Message()));
  EXPECT_THAT(Read(OtlpEncoding::kProtobuf, Request({Message().Add(5, Message().Add(1, point))})),
              testing::Contains(R"(0-0 {bool="true", bytes="/wE=", double="1.5e-7", int="-5", )"
                                R"(map="{\"a\":[12,null],\"z\":\"\\u0001\\\"\"}", none=""})"));
  EXPECT_THAT(Read(OtlpEncoding::kJson, JsonRequest(R"({"gauge":{"dataPoints":[{"attributes":[
                  {"key":"bool","value":{"boolValue":true}},{"key":"int","value":{"intValue":"-5"}},
                  {"key":"double","value":{"doubleValue":1.5e-7}},
                  {"key":"map","value":{"kvlistValue":{"values":[
                     {"key":"z","value":{"stringValue":"\u0001\""}},
                     {"key":"a","value":{"arrayValue":{"values":[{"intValue":12},{}]}}}]}}},
                  {"key":"bytes","value":{"bytesValue":"/wE="}}]}]}})")),
              testing::Contains(R"(0-0 {bool="true", bytes="/wE=", double="1.5e-7", int="-5", )"
                                R"(map="{\"a\":[12,null],\"z\":\"\\u0001\\\"\"}"})"));
}

TEST(ReadOtlp, ZerosKeepTheirSignsInJson) {
  EXPECT_THAT(Read(OtlpEncoding::kJson, JsonRequest(R"({"gauge":{"dataPoints":[{"attributes":[
                  {"key":"a","value":{"doubleValue":-0}},{"key":"b","value":{"doubleValue": -0 }},
                  {"key":"c","value":{"intValue":-0}},{"key":"d","value":{"doubleValue":1e-0}},
                  {"key":"e","value":{"stringValue":"\\\":-0,"}}],"asInt":-0}]}})")),
              testing::Contains(R"(0-0 {a="-0", b="-0", c="0", d="1", e="\\\":-0,"})"));
}

TEST(OtlpLabels, NamesThatBecomeOneAreJoinedAndTheResourceWins) {
  OtlpLabels labels({"k8s.pod.name", "x"});
  labels.SetResource({{"service.name", "s"}, {"k8s.pod.name", "pod"}, {"x", "resource"}});
  EXPECT_EQ(promql::FormatLabels(*labels.OfPoint(
                {{"b_a", "2"}, {"b.a", "1"}, {"x", "point"}, {"job", "mine"}, {"__name__", "no"}})),
            R"({b_a="1;2", job="s", k8s_pod_name="pod", x="point"})");
  EXPECT_THAT(labels.OfPoint({{"", "1"}}).status().message(), HasSubstr("no letter or digit"));
  EXPECT_THAT(labels.OfPoint({{"a", "\xff"}}).status().message(), HasSubstr("not UTF-8"));
  // Neither job nor instance: nothing to describe.
  labels.SetResource({{"host.name", "h"}});
  EXPECT_TRUE(labels.OfTarget()->empty());
}

TEST(ReadOtlp, WhatIsNoRequestIsRefused) {
  EXPECT_THAT(Read(OtlpEncoding::kProtobuf, "\x0a\x05xx"),
              ElementsAre("! the body is no export request of OTLP metrics in protobuf"));
  for (const char* text : {"", "[]", "{", R"({"resourceMetrics":{}})",
                           R"({"resourceMetrics":[{"resource":1}]})", "{}x"}) {
    EXPECT_THAT(Read(OtlpEncoding::kJson, text),
                ElementsAre("! the body is no export request of OTLP metrics in JSON"))
        << text;
  }
  EXPECT_THAT(Read(OtlpEncoding::kJson, R"({"resourceMetrics":null,"unknown":[{}]})"),
              ElementsAre());
}

TEST(ReadOtlp, DeepAttributesAreRefused) {
  Message value = Message().Bytes(1, "x");
  for (int i = 0; i < 100; ++i) value = Message().Add(5, Message().Add(1, value));
  const Message point = Message().Add(7, Attribute("a", value));
  EXPECT_THAT(Read(OtlpEncoding::kProtobuf, Request({Message().Add(5, Message().Add(1, point))})),
              testing::Contains(HasSubstr("no export request")));
}

// What was read of the attributes of the first resource.
struct ReadAttributes : OtlpSink {
  void OnResource(const OtlpAttributes& of_resource) override { attributes = of_resource; }
  void OnMetric(const OtlpMetric&) override {}
  void OnPoint(OtlpPoint& of_metric) override { point = of_metric; }
  void OnResourceEnd() override {}
  OtlpAttributes attributes;
  OtlpPoint point;
};

TEST(ReadOtlp, NoMoreAttributesAreReadThanMayBe) {
  Message resource;
  std::string json;
  for (size_t i = 0; i < kMaxAttributes + 100; ++i) {
    resource.Add(1, Message());
    absl::StrAppend(&json, json.empty() ? "" : ",", "{}");
  }
  ReadAttributes read, of_json;
  ASSERT_TRUE(ReadOtlp(OtlpEncoding::kProtobuf, Request({}, resource), read).ok());
  EXPECT_EQ(read.attributes.size(), kMaxAttributes + 1);
  ASSERT_TRUE(ReadOtlp(OtlpEncoding::kJson,
                       JsonRequest("{}", absl::StrCat(R"({"attributes":[)", json, "]}")), of_json)
                  .ok());
  EXPECT_EQ(of_json.attributes.size(), kMaxAttributes + 1);
  OtlpLabels labels({});
  EXPECT_THAT(labels.OfPoint(read.attributes).status().message(), HasSubstr("256 attributes"));
  labels.SetResource(read.attributes);
  EXPECT_THAT(labels.OfPoint({}).status().message(), HasSubstr("256 attributes"));
}

TEST(ReadOtlp, NoMoreItemsOfAnAttributeAreReadThanALabelHasRoomFor) {
  Message list, lists;
  std::string json;
  for (size_t i = 0; i < 1000; ++i) {
    list.Add(1, Message());
    absl::StrAppend(&json, json.empty() ? "" : ",", "{}");
  }
  for (int i = 0; i < 3; ++i) lists.Add(1, Message().Add(5, list));
  json = absl::StrCat(R"({"arrayValue":{"values":[)", json, "]}}");
  json = absl::StrCat(R"({"arrayValue":{"values":[)", json, ",", json, ",", json, "]}}");
  const Message resource = Message()
                               .Add(1, Attribute("items", Message().Add(5, lists)))
                               .Add(1, TextAttribute("text", std::string(4097, 'x')))
                               .Add(1, TextAttribute("fits", std::string(4096, 'x')));
  ReadAttributes read, of_json;
  ASSERT_TRUE(ReadOtlp(OtlpEncoding::kProtobuf, Request({}, resource), read).ok());
  ASSERT_EQ(read.attributes.size(), 3u);
  EXPECT_TRUE(read.attributes[0].too_long);
  EXPECT_TRUE(read.attributes[1].too_long);
  EXPECT_EQ(read.attributes[1].value, "");
  EXPECT_FALSE(read.attributes[2].too_long);
  ASSERT_TRUE(ReadOtlp(OtlpEncoding::kJson,
                       JsonRequest("{}", absl::StrCat(R"({"attributes":[{"key":"items","value":)",
                                                      json, "}]}")),
                       of_json)
                  .ok());
  ASSERT_EQ(of_json.attributes.size(), 1u);
  EXPECT_TRUE(of_json.attributes[0].too_long);
}

// A text is counted even if a later one with the same key replaces it, since both would be copied.
TEST(ReadOtlp, NoMoreTextOfAnAttributeIsReadThanALabelHasRoomFor) {
  const std::string half(3000, 'x'), whole(5000, 'x');
  const Message list = Message().Add(1, Message().Bytes(1, half)).Add(1, Message().Bytes(7, half));
  const Message twice = Message().Add(1, TextAttribute("k", half)).Add(1, TextAttribute("k", half));
  const Message resource = Message()
                               .Add(1, Attribute("list", Message().Add(5, list)))
                               .Add(1, Attribute("map", Message().Add(6, twice)))
                               .Add(1, Attribute("bytes", Message().Bytes(7, whole)))
                               .Add(1, TextAttribute(whole, "x"));
  const auto text = [](const std::string& value) {
    return absl::StrCat(R"({"stringValue":")", value, R"("})");
  };
  const auto attribute = [](const std::string& key, const std::string& value) {
    return absl::StrCat(R"({"key":")", key, R"(","value":)", value, "}");
  };
  const auto values = [](const std::string& kind, const std::string& item) {
    return absl::StrCat(R"({")", kind, R"(":{"values":[)", item, ",", item, "]}}");
  };
  const std::string json =
      absl::StrJoin({attribute("list", values("arrayValue", text(half))),
                     attribute("map", values("kvlistValue", attribute("k", text(half)))),
                     attribute("bytes", absl::StrCat(R"({"bytesValue":")", whole, R"("})")),
                     attribute(whole, text("x"))},
                    ",");
  ReadAttributes read, of_json;
  ASSERT_TRUE(ReadOtlp(OtlpEncoding::kProtobuf, Request({}, resource), read).ok());
  ASSERT_TRUE(ReadOtlp(OtlpEncoding::kJson,
                       JsonRequest("{}", absl::StrCat(R"({"attributes":[)", json, "]}")), of_json)
                  .ok());
  for (const OtlpAttributes& attributes : {read.attributes, of_json.attributes}) {
    ASSERT_EQ(attributes.size(), 4u);
    for (const OtlpAttribute& one : attributes) {
      EXPECT_TRUE(one.too_long) << one.key;
      EXPECT_LE(one.key.size(), 256u);
      EXPECT_EQ(one.value, "") << one.key;
    }
  }
}

TEST(ReadOtlp, AKeyMayHaveAsManyCharactersAsALabelsName) {
  std::string key = "a";
  for (int i = 0; i < 255; ++i) key += "\U0001f600";  // as many bytes as a character may have
  ReadAttributes read;
  const Message resource = Message().Add(1, TextAttribute(key, "x"));
  ASSERT_TRUE(ReadOtlp(OtlpEncoding::kProtobuf, Request({}, resource), read).ok());
  EXPECT_EQ(OtlpLabels({}).OfPoint(read.attributes)->at(0).first.size(), 256u);
}

TEST(OtlpLabels, OfALongKeyOnlyTheBeginningIsRepeated) {
  const std::string key(1000, '\x01');
  for (const char* value : {"x", "\xff"}) {
    const auto labels = OtlpLabels({}).OfPoint({{key, value}});
    EXPECT_LT(labels.status().message().size(), 2000u) << value;
  }
}

TEST(ReadOtlp, NoMoreCountsAreReadThanMayBe) {
  const std::string counts(kMaxExponents + 1000, '\0');
  const Message exponential =
      Message().Add(10, Message().Add(1, Message().Add(8, Message().Bytes(2, counts))));
  ReadAttributes read;
  ASSERT_TRUE(ReadOtlp(OtlpEncoding::kProtobuf, Request({exponential}), read).ok());
  EXPECT_EQ(read.point.positive.counts.size(), kMaxExponents + 1);
  EXPECT_THAT(ExpandExponents(read.point).message(), HasSubstr("more than 16384 counts"));
  Message point;
  for (size_t i = 0; i <= kMaxBuckets; ++i) point.Add(6, Message());
  const Message summary = Message().Add(11, Message().Add(1, point));
  ASSERT_TRUE(ReadOtlp(OtlpEncoding::kProtobuf, Request({summary}), read).ok());
  EXPECT_EQ(read.point.quantiles.size(), kMaxBuckets);
  EXPECT_THAT(read.point.status.message(), HasSubstr("more than 1024 quantiles"));
}

TEST(OtlpLabels, AreCountedAndMeasuredAsTheyAreRead) {
  OtlpLabels labels({"promoted"});
  OtlpAttributes many;
  for (int i = 0; i < 65; ++i) many.push_back({absl::StrCat("a", i), i == 0 ? "" : "1"});
  EXPECT_TRUE(labels.OfPoint(many).ok());
  many[0].value = "1";
  EXPECT_EQ(labels.OfPoint(many).status().code(), absl::StatusCode::kOutOfRange);
  const std::string half(2100, 'x');
  EXPECT_TRUE(labels.OfPoint({{"a.b", half}}).ok());
  EXPECT_EQ(labels.OfPoint({{"a.b", half}, {"a_b", half}}).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(labels.OfPoint({{std::string(257, 'a'), "1"}}).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(labels.OfPoint({{"a", "", true}}).status().code(), absl::StatusCode::kOutOfRange);
  const OtlpAttributes resources[] = {{{"service.name", half}, {"service.namespace", half}},
                                      {{"service.instance.id", "", true}},
                                      {{"promoted", "", true}}};
  for (const OtlpAttributes& resource : resources) {
    labels.SetResource(resource);
    EXPECT_EQ(labels.OfPoint({}).status().code(), absl::StatusCode::kOutOfRange);
  }
  labels.SetResource({{"other", "", true}, {"service.namespace", "", true}});
  EXPECT_TRUE(labels.OfPoint({}).ok());
}

TEST(OtlpEncodingOf, MediaTypes) {
  EXPECT_EQ(*OtlpEncodingOf("application/x-protobuf"), OtlpEncoding::kProtobuf);
  EXPECT_EQ(*OtlpEncodingOf("Application/JSON; charset=utf-8"), OtlpEncoding::kJson);
  EXPECT_EQ(OtlpEncodingOf("text/plain").status().code(), absl::StatusCode::kUnimplemented);
  const auto longer = OtlpEncodingOf(std::string(100'000, '\x01'));
  EXPECT_LT(longer.status().message().size(), 2200u);
}

TEST(OtlpAnswers, InBothEncodings) {
  EXPECT_EQ(OtlpSuccess(OtlpEncoding::kProtobuf, 0, ""), "");
  EXPECT_EQ(OtlpSuccess(OtlpEncoding::kJson, 0, ""), "{}");
  EXPECT_EQ(OtlpSuccess(OtlpEncoding::kProtobuf, 300, "why"),
            Message().Add(1, Message().Varint(1, 300).Bytes(2, "why")).bytes());
  EXPECT_EQ(OtlpSuccess(OtlpEncoding::kJson, 300, "why \""),
            R"({"partialSuccess":{"errorMessage":"why \"","rejectedDataPoints":"300"}})");
  EXPECT_EQ(OtlpFailure(OtlpEncoding::kProtobuf, absl::InvalidArgumentError("no")),
            Message().Varint(1, 3).Bytes(2, "no").bytes());
  EXPECT_EQ(OtlpFailure(OtlpEncoding::kJson, absl::UnavailableError("no")),
            R"({"code":14,"message":"no"})");
}

}  // namespace
}  // namespace flyball::formats
