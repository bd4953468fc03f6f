#include "rule_tools/rule_pairing.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "rule_tools/rule_fields.h"

namespace flyball::rule_tools {
namespace {

using rules::RuleConfig;

// The key that two rules must share in one pass; "": the rule is not paired in it.
using KeyOf = std::string (*)(const RuleConfig&);

std::string AllOf(const RuleConfig& rule) {
  return absl::StrJoin(FieldsOf(rule), "\n", [](std::string* out, const auto& field) {
    absl::StrAppend(out, field.first, "=", field.second);
  });
}

std::string SeriesOf(const RuleConfig& rule) {
  std::string out = rule.series_query.text;
  for (const rules::FilterConfig& filter : rule.filters) {
    absl::StrAppend(&out, "\n", filter.is.text, "\n", filter.is_not.text);
  }
  return rule.series_query.text.empty() ? "" : out;
}

std::string SeriesAndNameOf(const RuleConfig& rule) {
  return absl::StrCat(SeriesOf(rule), "\n", rule.name.matches.text, "\n", rule.name.as.text);
}

std::string SeriesQueryOf(const RuleConfig& rule) { return rule.series_query.text; }

std::string QueryOf(const RuleConfig& rule) {
  // <<.Series>> alone does not connect two rules.
  if (rule.name.as.text.empty()) return "";
  return absl::StrCat(rule.name.as.text, "\n", rule.metrics_query.text);
}

class ListPairing {
 public:
  ListPairing(const std::vector<RuleConfig>& was, const std::vector<RuleConfig>& is)
      : was_(was), is_(is), taken_(is.size()) {
    for (KeyOf key : {AllOf, SeriesAndNameOf, SeriesOf, SeriesQueryOf, QueryOf}) Pair(key);
  }

  RulePairs Take() { return std::move(pairs_); }

 private:
  void Pair(KeyOf key) {
    std::multimap<std::string, size_t> left;  // equal keys in the file's order
    for (size_t i = 0; i < is_.size(); ++i) {
      if (!taken_[i]) left.emplace(key(is_[i]), i);
    }
    for (size_t i = 0; i < was_.size(); ++i) {
      if (pairs_.contains(i)) continue;
      const std::string wanted = key(was_[i]);
      const auto found = left.lower_bound(wanted);  // the first of equal ones
      if (wanted.empty() || found == left.end() || found->first != wanted) continue;
      pairs_[i] = found->second;
      taken_[found->second] = true;
      left.erase(found);
    }
  }

  const std::vector<RuleConfig>& was_;
  const std::vector<RuleConfig>& is_;
  std::vector<bool> taken_;
  RulePairs pairs_;
};

}  // namespace

RulePairs PairRules(const std::vector<RuleConfig>& was, const std::vector<RuleConfig>& is) {
  return ListPairing(was, is).Take();
}

std::vector<bool> OutOfOrder(const std::vector<size_t>& indices) {
  std::vector<size_t> ends;                    // of the best run of each length
  std::vector<size_t> before(indices.size());  // the one before it in its run
  constexpr size_t kFirst = static_cast<size_t>(-1);
  for (size_t i = 0; i < indices.size(); ++i) {
    const auto at = std::lower_bound(ends.begin(), ends.end(), i,
                                     [&](size_t a, size_t b) { return indices[a] < indices[b]; });
    before[i] = at == ends.begin() ? kFirst : *(at - 1);
    if (at == ends.end()) {
      ends.push_back(i);
    } else {
      *at = i;
    }
  }
  std::vector<bool> out(indices.size(), true);
  for (size_t i = ends.empty() ? kFirst : ends.back(); i != kFirst; i = before[i]) out[i] = false;
  return out;
}

}  // namespace flyball::rule_tools
