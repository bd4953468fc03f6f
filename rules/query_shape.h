// Determines from the text of a metric query, without running it, whether one query for several
// objects can replace one query for each of them.
//
// Pure; called once for each template, when a rule file is compiled. A yes must be certain, since a
// wrong one gives wrong numbers; a no only costs queries. So each construct that keeps objects
// apart is named in query_shape.cc, with the reason, and each such function in promql/functions.h
// (by_series). All others are a no: future additions to PromQL, and whatever promql/parser.h does
// not read (functions of newer servers, MetricsQL).
//
// A query keeps objects apart by label L if, for each set S of names, its samples with L = x under
// the matcher L =~ S are those under L = x alone, for each x in S. The same holds for any other
// label that a metric selector may contain: external queries name no objects, but if every
// aggregation explicitly groups by L, one query can serve several values of L.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "rules/query_template.h"

namespace flyball::rules {

struct QueryShape {
  bool separates_objects = false;
  // Every aggregation also groups by `namespace_label`. Only true together with separates_objects.
  bool keeps_namespaces = false;
  // Whether the query keeps values of `label`, which is not an object's, apart. Never true for
  // names and buckets, which functions join.
  bool SeparatesLabel(absl::string_view label) const {
    return is_read && label != "__name__" && label != "le" &&
           (!grouped_by || grouped_by->contains(std::string(label)));
  }

  bool is_read = false;  // an instant vector, known to keep labels apart throughout
  // Labels that every aggregation groups by; nullopt: there is no aggregation.
  std::optional<std::set<std::string>> grouped_by;
};

// `namespace_label`: the rule's label for namespaces; "": unknown.
QueryShape ShapeOf(const QueryTemplate& query, absl::string_view namespace_label);

// Whether the template only fills in the series, the matchers and the labels to group by, so that
// its text shows all that the query may select.
bool OnlyFillsIn(const tmpl::Tree& tree);

}  // namespace flyball::rules
