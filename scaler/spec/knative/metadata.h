// The annotations of scaling by requests as the metadata of an `http` trigger: the same values
// under names in camel case (`target-utilization-percentage` is `targetUtilizationPercentage`).
//
// Pure. Checks, defaults and the meaning of a value are those of the annotations. There are no keys
// for the bounds, which are minReplicas and maxReplicas of the autoscaler.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "scaler/spec/knative/annotations.h"
#include "scaler/spec/request_settings.h"

namespace flyball::scaler::knative {

struct MetadataName {
  const char* key;  // of the metadata
  AnnotationName annotation;
};
absl::Span<const MetadataName> MetadataNames();

// Adds the annotations' values for keys that are absent.
void AddAnnotations(const TextMap& annotations, TextMap& metadata);

// Reads the metadata. `container_concurrency` is the most requests that one pod serves at once; 0:
// no limit.
//   kInvalidArgument  what is wrong, one `KEY: …` on each line, with the key of the metadata
absl::StatusOr<RequestSettings> ReadRequestSettings(const TextMap& metadata,
                                                    int64_t container_concurrency);

}  // namespace flyball::scaler::knative
