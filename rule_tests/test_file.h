// A test file of `flyball test rules`: series with values, objects, requests and their expected
// results.
//
// Pure. The format follows promtool's test files where it can. Keys are strict: one that is unknown
// or given twice is an error, with its place. Limits: those of series_notation.h and kMaxTestFile.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "adapter/queries/metric_source.h"
#include "kube/objects/manifest.h"
#include "rules/config.h"

namespace flyball::rule_tests {

inline constexpr size_t kMaxTestFile = 8 << 20;

struct InputSeries {
  promql::LabelSet labels;
  std::vector<std::optional<double>> values;  // one each interval from time 0; nullopt: no sample
};

// What the answer's JSON must contain: maps may hold more keys, lists are equal in length and
// order, scalars are compared as text. In an item, `object: Kind/name` stands for describedObject.
struct Expected {
  enum class Kind { kNull, kText, kList, kMap };
  Kind kind = Kind::kNull;
  std::string text;
  std::vector<Expected> items;  // of a list; of a map, in the order of its keys
  std::vector<std::string> keys;
};

struct RuleTest {
  std::string name;
  std::string request;                             // path and query of a GET
  std::optional<absl::Duration> eval_time;         // absent: the file's
  std::optional<std::vector<std::string>> promql;  // queries sent, in any order; nullopt: any
  std::optional<Expected> answer;
  int code = 200;
  std::optional<std::string> message;  // of an error
  rules::Place place;
};

struct RuleTestFile {
  std::vector<rules::TextField> rule_files;    // as one file of rules; relative to the test file
  std::vector<rules::TextField> object_files;  // YAML documents, as for kubectl apply
  absl::Duration evaluation_time = absl::Minutes(5);
  absl::Duration interval = absl::Minutes(1);
  std::vector<InputSeries> input_series;
  // Kubernetes objects; a CustomResourceDefinition among them makes its resource known.
  std::vector<kube::ManifestObject> objects;
  std::vector<RuleTest> tests;
};

// What can be read is returned even if there are errors.
RuleTestFile ReadRuleTestFile(absl::string_view text, rules::Findings& findings);

}  // namespace flyball::rule_tests
