// Label matchers of PromQL, and queries made of two queries: the only place that writes query text
// other than the user's template.
//
// Pure. Source: prometheus-adapter 0.12.0 pkg/naming/metrics_query.go and pkg/client/helpers.go;
// names inside `=~` are sorted and escaped, which the original leaves out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kube/objects/selector.h"

namespace flyball::rules {

// The matchers of one query in order, and the data of `.LabelValuesByName`, in which the later of
// two matchers of one label counts.
class MatcherList {
 public:
  // kInvalidArgument: an operator that PromQL has no form for (> and <), a missing value or label.
  absl::Status AddRequirement(const kube::Requirement& requirement);
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

// The samples of `wanted` for those objects, distinguished by `label`, for which `other` has
// samples that can all be expressed in thousandths. NaN cannot, unless `nan_is_number`, nor can
// 2^63 thousandths or more; a value below zero counts as zero. Order and labels are those of
// `wanted`. Both queries are instant vectors that distinguish objects by that label
// (query_shape.h).
std::string JoinedQuery(absl::string_view wanted, absl::string_view other, absl::string_view label,
                        bool nan_is_number);

}  // namespace flyball::rules
