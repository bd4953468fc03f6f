#include "rules/query_template.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"

namespace flyball::rules {
namespace {

// Each row of test/data/templates/go.jsonl: a template, the data it ran on, and what Go's
// text/template made of it: a text, or the stage that refused it.
struct QueryTemplateRow {
  std::string text, data, error;
  std::optional<std::string> out;
};

std::vector<QueryTemplateRow> ReadRows() {
  std::ifstream in(absl::StrCat(FLYBALL_SOURCE_DIR, "/test/data/templates/go.jsonl"));
  std::vector<QueryTemplateRow> rows;
  for (std::string line; std::getline(in, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    QueryTemplateRow row{json.at("t"), json.at("d"), json.value("err", ""), std::nullopt};
    if (json.contains("out")) row.out = json.at("out").get<std::string>();
    rows.push_back(std::move(row));
  }
  return rows;
}

QueryData DataNamed(const std::string& name) {
  if (name == "pods") {
    return {"http_requests_total",
            "namespace=\"web\",pod=~\"a-1|a-2\"",
            {{"namespace", "web"}, {"pod", "a-1|a-2"}},
            {"pod"}};
  }
  if (name == "containers") {
    return {"",
            "namespace=\"web\",pod=\"a-1\"",
            {{"namespace", "web"}, {"pod", "a-1"}},
            {"pod", "container"}};
  }
  return {"queue_depth", "", {}, {}};
}

QueryTemplateRow RunHere(const QueryTemplateRow& row) {
  const bool label = row.data == "label" || row.data == "core";
  const auto parsed =
      label ? QueryTemplate::ParseLabel(row.text) : QueryTemplate::ParseQuery(row.text);
  if (!parsed.ok()) return {row.text, row.data, "parse", std::nullopt};
  const auto out =
      label ? parsed->Execute(row.data == "label" ? kube::GroupResource{"apps", "deployment"}
                                                  : kube::GroupResource{"", "pod"})
            : parsed->Execute(DataNamed(row.data));
  if (!out.ok()) return {row.text, row.data, "exec", std::nullopt};
  return {row.text, row.data, "", *out};
}

TEST(QueryTemplateTest, DoesWhatGoDoes) {
  const std::vector<QueryTemplateRow> rows = ReadRows();
  ASSERT_GT(rows.size(), 500u);
  for (const QueryTemplateRow& row : rows) {
    const QueryTemplateRow here = RunHere(row);
    EXPECT_EQ(here.error, row.error) << row.text << " on " << row.data;
    EXPECT_EQ(here.out, row.out) << row.text << " on " << row.data;
  }
}

}  // namespace
}  // namespace flyball::rules
