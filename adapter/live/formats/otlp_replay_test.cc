// Replays test/data/formats/otlp.jsonl.gz: random requests of OTLP metrics in both encodings, and
// the samples that Prometheus 3.15.0 makes of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "adapter/live/formats/otlp_names.h"
#include "adapter/live/formats/otlp_series.h"
#include "base/test_gzip.h"
#include "promql/engine/series.h"

namespace flyball::formats {
namespace {

using nlohmann::json;

constexpr int64_t kInfoEveryMs = 150'000;  // half of Prometheus's lookback
constexpr char kMinusZero[] = "8000000000000000";

// Of a NaN that is no staleness marker the bits say nothing: the store gives all of them the same.
std::string BitsOf(double value) {
  if (std::isnan(value) && !promql::IsStale(value)) return "NaN";
  return absl::StrFormat("%016x", std::bit_cast<uint64_t>(value));
}

// Samples as the file has them: stamp, bits of the value, then names and values of labels.
class ReplayedRequest : public OtlpSink {
 public:
  void OnResource(const OtlpAttributes& attributes) override { labels_.SetResource(attributes); }
  void OnMetric(const OtlpMetric& metric) override {
    metric_ = metric;
    name_ = OtlpMetricName(metric);
  }
  void OnPoint(OtlpPoint& point) override {
    const auto labels = labels_.OfPoint(point.attributes);
    if (!name_.ok() || !labels.ok() || !point.status.ok()) return;
    const int64_t time_ms = static_cast<int64_t>(point.time_ns / 1'000'000);
    first_ms_ = std::min(first_ms_, time_ms);
    last_ms_ = std::max(last_ms_, time_ms);
    Add(*name_, metric_.kind, *labels, point, time_ms);
  }
  void OnResourceEnd() override {
    if (first_ms_ > last_ms_) return;
    const auto labels = labels_.OfTarget();
    if (!labels.ok() || labels->empty()) return;
    OtlpPoint info;
    info.value = 1;
    for (int64_t time_ms = first_ms_; time_ms < last_ms_; time_ms += kInfoEveryMs) {
      Add("target_info", OtlpKind::kGauge, *labels, info, time_ms);
    }
    Add("target_info", OtlpKind::kGauge, *labels, info, last_ms_);
  }

  json samples = json::array();

 private:
  void Add(const std::string& name, OtlpKind kind, const promql::LabelSet& labels,
           const OtlpPoint& point, int64_t time_ms) {
    ForEachOtlpSample(name, kind, labels, point,
                      [&](const std::vector<LabelView>& of_sample, double value) {
                        promql::LabelsBuilder builder;
                        for (const LabelView& label : of_sample) {
                          builder.Add(label.name, label.value);
                        }
                        json fields = {time_ms, BitsOf(value)};
                        for (const auto& [label, text] : builder.Build()) {
                          fields.push_back(std::string(label));
                          fields.push_back(std::string(text));
                        }
                        samples.push_back(fields);
                      });
  }

  OtlpLabels labels_{{}};
  OtlpMetric metric_;
  absl::StatusOr<std::string> name_ = std::string();
  int64_t first_ms_ = std::numeric_limits<int64_t>::max();
  int64_t last_ms_ = std::numeric_limits<int64_t>::min();
};

// -0 is 0 here: encoders of protobuf leave it out as the default. Where Prometheus refuses a point
// it counts its time for target_info or not, by where the fault is: then that series is left out.
json Comparable(const json& samples, bool refused) {
  json kept = json::array();
  for (json sample : samples) {
    if (refused && sample.dump().find("target_info") != std::string::npos) continue;
    std::string& bits = sample[1].get_ref<std::string&>();
    if (bits != "NaN") bits = BitsOf(std::bit_cast<double>(std::stoull(bits, nullptr, 16)));
    if (bits == kMinusZero) bits = BitsOf(0.0);
    kept.push_back(std::move(sample));
  }
  return kept;
}

TEST(OtlpReplay, GivesTheSamplesOfPrometheus) {
  const std::string text = ReadGzip(FLYBALL_SOURCE_DIR "/test/data/formats/otlp.jsonl.gz");
  int requests = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const json expected = json::parse(line);
    const bool refused = expected["refused"].get<bool>();
    std::string protobuf;
    ASSERT_TRUE(absl::Base64Unescape(expected["protobuf"].get<std::string>(), &protobuf));
    ++requests;
    ReplayedRequest of_protobuf;
    ASSERT_TRUE(ReadOtlp(OtlpEncoding::kProtobuf, protobuf, of_protobuf).ok()) << line;
    EXPECT_EQ(Comparable(of_protobuf.samples, refused), Comparable(expected["samples"], refused))
        << line;
    const std::string document = expected["json"];
    ReplayedRequest of_json;
    ASSERT_TRUE(ReadOtlp(OtlpEncoding::kJson, document, of_json).ok()) << line;
    EXPECT_EQ(Comparable(of_json.samples, refused), Comparable(expected["samples"], refused))
        << line;
  }
  EXPECT_EQ(requests, 500);
}

}  // namespace
}  // namespace flyball::formats
