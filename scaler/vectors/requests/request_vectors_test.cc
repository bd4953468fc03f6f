#include "scaler/vectors/requests/request_vectors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/test_gzip.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::json;

// Numbers must be equal to the last bit, averages too, since sums are added in the same order.
bool SameNumber(const Json& want, const Json& got) {
  if (want.is_number_integer() && got.is_number_integer()) return want == got;
  return want.get<double>() == got.get<double>();
}

// The first difference of two values, for the message of a failure; "" if there is none.
std::string FirstDifference(const Json& want, const Json& got, const std::string& path = "") {
  const std::string here = absl::StrCat(path, ": want ", want.dump(), ", got ", got.dump());
  if (want.is_number() && got.is_number()) return SameNumber(want, got) ? "" : here;
  if (want.type() != got.type()) return here;
  if (want.is_object()) {
    for (const auto& [key, value] : want.items()) {
      if (!got.contains(key)) return absl::StrCat(path, ".", key, " is missing");
      if (key == "error") continue;  // our own text
      std::string difference = FirstDifference(value, got[key], absl::StrCat(path, ".", key));
      if (!difference.empty()) return difference;
    }
    for (const auto& [key, value] : got.items()) {
      if (!want.contains(key)) return absl::StrCat(path, ".", key, " is too much");
    }
    return "";
  }
  if (want.is_array()) {
    for (size_t i = 0; i < std::min(want.size(), got.size()); ++i) {
      std::string difference = FirstDifference(want[i], got[i], absl::StrCat(path, "[", i, "]"));
      if (!difference.empty()) return difference;
    }
    return want.size() == got.size() ? "" : absl::StrCat(path, ": another length: ", here);
  }
  return want == got ? "" : here;
}

TEST(AnswerRequestScenarioTest, DecidesAsKnativeDoes) {
  const std::string text = ReadGzip(FLYBALL_SOURCE_DIR "/test/data/requests/vectors.jsonl.gz");
  std::map<std::string, int> kinds;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const auto vector = nlohmann::ordered_json::parse(std::string(line));
    const auto got = AnswerRequestScenario(vector["in"]);
    ASSERT_TRUE(got.ok()) << vector["in"]["id"] << got.status();
    EXPECT_EQ(FirstDifference(Json(vector["out"]), Json(*got)), "") << vector["in"]["id"];
    ++kinds[vector["in"]["kind"]];
  }
  const std::map<std::string, int> want = {{"scale", 117}, {"loop", 30},    {"throttle", 12},
                                           {"kpa", 11},    {"config", 11},  {"scrape", 7},
                                           {"subset", 7},  {"reporter", 6}, {"reqstats", 4}};
  EXPECT_EQ(kinds, want);
}

TEST(AnswerRequestScenarioTest, RefusesWhatItCannotRun) {
  for (const char* text :
       {R"({})", R"([])", R"({"kind": "other"})", R"({"kind": "scale", "ticks": [0, 10, 0]})",
        R"({"kind": "scale", "ticks": [0, 1e12, 1]})",
        R"({"kind": "scale", "events": [["jump", 1]]})",
        R"({"kind": "scale", "config": {"stable-window": "1s"}})",
        R"({"kind": "loop", "until_ms": 99999999999})",
        R"({"kind": "scale",
                               "annotations": {"autoscaling.knative.dev/window": "2h"}})"}) {
    const auto answer = AnswerRequestScenario(nlohmann::ordered_json::parse(text));
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace flyball::scaler
