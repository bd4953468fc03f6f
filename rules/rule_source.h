// Rules where people keep them: a rule file, a ConfigMap that holds one, or the values of a Helm
// chart (this project's, prometheus-adapter's, or a chart's around them).
//
// Pure. Findings have their place in the file that was given, whatever the rules are wrapped in.
// Limit: kMaxRuleSources documents, and as many places with rules.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "rules/compiled_rules.h"

namespace flyball::rules {

inline constexpr size_t kMaxRuleSources = 1000;

// The rules of one place of a file.
struct FoundRules {
  std::string of;  // "ConfigMap monitoring/flyball, config.yaml"; "": the file is a rule file
  CompileResult compiled;
  Config config = {};  // the rules as they are written
};

// All of a file, at least one. Which of the forms it has shows from what stands at its top: objects
// of Kubernetes have a kind (those that are no ConfigMap are passed over), values a mapping
// `rules`. `values_path`: see ReadChartValues; if it is not empty the file holds values.
std::vector<FoundRules> FindRules(absl::string_view text, absl::string_view file,
                                  const std::vector<std::string>& values_path);

}  // namespace flyball::rules
