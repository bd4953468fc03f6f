// What the text of a metric query shows, without running it: may one query for several objects
// stand for one query for each of them?
//
// Pure. A yes must be certain, since a wrong one gives wrong numbers; a no only costs queries. So
// this reads a subset of PromQL in which each construct is known to keep objects apart, and says no
// to everything else.
//
// Say that a query keeps objects apart by label L if, for each set S of names, its samples with
// L = x under the matcher L =~ S are those under L = x alone, for each x in S. Then:
//   - a selector of one series name that holds <<.LabelMatchers>> does;
//   - a function that maps each series by itself does if its argument does, histogram_quantile
//     included, which only joins buckets that agree on all labels but `le`;
//   - sum, avg, min, max, count, stddev, stdvar and group `by` a list with <<.GroupBy>> do if their
//     argument does: a group never holds two values of L;
//   - binary operators between two such vectors matched on all labels do, and between such a vector
//     and a number or time();
//   - a template with control flow, variables, .LabelValuesByName or nested templates is not read.
//
// External queries name no objects, but the same holds of any other label L that a metric selector
// may ask for, where every aggregation groups by L in so many words.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "rules/query_template.h"

namespace flyball::rules {

struct QueryShape {
  bool separates_objects = false;
  // Every aggregation also groups by `namespace_label`. Only ever true along with
  // separates_objects.
  bool keeps_namespaces = false;
  // Whether the query keeps values of `label` apart, which is no object's. Never of names and
  // buckets, which functions join.
  bool SeparatesLabel(absl::string_view label) const {
    return is_read && label != "__name__" && label != "le" &&
           (!grouped_by || grouped_by->contains(std::string(label)));
  }

  bool is_read = false;
  // Labels that every aggregation groups by; nullopt: there is no aggregation.
  std::optional<std::set<std::string>> grouped_by;
};

// `namespace_label`: what namespaces are called in the rule; "" if nothing is known.
QueryShape ShapeOf(const QueryTemplate& query, absl::string_view namespace_label);

}  // namespace flyball::rules
