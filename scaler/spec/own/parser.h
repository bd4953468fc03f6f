// Parses our own kind: makes the neutral Autoscaler, and the OwnSpec that says what an HPA cannot,
// of the JSON or YAML of an Autoscaler (flyball.dev/v1alpha1), or tells everything that is wrong.
//
// Pure; safe on any thread. The part of the spec that an HPA has goes through an HPA's defaults and
// validation (hpa_parser.h) with the tolerance gate on, with three exceptions: with triggers,
// minReplicas may be 0 and metrics may be empty, and a metric selector has to compile. MakeTrigger
// reads the metadata of a trigger (triggers/trigger.h), not this parser. The custom resource
// definition (charts/flyball/files/crds) refuses the same as far as CEL can say it: tests run both
// over test/data/own_kind_cases.yaml.
//
// Units:  `cadence.interval` is a duration (`500ms`, `1m30s`), `cooldownPeriod` a duration or whole
//         seconds (300).
// Limits: those of hpa_parser.h; 64 metrics; 32 policies in each direction; 32 triggers, each with
//         64 metadata, 16 secrets and a name of 253 bytes; an interval from 200 ms to 1 h; a
//         cooldown of at most a year.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/spec/document.h"
#include "scaler/spec/field_error.h"
#include "scaler/spec/own_spec.h"

namespace flyball::scaler {

// The definition's name is PLURAL.GROUP: autoscalers.flyball.dev.
inline constexpr absl::string_view kOwnGroup = "flyball.dev";
inline constexpr absl::string_view kOwnVersion = "v1alpha1";
inline constexpr absl::string_view kOwnPlural = "autoscalers";
inline constexpr absl::string_view kOwnKind = "Autoscaler";
inline constexpr absl::string_view kOwnApiVersion = "flyball.dev/v1alpha1";  // GROUP/VERSION

struct OwnParseResult {
  std::string decode_error;        // not empty: this is no such object; nothing else is set
  std::vector<FieldError> errors;  // sorted by field, type, detail; empty: accepted

  // Also set when there are errors, so that they can be explained; not to be acted on then.
  std::optional<Autoscaler> autoscaler;
  OwnSpec own;
  std::optional<absl::Time> created;      // metadata.creationTimestamp
  std::optional<absl::Time> last_active;  // status.lastActiveTime

  bool ok() const { return decode_error.empty() && errors.empty(); }
};

OwnParseResult ParseOwnAutoscaler(absl::string_view json_or_yaml);
OwnParseResult ParseOwnAutoscaler(const Node& document);

}  // namespace flyball::scaler
