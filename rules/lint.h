// Warnings about a rule file: things that are allowed but hardly intended. The compiler reports
// errors.
//
// Pure. Each warning says what will happen and what to write instead. Parts of the file that do not
// compile are skipped.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "rules/config.h"
#include "rules/query_template.h"

namespace flyball::rules {

void LintConfig(const Config& config, Findings& findings);

// Shared by the files that make these warnings.

// Warns about fields below one place of the file.
class Warner {
 public:
  Warner(Findings& findings, std::string path, Place place)
      : findings_(findings), path_(std::move(path)), place_(place) {}

  // `field` continues the path: ".name.as". An unknown place is that of the whole.
  void operator()(Place place, absl::string_view field, std::string message) const;
  // Says that Prometheus refuses the query there.
  void Refuse(Place place, absl::string_view field, std::string message) const;

 private:
  Findings& findings_;
  const std::string path_;
  const Place place_;
};

// lint_mapping.cc

// How resources are compared without a cluster: "pod." for pods, Pod and pod.
std::string GuessResource(const OverrideConfig& item);
// Whether there is an override to that core resource, or a template that may make its label.
bool HasLabelFor(const MappingConfig& mapping, absl::string_view singular);
void LintMapping(const MappingConfig& mapping, absl::string_view field, const Warner& warn);

// lint_query.cc

enum class QueryUse { kCustom, kExternal, kContainer, kNode };
void LintQuery(const TextField& query, absl::string_view field, QueryUse use, const Warner& warn);

// lint_promql.cc

// Reports what Prometheus would refuse in a series query, and in a metric query with made-up
// values.
void LintSelector(const TextField& query, absl::string_view field, const Warner& warn);
void LintFilledQuery(const std::string& filled, Place place, absl::string_view field,
                     const Warner& warn);

// lint_fields.cc

// The fields of the data that a template uses, taken from its tree. Nothing is executed, so fields
// in a branch that is never taken count.
struct FieldUse {
  std::set<std::string> known;    // those that the data has
  std::set<std::string> unknown;  // other fields of the data itself: such an action fails
  bool whole = false;             // the data is used as a whole, by `.` or `$`
};

// `fields`: those that the data has.
FieldUse FieldsOf(const QueryTemplate& query, absl::Span<const absl::string_view> fields);

// lint_name.cc

// Checks seriesFilters and name. Returns the API name of all of the rule's series; nullopt: it
// cannot be inferred.
std::optional<std::string> LintName(const RuleConfig& rule, const Warner& warn);

}  // namespace flyball::rules
