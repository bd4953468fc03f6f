// Selectors, each with a value, found by labels that match them.
//
// Not thread-safe for writing. Nearly every selector names its metric, so a series is tested only
// against those that name its own and the few that name none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "promql/engine/memory_series.h"
#include "promql/labels.h"
#include "promql/matcher.h"

namespace flyball::live {

using Selector = std::vector<promql::Matcher>;

// A selector, and since when the store has all samples of its series.
struct KeptSelector {
  Selector selector;
  int64_t since_ms = 0;
};

template <typename Value>
class SelectorTable {
 public:
  void Add(Selector selector, Value value) {
    Rows& rows = by_name_[NameOf(selector)];
    rows.push_back({std::move(selector), std::move(value)});
  }

  // Removes all selectors with that value and that metric's name.
  void Remove(const Selector& selector, const Value& value) {
    const auto named = by_name_.find(NameOf(selector));
    if (named == by_name_.end()) return;
    Rows& rows = named->second;
    rows.erase(std::remove_if(rows.begin(), rows.end(),
                              [&value](const Row& row) { return row.value == value; }),
               rows.end());
    if (rows.empty()) by_name_.erase(named);
  }

  // The values of the selectors that match.
  std::vector<Value> Find(const promql::Labels& labels) const {
    std::vector<Value> found;
    const absl::string_view name = labels.Get("__name__");
    AddMatches(name, labels, found);
    if (!name.empty()) AddMatches("", labels, found);
    return found;
  }

 private:
  struct Row {
    Selector selector;
    Value value;
  };
  using Rows = std::vector<Row>;

  // "" if the selector names no metric, or requires that there is no name.
  static absl::string_view NameOf(const Selector& selector) {
    for (const promql::Matcher& matcher : selector) {
      if (matcher.label() == "__name__" && matcher.op() == promql::Matcher::Op::kEqual) {
        return matcher.value();
      }
    }
    return "";
  }

  void AddMatches(absl::string_view name, const promql::Labels& labels,
                  std::vector<Value>& found) const {
    const auto named = by_name_.find(name);
    if (named == by_name_.end()) return;
    for (const Row& row : named->second) {
      if (promql::MatchesAll(labels, row.selector)) found.push_back(row.value);
    }
  }

  absl::flat_hash_map<std::string, Rows> by_name_;
};

}  // namespace flyball::live
