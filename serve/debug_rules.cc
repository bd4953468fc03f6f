#include "serve/debug_rules.h"

#include <nlohmann/json.hpp>

#include "absl/time/time.h"

namespace flyball::serve {

std::string DebugRulesJson(const std::vector<adapter::RuleStatus>& rules,
                           const absl::Status& last_reload) {
  nlohmann::ordered_json document;
  document["ruleFile"] = {{"inForce", last_reload.ok()}};
  if (!last_reload.ok()) document["ruleFile"]["error"] = std::string(last_reload.message());
  document["rules"] = nlohmann::ordered_json::array();
  for (const adapter::RuleStatus& rule : rules) {
    nlohmann::ordered_json entry = {{"list", rule.list},
                                    {"index", rule.index},
                                    {"where", rule.where},
                                    {"seriesQuery", rule.series_query},
                                    {"series", rule.series},
                                    {"lastSuccess", nullptr},
                                    {"durationSeconds", absl::ToDoubleSeconds(rule.duration)},
                                    {"failures", rule.failures},
                                    {"error", rule.error}};
    if (rule.last_success) {
      entry["lastSuccess"] =
          absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", *rule.last_success, absl::UTCTimeZone());
    }
    document["rules"].push_back(std::move(entry));
  }
  // Series queries come from a file and an error from the network: neither need be UTF-8.
  return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace flyball::serve
