// The admission of a HorizontalPodAutoscaler: makes the neutral Autoscaler from the bytes that a
// client would POST, or returns everything that the API server would refuse in them.
//
// Pure; safe on any thread. autoscaling/v2 and autoscaling/v1, as JSON or as one YAML document.
// Steps, in the API server's order: decode, defaults of the body's version, conversion, dropping of
// fields whose gate is off, validation, and the v2 defaults of reading the stored object back.
//
// Source:   Kubernetes v1.34.4 and v1.37.1 pkg/apis/autoscaling, pkg/registry/autoscaling; compared
//           with 1.34.4 by replaying test/data/hpa/admission.jsonl.gz, with 1.34 to 1.37 by the
//           scenarios of test/data/hpa.
// Not here: updates (an object is judged as a new one), name generation, and metadata.namespace
//           taken from a URL: it has to be in the body.
// Differs:  decode errors name the same fields but in words of their own; see also document.h.
// Limits:   64 MiB, 100,000 values, depth 100.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "scaler/spec/dialect.h"
#include "scaler/spec/document.h"
#include "scaler/spec/parsed.h"

namespace flyball::scaler {

struct AdmitOptions {
  Dialect dialect;  // of the API server
  // Only decode, apply defaults and convert: objects that the API server would refuse and fields
  // whose gate is off are accepted.
  bool skip_admission = false;
};

struct AdmissionResult : ParsedAutoscaler {
  std::string canonical_spec_json;  // the v2 spec
};

// The options of an API server that admits whatever any version with any gates admits. For objects
// that are already stored, and for objects whose cluster is not known.
AdmitOptions AdmitAll();

AdmissionResult Admit(absl::string_view json_or_yaml, const AdmitOptions& options = {});
AdmissionResult Admit(const Node& document, const AdmitOptions& options = {});

}  // namespace flyball::scaler
