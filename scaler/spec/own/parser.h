// Parses an Autoscaler (CRD): from its JSON or YAML (flyball.dev/v1alpha1) it makes the neutral
// Autoscaler and the OwnSpec, which holds what an HPA does not have, or lists all errors.
//
// Pure; safe on any thread. The part of the spec that an HPA has too goes through an HPA's defaults
// and validation (v2.h) with the tolerance gate on, with three exceptions: with triggers,
// minReplicas may be 0 and metrics may be empty, and a metric selector has to compile. The metadata
// of a trigger are checked by its type (triggers/types). The custom resource
// definition (charts/flyball/files/crds) refuses the same as far as CEL can say it: tests run both
// over test/data/own_kind_cases.yaml.
//
// Units:  `cadence.interval` is a duration (`500ms`, `1m30s`), `cooldownPeriod` a duration or whole
//         seconds (300).
// Limits: those of ParseOneObject; 64 metrics; 32 policies in each direction; 32 triggers, each
//         with 64 metadata, 16 secrets and a name of 253 bytes; an interval from 200 ms to 1 h; a
//         cooldown of at most a year.
#pragma once

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scaler/spec/document.h"
#include "scaler/spec/own_spec.h"
#include "scaler/spec/parsed.h"

namespace flyball::scaler {

struct OwnParseResult : ParsedAutoscaler {
  OwnSpec own;
  std::optional<absl::Time> created;      // metadata.creationTimestamp
  std::optional<absl::Time> last_active;  // status.lastActiveTime
};

// `trigger_types`: the types of triggers that are allowed.
OwnParseResult ParseOwnAutoscaler(absl::string_view json_or_yaml,
                                  const std::vector<absl::string_view>& trigger_types);
OwnParseResult ParseOwnAutoscaler(const Node& document,
                                  const std::vector<absl::string_view>& trigger_types);

}  // namespace flyball::scaler
