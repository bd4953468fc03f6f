// Which series the queries of a rule file can read: a store that serves these rules alone needs to
// keep no others.
//
// Pure.
#pragma once

#include <optional>
#include <vector>

#include "promql/matcher.h"
#include "rules/compiled_rules.h"

namespace flyball::rules {

// The series that any of the selectors matches, each selector once. nullopt: the rules may read any
// series, for one of them does not show what it reads, as with control flow in its template, or
// reads series without saying their name. Of selectors in metric queries the name alone counts:
// what else they ask for is for each request to say. Of series queries, which metrics are listed by
// but not read by, it is the name as well, and `!=""` of the namespace's label where each request
// names one: in external rules, and in rules whose objects all are in namespaces as far as shows
// without a cluster.
std::optional<std::vector<std::vector<promql::Matcher>>> UsedSeries(const CompiledRules& rules);

}  // namespace flyball::rules
