// HorizontalPodAutoscalers, as a person or kubectl wrote them, as objects of our own kind.
//
// Pure. Takes autoscaling/v2 and v1 in JSON or YAML: one object, several documents, or a List;
// other kinds are passed over. The spec comes out with every default that the API server would fill
// in, but for the metrics of triggers, which an HPA has none of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "scaler/spec/dialect.h"

namespace flyball::convert {

struct ConvertOptions {
  std::string mode;  // "Shadow", "Advise", "Act"; "": left to the server's flag
  // Of Knative's Services: the Service to call is NAME-front, as NAME is Knative's while its own
  // lives.
  bool beside = false;
  // Whose API server must admit the objects; absent: any.
  std::optional<scaler::Dialect> dialect;
};

struct Conversion {
  std::string yaml;                 // a document each; comments say what could not be carried over
  std::vector<std::string> errors;  // `FILE:LINE: what`; then yaml is not to be used
  bool nothing = false;             // the file has no object of the kind, which is an error too
};

Conversion ConvertHpas(absl::string_view file, absl::string_view text,
                       const ConvertOptions& options);

}  // namespace flyball::convert
