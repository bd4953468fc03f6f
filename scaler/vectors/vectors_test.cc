#include "scaler/vectors/vectors.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "absl/strings/str_split.h"
#include "base/test_gzip.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::json;

// Leaves out what is not compared: the order of API reads, and Go's text for a body that does not
// parse.
Json Comparable(Json expect) {
  for (Json& tick : expect["ticks"]) tick.erase("queries");
  for (Json& error : expect["admission"]["errors"]) {
    if (error["type"] == "decode") error["detail"] = "";
  }
  return expect;
}

// The first difference of two values, for the message of a failure.
std::string FirstDifference(const Json& want, const Json& got) {
  const Json patch = Json::diff(got, want);
  return patch.empty() ? "" : patch.front().dump();
}

// The vectors that one version of the controller computed.
struct VectorFile {
  const char* version;
  const char* name;
  size_t scenarios;
  size_t ticks;
};
class AnswerLineTest : public testing::TestWithParam<VectorFile> {};

TEST_P(AnswerLineTest, DecidesAsTheControllerDoes) {
  const std::string text =
      ReadGzip(std::string(FLYBALL_SOURCE_DIR "/test/data/hpa/") + GetParam().name);
  size_t scenarios = 0;
  size_t ticks = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    ++scenarios;
    const Json vector = Json::parse(std::string(line));
    const Json want = Comparable(vector["expect"]);
    const LineAnswer answer = AnswerLine(line, scenarios);
    ASSERT_TRUE(answer.ok) << answer.text;
    const Json got = Comparable(Json::parse(answer.text));
    EXPECT_EQ(FirstDifference(want, got), "") << want["id"];
    // The result must be the same if the command line says the version and not the scenario.
    Json silent = vector;
    Json& config = silent["scenario"]["config"];
    if (const auto version = config.find("kubernetesVersion"); version != config.end()) {
      const auto choice = ParseDialectChoice(version->get<std::string>(), "");
      config.erase(version);
      EXPECT_EQ(AnswerLine(silent.dump(), scenarios, *choice).text, answer.text) << want["id"];
    }
    ticks += want["ticks"].size();
  }
  EXPECT_EQ(scenarios, GetParam().scenarios);
  EXPECT_EQ(ticks, GetParam().ticks);
}

INSTANTIATE_TEST_SUITE_P(Versions, AnswerLineTest,
                         testing::Values(VectorFile{"v1_34", "vectors.jsonl.gz", 400, 981},
                                         VectorFile{"v1_35", "vectors-1.35.jsonl.gz", 250, 615},
                                         VectorFile{"v1_36", "vectors-1.36.jsonl.gz", 252, 593},
                                         VectorFile{"v1_37", "vectors-1.37.jsonl.gz", 400, 1037}),
                         [](const auto& info) { return std::string(info.param.version); });

TEST(AnswerLineTest, TellsTheKindsByTheirMembers) {
  const LineAnswer answer =
      AnswerLine(R"({"in": {"id": "s", "kind": "subset", "from": ["a"], "n": 1}, "out": {}})", 1);
  EXPECT_TRUE(answer.ok);
  EXPECT_EQ(answer.text, R"({"id":"s","out":{"id":"s","kind":"subset","chosen":["a"]}})");
  const LineAnswer unknown = AnswerLine(R"({"in": {"kind": "vertical"}})", 3);
  EXPECT_FALSE(unknown.ok);
  EXPECT_EQ(unknown.text, R"({"error":"kind: none of the known ones, got \"vertical\"","line":3})");
  EXPECT_FALSE(AnswerLine(R"({"other": 1})", 1).ok);
}

TEST(AnswerLinesTest, ABadLineIsAnsweredInItsPlace) {
  const std::string good = R"({"scenario": {"id": "a", "autoscaler": {}}})";
  std::istringstream in(good + "\nnonsense\n\n{\"scenario\": {\"ticks\": 3}}\n" + good);
  std::ostringstream out;
  EXPECT_EQ(AnswerLines(in, out), 2u);
  const std::vector<std::string> lines = absl::StrSplit(out.str(), '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(Json::parse(lines[0])["id"], "a");
  EXPECT_EQ(Json::parse(lines[1])["line"], 2);
  EXPECT_EQ(Json::parse(lines[2])["line"], 4);
  EXPECT_EQ(Json::parse(lines[2])["error"], "ticks: expected a list, got the number 3");
  EXPECT_EQ(lines[3], lines[0]);
}

}  // namespace
}  // namespace flyball::scaler
