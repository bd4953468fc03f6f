// Label matchers of PromQL: the only place that writes query text other than the user's template.
//
// Pure. Source: prometheus-adapter 0.12.0 pkg/naming/metrics_query.go and pkg/client/helpers.go;
// names inside `=~` are sorted and escaped, which the original leaves out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "rules/compiled_rules.h"

namespace flyball::rules {

// The matchers of one query in order, and what `.LabelValuesByName` says of them: the later of two
// matchers of one label wins there.
class MatcherList {
 public:
  // kInvalidArgument: an operator that PromQL has no form for (> and <), a missing value or label.
  absl::Status AddRequirement(const LabelRequirement& requirement);
  void AddEqual(absl::string_view label, absl::string_view value);
  // One name: `=`. Several: `=~`, sorted, each once, escaped.
  void AddNames(absl::string_view label, std::vector<std::string> names);

  std::string Join() const;  // comma, no space
  const std::map<std::string, std::string>& values_by_name() const { return values_by_name_; }

 private:
  void Add(absl::string_view label, absl::string_view op, absl::string_view quoted_text);

  std::vector<std::string> matchers_;
  std::map<std::string, std::string> values_by_name_;
};

}  // namespace flyball::rules
