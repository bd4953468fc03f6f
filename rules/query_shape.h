// Finds out from the text of a metric query, without running it, whether one query for several
// objects can replace one query for each of them.
//
// Pure; asked once for each template, when a rule file is compiled. A yes must be certain, since a
// wrong one gives wrong numbers; a no only costs queries. So each construct that keeps objects
// apart is named in query_shape.cc, with the reason, each such function in promql/functions.h
// (by_series), and all others are a no: what PromQL gets in future, and what promql/parser.h does
// not read (functions of newer servers, MetricsQL).
//
// Say that a query keeps objects apart by label L if, for each set S of names, its samples with
// L = x under the matcher L =~ S are those under L = x alone, for each x in S. The same holds of
// any other label that a metric selector may ask for: external queries name no objects, but where
// every aggregation groups by L in so many words, one query may stand for several values of L.
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

  bool is_read = false;  // an instant vector, and all of it known to keep labels apart
  // Labels that every aggregation groups by; nullopt: there is no aggregation.
  std::optional<std::set<std::string>> grouped_by;
};

// `namespace_label`: what namespaces are called in the rule; "" if nothing is known.
QueryShape ShapeOf(const QueryTemplate& query, absl::string_view namespace_label);

// Whether the template does no more than fill in the series, the matchers and the labels to group
// by: its text shows all that the query may ask for.
bool OnlyFillsIn(const tmpl::Tree& tree);

}  // namespace flyball::rules
