// What the rules do with a series, as text and as JSON.
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "base/counted.h"
#include "rule_tools/series_fate.h"

namespace flyball::rule_tools {
namespace {

using End = RuleVerdict::End;

const char* Word(End end) {
  switch (end) {
    case End::kOtherName: return "other name";
    case End::kNotFound: return "not found";
    case End::kNotAccepted: return "left out";
    case End::kNoResource: return "no resource";
    case End::kLabelsNeeded: return "labels needed";
    case End::kOffered: return "offered";
  }
  return "";
}

bool Counts(const OfferedMetric& metric) {
  return metric.trouble.empty() && metric.hidden_by.empty();
}

}  // namespace

bool IsOffered(const std::vector<RuleVerdict>& verdicts) {
  for (const RuleVerdict& verdict : verdicts) {
    for (const OfferedMetric& metric : verdict.metrics) {
      if (Counts(metric)) return true;
    }
  }
  return false;
}

std::string FateText(const GivenSeries& series, const std::vector<RuleVerdict>& verdicts) {
  std::string out = absl::StrCat(series.ToString(), "\n");
  size_t others = 0;
  bool labels_needed = false;
  for (const RuleVerdict& verdict : verdicts) {
    if (verdict.end == End::kOtherName) {
      ++others;
      continue;
    }
    labels_needed |= verdict.end == End::kLabelsNeeded;
    absl::StrAppend(&out, verdict.rule, ": ", Word(verdict.end), verdict.why.empty() ? "" : ": ",
                    verdict.why, "\n");
    for (const OfferedMetric& metric : verdict.metrics) {
      absl::StrAppend(&out, "  ", metric.name, "\n");
      if (!metric.promql.empty()) absl::StrAppend(&out, "    asks: ", metric.promql, "\n");
      if (!metric.trouble.empty()) absl::StrAppend(&out, "    but: ", metric.trouble, "\n");
      if (!metric.hidden_by.empty()) {
        absl::StrAppend(&out, "    but: ", metric.hidden_by,
                        " makes the same name and comes later, so that one counts\n");
      }
    }
  }
  if (others > 0) {
    absl::StrAppend(&out, Counted(others, "rule"), others == 1 ? " asks" : " ask",
                    " for series of other names\n");
  }
  return absl::StrCat(out, IsOffered(verdicts) ? "It is offered.\n"
                           : labels_needed     ? "Give the series with its labels to see more.\n"
                                               : "It is no metric.\n");
}

std::string FateJson(const GivenSeries& series, const std::vector<RuleVerdict>& verdicts) {
  using Json = nlohmann::ordered_json;
  Json rules = Json::array();
  for (const RuleVerdict& verdict : verdicts) {
    Json rule = {{"rule", verdict.rule}, {"result", Word(verdict.end)}};
    if (!verdict.why.empty()) rule["why"] = verdict.why;
    for (const OfferedMetric& metric : verdict.metrics) {
      Json offered = {{"name", metric.name}, {"promql", metric.promql}};
      if (!metric.trouble.empty()) offered["trouble"] = metric.trouble;
      if (!metric.hidden_by.empty()) offered["hiddenBy"] = metric.hidden_by;
      rule["metrics"].push_back(std::move(offered));
    }
    rules.push_back(std::move(rule));
  }
  const Json out = {
      {"series", series.ToString()}, {"offered", IsOffered(verdicts)}, {"rules", std::move(rules)}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace flyball::rule_tools
