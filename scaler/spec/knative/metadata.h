// The annotations of scaling by requests as the metadata of an `http` trigger: the same texts under
// names in camel case (`target-utilization-percentage` is `targetUtilizationPercentage`).
//
// Pure. Checks, defaults and what a text means are those of the annotations. Bounds have no key:
// they are minReplicas and maxReplicas of the autoscaler.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "scaler/spec/knative/annotations.h"
#include "scaler/spec/request_settings.h"

namespace flyball::scaler::knative {

struct MetadataName {
  const char* key;  // of the metadata
  AnnotationName annotation;
};
absl::Span<const MetadataName> MetadataNames();

// Fills keys that are absent with what the annotations say.
void AddAnnotations(const TextMap& annotations, TextMap& metadata);

// What the metadata ask for, where one pod serves at most so many requests at once (0: any).
//   kInvalidArgument  what is wrong, one a line, each `KEY: …` by the name in the metadata
absl::StatusOr<RequestSettings> ReadRequestSettings(const TextMap& metadata,
                                                    int64_t container_concurrency);

}  // namespace flyball::scaler::knative
