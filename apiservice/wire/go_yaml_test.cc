#include "apiservice/wire/go_yaml.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace flyball::apiservice::wire {
namespace {

TEST(YamlOfJsonTest, FoldsLongLinesAsTheOriginal) {
  EXPECT_EQ(YamlOfJson(R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
                       R"("message":"the server could not find the metric orders_per_second for )"
                       R"(deployments.apps with-a-long-name","reason":"NotFound","code":404})"
                       "\n"),
            "apiVersion: v1\n"
            "code: 404\n"
            "kind: Status\n"
            "message: the server could not find the metric orders_per_second for deployments.apps\n"
            "  with-a-long-name\n"
            "metadata: {}\n"
            "reason: NotFound\n"
            "status: Failure\n");
}

TEST(YamlOfJsonTest, WritesAnswersAsTheOriginal) {
  EXPECT_EQ(
      YamlOfJson(R"({"kind":"ExternalMetricValueList",)"
                 R"("apiVersion":"external.metrics.k8s.io/v1beta1","metadata":{},"items":[)"
                 R"({"metricName":"q","metricLabels":{"a10":"\u003cx\u003e","a9":"- b","A":"1"},)"
                 R"("timestamp":"2023-11-14T22:13:20Z","value":"1500m"},)"
                 R"({"metricName":"q","metricLabels":null,"timestamp":null,"value":"7"}]})"),
      "apiVersion: external.metrics.k8s.io/v1beta1\n"
      "items:\n"
      "- metricLabels:\n"
      "    A: \"1\"\n"
      "    a9: '- b'\n"
      "    a10: <x>\n"
      "  metricName: q\n"
      "  timestamp: \"2023-11-14T22:13:20Z\"\n"
      "  value: 1500m\n"
      "- metricLabels: null\n"
      "  metricName: q\n"
      "  timestamp: null\n"
      "  value: \"7\"\n"
      "kind: ExternalMetricValueList\n"
      "metadata: {}\n");
  EXPECT_EQ(YamlOfJson(R"({"message":"406: Not Acceptable\n\nAvailable: a, b",)"
                       R"("items":[[1,true]]})"),
            "items:\n"
            "- - 1\n"
            "  - true\n"
            "message: |-\n"
            "  406: Not Acceptable\n"
            "\n"
            "  Available: a, b\n");
  EXPECT_EQ(YamlOfJson("{"), "");
}

// Whether a text stands without quotes.
bool IsBare(const std::string& text) {
  return YamlOfJson(absl::StrCat("[\"", text, "\"]")) == absl::StrCat("- ", text, "\n");
}

TEST(YamlOfJsonTest, QuotesWhatWouldBeReadAsAnotherType) {
  for (const char* text : {"12",
                           "-0x1F",
                           "1_000",
                           "1e3",
                           "+.5",
                           ".5",
                           "0b11",
                           "1:30",
                           "12:30:45",
                           "2001-01-01",
                           "y",
                           "Off",
                           "~",
                           "null",
                           "-.Inf",
                           ".NaN",
                           "017",
                           "1.",
                           "0o17",
                           "-1:5",
                           "",
                           "1:30.5",
                           "2001-2-3t4:5:6.7+08:00",
                           "18446744073709551615",
                           "0b-11",
                           "2001-1-1  1:2:3",
                           "2001-1-1 1:2:3"}) {
    EXPECT_FALSE(IsBare(text)) << text;
  }
  for (const char* text :
       {"1500m", "a-1", "yEs", "1e", "1e999", "1.2.3", "2001-02-30", "0x", "+", ".", "1:60",
        "2001-01", "2001-01-01T25:00:00Z", "99999-01-01", "9ms", "_1"}) {
    EXPECT_TRUE(IsBare(text)) << text;
  }
}

TEST(YamlOfJsonTest, OrdersKeysByLettersAndNumbers) {
  EXPECT_EQ(YamlOfJson(R"({"b":0,"a10":0,"a9":0,"a_b":0,"ab":0,"a":0,"Z":0,"a01":0,"a1":0,"1":0})"),
            "\"1\": 0\nZ: 0\na: 0\na_b: 0\na1: 0\na01: 0\na9: 0\na10: 0\nab: 0\nb: 0\n");
}

}  // namespace
}  // namespace flyball::apiservice::wire
