// The rule file as written: typed, with the place of everything in it, not yet compiled.
//
// Pure. Source: prometheus-adapter 0.12.0 pkg/config, read like its yaml.v2 in strict mode: a key
// that is unknown, repeated or of the wrong type is an error; YAML 1.1 booleans; a number or
// boolean where text is expected is its text; null leaves a field unset; of several documents the
// first counts; a merge key (`<<: *anchor`) acts at its position. Limits: kMaxFileBytes, and
// kMaxValues before and after anchors are expanded, and 1000 levels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace flyball::rules {

inline constexpr size_t kMaxFileBytes = 8 << 20;
inline constexpr int kMaxValues = 200'000;

// Counted from 1; 0 if the file does not contain it.
struct Place {
  int line = 0, column = 0;
  bool known() const { return line > 0; }
};

// One finding about a rule file.
struct Finding {
  // kQuery: Prometheus refuses the query. Another server may know more of the language, so a file
  // with such findings compiles, but `flyball check rules` fails.
  enum class Severity { kError, kQuery, kWarning };
  Severity severity = Severity::kError;
  std::string file;
  int line = 0, column = 0;  // from 1; 0 for the file as a whole
  std::string field;         // "rules[3].name.as"
  std::string message;       // what is wrong, what was expected
  // `file:line:column: field: message`, with "warning: " before the message of a warning.
  std::string ToString() const;
};

struct TextField {
  std::string text;
  Place place;
};

struct FilterConfig {
  TextField is, is_not;
  Place place;
};

struct OverrideConfig {
  TextField label;
  TextField group, resource;
};

struct MappingConfig {
  TextField label_template;
  std::vector<OverrideConfig> overrides;  // file order, each label once
  std::optional<bool> namespaced;
  Place place;
};

struct NameConfig {
  TextField matches, as;
};

// onFailure: what is answered while the source fails. The original does not have it.
struct OnFailureConfig {
  absl::Duration keep_last;
  // `then` is a word (fail, max, min), or a map with one of these.
  struct Then {
    TextField word, value, replicas;
    Place place;
  };
  Then then;
  Place place;
};

struct RuleConfig {
  TextField series_query;
  std::vector<FilterConfig> filters;
  MappingConfig resources;
  NameConfig name;
  TextField metrics_query;
  TextField source;
  std::optional<OnFailureConfig> on_failure;
  Place place;
};

struct ResourceRuleConfig {
  TextField container_query, node_query;
  MappingConfig resources;
  TextField container_label;
  TextField source;
  Place place;
};

struct ResourceRulesConfig {
  ResourceRuleConfig cpu, memory;
  absl::Duration window;
  Place place;
};

struct Config {
  std::vector<RuleConfig> rules, external_rules;
  std::optional<ResourceRulesConfig> resource_rules;
  // The names of the two lists in the file.
  std::string rules_field = "rules";
  std::string external_field = "externalRules";
  std::string resource_field = "resourceRules";
};

// Collects the findings about a file.
class Findings {
 public:
  explicit Findings(absl::string_view file) : file_(file) {}

  void Error(Place place, std::string field, std::string message);
  void Refuse(Place place, std::string field, std::string message);  // kQuery
  void Warn(Place place, std::string field, std::string message);

  bool has_errors() const { return errors_; }
  // In file order.
  std::vector<Finding> Take() &&;

 private:
  void Add(Finding::Severity severity, Place place, std::string field, std::string message);

  std::string file_;
  bool errors_ = false;
  std::vector<Finding> findings_;
};

// What can be read is returned even if there are errors, so that later stages can find more.
Config ReadConfig(absl::string_view text, Findings& findings);

// The rules in the values of a Helm chart: `rules.custom`, `rules.external` and `rules.resource` of
// this project's chart and of prometheus-adapter's. `path`: the keys down to the chart's own
// values, as [prometheus-adapter] in those of a parent chart.
Config ReadChartValues(absl::string_view text, const std::vector<std::string>& path,
                       Findings& findings);

// `1h30m`, `90s`, `0`: units y w d h m s ms, largest first. nullopt: not a duration.
std::optional<absl::Duration> ParsePrometheusDuration(absl::string_view text);

}  // namespace flyball::rules
