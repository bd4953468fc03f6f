// Rules that remember whether a query was ever made of them.
//
// Thread-safe: the marks are atomic. The wrapped rules answer as the ones inside.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rules/compiled_rules.h"

namespace flyball::rule_tests {

class RuleCoverage {
 public:
  // `rules` in which every rule marks its use here.
  explicit RuleCoverage(const rules::CompiledRules& rules);

  const std::shared_ptr<const rules::CompiledRules>& rules() const { return rules_; }

  struct Unused {
    std::string where;  // "web.yaml:12"
    std::string field;  // "rules[3]", "resourceRules.cpu"
  };
  std::vector<Unused> NeverAsked() const;

 private:
  std::shared_ptr<std::atomic<bool>> Add(std::string where, std::string field);

  std::vector<std::pair<Unused, std::shared_ptr<std::atomic<bool>>>> marks_;
  std::shared_ptr<const rules::CompiledRules> rules_;
};

}  // namespace flyball::rule_tests
