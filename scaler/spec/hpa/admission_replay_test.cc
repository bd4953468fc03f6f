// Replays what Kubernetes 1.34.4 answered; see test/data/hpa/README.md.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_split.h"
#include "base/test_gzip.h"
#include "scaler/spec/hpa/admission.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::json;

Json Errors(const AdmissionResult& result) {
  Json errors = Json::array();
  for (const FieldError& error : result.errors) {
    errors.push_back({{"type", error.type}, {"field", error.field}, {"detail", error.detail}});
  }
  return errors;
}

TEST(AdmitTest, AnswersAsTheApiServerDoes) {
  const std::string text = ReadGzip(FLYBALL_SOURCE_DIR "/test/data/hpa/admission.jsonl.gz");
  int rows = 0;
  int undecodable = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const Json row = Json::parse(std::string(line));
    SCOPED_TRACE(row["id"].get<std::string>());
    ++rows;
    AdmitOptions options;
    FeatureGates& gates = options.dialect.gates;
    gates.configurable_tolerance = row["gates"].value("HPAConfigurableTolerance", false);
    gates.scale_to_zero = row["gates"].value("HPAScaleToZero", false);
    options.skip_admission = row["skip"].get<bool>();
    const std::string raw = row["raw"].get<std::string>();
    const AdmissionResult got = Admit(absl::string_view(raw), options);
    const Json& want = row["want"];
    if (!want.contains("spec")) {
      ++undecodable;
      EXPECT_NE(got.decode_error, "") << raw;
      EXPECT_FALSE(got.autoscaler.has_value());
      continue;
    }
    EXPECT_EQ(got.decode_error, "") << raw;
    EXPECT_EQ(Errors(got), want["errors"]) << raw;
    EXPECT_EQ(Json::parse(got.canonical_spec_json, nullptr, false), want["spec"]) << raw;
    EXPECT_TRUE(got.autoscaler.has_value());
  }
  EXPECT_EQ(rows, 1706);
  EXPECT_EQ(undecodable, 401);
}

}  // namespace
}  // namespace flyball::scaler
