// Which series the queries of a rule file can read, so that a store for these rules needs no
// others.
//
// Pure.
#pragma once

#include <optional>
#include <vector>

#include "promql/matcher.h"
#include "rules/compiled_rules.h"

namespace flyball::rules {

// The series that match any of the selectors, each selector once. nullopt: the rules may read any
// series, since one of them does not show what it reads, for example because its template has
// control flow, or reads series without a name. Of a selector in a metric query only the name
// counts, since its other matchers may be the request's. Series queries only list metrics; of these
// the name counts, and `!=""` of the namespace's label if each request names a namespace: in
// external rules, and in rules whose objects, as far as is known without a cluster, all are in
// namespaces.
std::optional<std::vector<std::vector<promql::Matcher>>> UsedSeries(const CompiledRules& rules);

}  // namespace flyball::rules
