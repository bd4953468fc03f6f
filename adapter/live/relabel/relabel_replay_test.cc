// Replays what Prometheus 3.15.0 answered; see test/data/relabel/README.md.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "adapter/live/relabel/relabel.h"
#include "base/test_gzip.h"

namespace flyball::relabel {
namespace {

using Json = nlohmann::json;
using promql::LabelSet;

RuleText TextOf(const Json& row) {
  RuleText text;
  text.action = row.value("action", text.action);
  text.source_labels = row.value("source_labels", text.source_labels);
  text.separator = row.value("separator", text.separator);
  text.regex = row.value("regex", text.regex);
  text.modulus = row.value("modulus", text.modulus);
  text.target_label = row.value("target_label", text.target_label);
  text.replacement = row.value("replacement", text.replacement);
  text.legacy_names = row.value("legacy", false);
  return text;
}

// Go compares the compiled expression of keepequal and the like by identity: one that is written
// like the default is none of these.
bool WritesDefaultRegex(const Json& rule) { return rule.value("regex", "") == "(.*)"; }

TEST(RelabelReplayTest, AnswersAsPrometheusDoes) {
  const std::string text = ReadGzip(FLYBALL_SOURCE_DIR "/test/data/relabel/rows.jsonl.gz");
  int rows = 0, refused = 0, dropped = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const Json row = Json::parse(std::string(line));
    SCOPED_TRACE(std::string(line));
    ++rows;
    const int bad = row.value("bad", -1);
    std::vector<Rule> rules;
    for (const Json& rule : row["rules"]) {
      auto compiled = Rule::Compile(TextOf(rule));
      const bool is_bad = static_cast<int>(rules.size()) == bad;
      if (is_bad && WritesDefaultRegex(rule)) break;
      ASSERT_EQ(compiled.ok(), !is_bad) << compiled.status();
      if (!compiled.ok()) break;
      rules.push_back(*std::move(compiled));
    }
    if (bad >= 0) {
      ++refused;
      continue;
    }
    LabelEditor labels(row["labels"].get<LabelSet>());
    const bool keep = Apply(rules, labels);
    ASSERT_EQ(keep, row["keep"].get<bool>());
    if (!keep) {
      ++dropped;
      continue;
    }
    ASSERT_EQ(labels.Build(), row["want"].get<LabelSet>());
  }
  EXPECT_EQ(rows, 6000);
  EXPECT_GT(refused, 100);
  EXPECT_GT(dropped, 1000);
}

}  // namespace
}  // namespace flyball::relabel
