// Why a series is, or is not, a metric: what each rule of a file does with it.
//
// Pure. A series of which only the name is given may have any labels: a rule that requires labels
// is then assumed to find it, and its result is unknown.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/objects/rest_mapping.h"
#include "rules/compiled_rules.h"
#include "rules/config.h"

namespace flyball::rule_tools {

struct GivenSeries {
  std::string name;
  std::map<std::string, std::string> labels;  // without the name
  bool labels_known = false;                  // braces were written
  std::string ToString() const;
};

// `http_requests_total{namespace="shop",pod="web-1"}`, or the name alone. kInvalidArgument: it is
// no series, for example with operators other than `=`.
absl::StatusOr<GivenSeries> ParseGivenSeries(absl::string_view text);

// A metric that a rule makes of the series.
struct OfferedMetric {
  std::string name;       // "pods/http_requests_per_second"; for external metrics only the name
  std::string promql;     // sent for a request for the series' own object; "": there is none
  std::string trouble;    // why that finds nothing, or cannot be made; "": all is well
  std::string hidden_by;  // the later rule that makes the same name and counts; "": none
};

struct RuleVerdict {
  enum class End {
    kOtherName,     // the rule selects series of other names
    kNotFound,      // it selects other labels
    kNotAccepted,   // seriesFilters or name.matches leave it out
    kNoResource,    // no label names an object
    kLabelsNeeded,  // the result depends on labels that were not given
    kOffered,
  };
  std::string rule;  // "rules[3] config.yaml:12"
  End end = End::kOffered;
  std::string why;                     // unless kOtherName or kOffered
  std::vector<OfferedMetric> metrics;  // kOffered: at least one
};

// In the order of the file, `rules` before `externalRules`. `config` is what `compiled` was made
// of.
std::vector<RuleVerdict> FateOf(const GivenSeries& series, const rules::Config& config,
                                const rules::CompiledRules& compiled,
                                const kube::RestMapper& mapper);

// Whether any rule offers a value of it.
bool IsOffered(const std::vector<RuleVerdict>& verdicts);

std::string FateText(const GivenSeries& series, const std::vector<RuleVerdict>& verdicts);
std::string FateJson(const GivenSeries& series, const std::vector<RuleVerdict>& verdicts);

}  // namespace flyball::rule_tools
