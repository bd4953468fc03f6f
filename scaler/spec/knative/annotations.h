// The annotations autoscaling.knative.dev/… of a revision, and one of another domain.
//
// Pure. Some have an older name in camel case, which counts if the newer one is absent.
// Source: Knative Serving v0.51.0 pkg/apis/autoscaling (register.go, annotation_validation.go).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scaler/spec/knative/config.h"

namespace flyball::scaler::knative {

// An annotation by its name and its older one ("" if there is none). A name without a domain is of
// kDomain.
struct AnnotationName {
  const char* name;
  const char* older = "";
};

inline constexpr char kDomain[] = "autoscaling.knative.dev/";
inline constexpr AnnotationName kClass{"class"};
inline constexpr AnnotationName kMetric{"metric"};
inline constexpr AnnotationName kAlgorithm{"metric-aggregation-algorithm",
                                           "metricAggregationAlgorithm"};
inline constexpr AnnotationName kTarget{"target"};
inline constexpr AnnotationName kTargetUtilization{"target-utilization-percentage",
                                                   "targetUtilizationPercentage"};
inline constexpr AnnotationName kTargetBurstCapacity{"target-burst-capacity",
                                                     "targetBurstCapacity"};
inline constexpr AnnotationName kWindow{"window"};
inline constexpr AnnotationName kPanicWindow{"panic-window-percentage", "panicWindowPercentage"};
inline constexpr AnnotationName kPanicThreshold{"panic-threshold-percentage",
                                                "panicThresholdPercentage"};
inline constexpr AnnotationName kMinScale{"min-scale", "minScale"};
inline constexpr AnnotationName kMaxScale{"max-scale", "maxScale"};
inline constexpr AnnotationName kInitialScale{"initial-scale", "initialScale"};
inline constexpr AnnotationName kActivationScale{"activation-scale"};
inline constexpr AnnotationName kScaleDownDelay{"scale-down-delay", "scaleDownDelay"};
inline constexpr AnnotationName kPodRetention{"scale-to-zero-pod-retention-period",
                                              "scaleToZeroPodRetentionPeriod"};
inline constexpr AnnotationName kProgressDeadline{"serving.knative.dev/progress-deadline"};

// The name with its domain.
std::string FullName(absl::string_view name);

// One annotation as it is written; `key` is the full name it was found under.
struct WrittenAnnotation {
  std::string key;
  std::string text;
};
std::optional<WrittenAnnotation> FindAnnotation(const TextMap& annotations, AnnotationName name);

// Its value; nullopt when it is absent or does not parse.
std::optional<std::string> TextAnnotation(const TextMap& annotations, AnnotationName name);
std::optional<double> FloatAnnotation(const TextMap& annotations, AnnotationName name);
std::optional<int32_t> IntAnnotation(const TextMap& annotations, AnnotationName name);
std::optional<absl::Duration> DurationAnnotation(const TextMap& annotations, AnnotationName name);

// Checks the annotations as Knative's admission does.
//   kInvalidArgument  all that is wrong, one message on each line, in the messages' sorted order
absl::Status CheckAnnotations(const Config& config, const TextMap& annotations);

}  // namespace flyball::scaler::knative
