// The warnings about one part of a rule each; lint.cc puts them together.
//
// Pure.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "rules/config.h"

namespace flyball::rules {

// Warns about fields below one place of the file.
class Warner {
 public:
  Warner(Findings& findings, std::string path, Place place)
      : findings_(findings), path_(std::move(path)), place_(place) {}

  // `field` continues the path: ".name.as". A place that is not known is the whole's.
  void operator()(Place place, absl::string_view field, std::string message) const;

 private:
  Findings& findings_;
  const std::string path_;
  const Place place_;
};

// lint_mapping.cc

// How resources are told apart without a cluster: "pod." of pods, Pod and pod.
std::string GuessResource(const OverrideConfig& item);
// An override to that core resource, or a template that may make its label.
bool HasLabelFor(const MappingConfig& mapping, absl::string_view singular);
void LintMapping(const MappingConfig& mapping, absl::string_view field, const Warner& warn);

// lint_query.cc

enum class QueryUse { kCustom, kExternal, kResource };
void LintQuery(const TextField& query, absl::string_view field, QueryUse use, const Warner& warn);

// lint_name.cc

// seriesFilters and name. The API name that all of the rule's series have; nullopt: it does not
// show.
std::optional<std::string> LintName(const RuleConfig& rule, const Warner& warn);

}  // namespace flyball::rules
