// Series names: which ones a rule accepts, and their names in the API.
//
// Immutable; thread-safe. Source: prometheus-adapter 0.12.0 pkg/naming/metric_namer.go.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/go/regexp.h"
#include "rules/config.h"

namespace flyball::rules {

class SeriesNaming {
 public:
  // Compiles seriesFilters and name. nullopt after an error, which is then among the findings.
  static std::optional<SeriesNaming> Compile(const RuleConfig& rule, const std::string& path,
                                             Findings& findings);

  // Whether every filter passes, name.matches included.
  bool Accepts(absl::string_view series) const;
  // The expansion of name.as; "" for a series that name.matches does not match.
  std::string ApiName(absl::string_view series) const;

 private:
  struct Filter {
    go::Regexp regexp;
    bool keeps;  // for `is`; false: for `isNot`
  };

  SeriesNaming() = default;

  std::vector<Filter> filters_;
  std::optional<go::Regexp> matches_;  // absent: `.*`
  std::string as_;
};

}  // namespace flyball::rules
