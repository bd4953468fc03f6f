// Converts HorizontalPodAutoscalers, as a person or kubectl wrote them, to Autoscalers (CRD).
//
// Pure. Takes autoscaling/v2 and v1 in JSON or YAML: one object, several documents, or a List.
// Objects of other kinds are skipped, and so, with a comment, are those that KEDA made. The
// resulting spec has every default that the API server would fill in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "scaler/spec/dialect.h"

namespace flyball::convert {

struct ConvertOptions {
  std::string mode;  // "Shadow", "Advise", "Act"; "": left to the server's flag
  // For Knative's Services: the Service that clients call is NAME-front, since NAME belongs to
  // Knative as long as the Knative Service exists.
  bool beside = false;
  // The API server that is to admit the objects; absent: any.
  std::optional<scaler::Dialect> dialect;
};

struct Conversion {
  std::string yaml;                 // documents; comments say what could not be carried over
  std::vector<std::string> errors;  // `FILE:LINE: what`; if there are any, yaml must not be used
  bool nothing = false;             // the file has no object of the kind; that is also an error
};

Conversion ConvertHpas(absl::string_view file, absl::string_view text,
                       const ConvertOptions& options);

}  // namespace flyball::convert
