// Finds rules in the files that people keep: a rule file, a ConfigMap that contains one, or the
// values of a Helm chart (this project's, prometheus-adapter's, or a parent chart's).
//
// Pure. Findings have their place in the given file, whatever the rules are wrapped in. Limit:
// kMaxRuleSources documents, and as many places with rules.
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

// All rules of a file, at least one element. The top level shows the form of the file: Kubernetes
// objects have a kind (those that are no ConfigMap are skipped), values have a mapping `rules`.
// `values_path`: see ReadChartValues; if it is not empty the file holds values.
std::vector<FoundRules> FindRules(absl::string_view text, absl::string_view file,
                                  const std::vector<std::string>& values_path);

}  // namespace flyball::rules
