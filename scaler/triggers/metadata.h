// Reads a trigger's metadata into typed values, and collects everything that is wrong with them.
//
// Not thread-safe; for making a trigger. Source: KEDA 2.20 typed configuration: a value that is
// blank after trimming is absent; numbers are JSON's (no `+5`, `05`, `.5`, and `10.0` is no
// integer); keys that nobody asks for are ignored.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/spec/own_spec.h"

namespace flyball::scaler {

class Metadata {
 public:
  // `spec` outlives this. `index` is the trigger's place in spec.triggers.
  Metadata(const TriggerSpec& spec, size_t index) : spec_(spec), index_(index) {}

  bool Has(absl::string_view name) const;

  // Each gives the value, or `otherwise` when it is absent. Of a value that is wrong the problem is
  // noted and `otherwise` returned.
  std::string Text(absl::string_view name, absl::string_view otherwise = "");
  double Number(absl::string_view name, double otherwise);
  int64_t Integer(absl::string_view name, int64_t otherwise);
  bool Bool(absl::string_view name, bool otherwise);
  absl::Duration Duration(absl::string_view name, absl::Duration otherwise);  // `30s`, or ms
  std::string OneOf(absl::string_view name, const std::vector<absl::string_view>& words,
                    absl::string_view otherwise);
  // `k=v,k=v`
  std::vector<std::pair<std::string, std::string>> Pairs(absl::string_view name);

  // The same, but that a value is absent is a problem too.
  std::string RequiredText(absl::string_view name);
  double RequiredNumber(absl::string_view name);

  // A target in thousandths (metric_value.h).
  int64_t RequiredTarget(absl::string_view name);
  TargetType MetricType() const;

  // Notes a problem of one value, or of the trigger itself when `name` is empty.
  void Wrong(absl::string_view name, absl::string_view problem);

  // OK, or kInvalidArgument with all problems: `triggers[1].metadata.threshold: …; …`.
  absl::Status status() const;

 private:
  const std::string* Find(absl::string_view name) const;

  const TriggerSpec& spec_;
  const size_t index_;
  std::vector<std::string> problems_;
};

}  // namespace flyball::scaler
