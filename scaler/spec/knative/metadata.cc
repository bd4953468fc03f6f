#include "scaler/spec/knative/metadata.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "scaler/spec/knative/settings.h"

namespace flyball::scaler::knative {
namespace {

constexpr MetadataName kNames[] = {
    {"metric", kMetric},
    {"metricAggregationAlgorithm", kAlgorithm},
    {"target", kTarget},
    {"targetUtilizationPercentage", kTargetUtilization},
    {"targetBurstCapacity", kTargetBurstCapacity},
    {"window", kWindow},
    {"panicWindowPercentage", kPanicWindow},
    {"panicThresholdPercentage", kPanicThreshold},
    {"initialScale", kInitialScale},
    {"activationScale", kActivationScale},
    {"scaleDownDelay", kScaleDownDelay},
    {"scaleToZeroPodRetentionPeriod", kPodRetention},
    {"progressDeadline", kProgressDeadline},
};

// The metadata under the names of annotations. Blank ones are absent, as in all triggers.
TextMap AsAnnotations(const TextMap& metadata) {
  TextMap annotations = {{FullName(kClass.name), kKpaClass}};  // only then is the algorithm checked
  for (const MetadataName& name : kNames) {
    const auto found = metadata.find(name.key);
    if (found == metadata.end()) continue;
    const absl::string_view text = absl::StripAsciiWhitespace(found->second);
    if (!text.empty()) annotations[FullName(name.annotation.name)] = std::string(text);
  }
  return annotations;
}

// `expected 1 <= 0 <= 100: autoscaling.knative.dev/window` as `window: expected 1 <= 0 <= 100`.
std::string InMetadataNames(absl::string_view messages) {
  std::vector<std::pair<std::string, std::string>> names;
  for (const MetadataName& name : kNames) {
    names.emplace_back(FullName(name.annotation.name), name.key);
  }
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(messages, '\n')) {
    const size_t colon = line.rfind(": ");
    std::string renamed;
    if (colon == absl::string_view::npos) {
      renamed = std::string(line);
    } else {
      // Words about the value may follow the name: `initial-scale=0 not allowed`.
      const absl::string_view where = line.substr(colon + 2);
      const size_t end = where.find_first_of("= ");
      const absl::string_view rest = end == absl::string_view::npos ? "" : where.substr(end);
      renamed = absl::StrCat(where.substr(0, end), ": ", line.substr(0, colon), rest);
    }
    lines.push_back(absl::StrReplaceAll(renamed, names));
  }
  return absl::StrJoin(lines, "\n");
}

}  // namespace

absl::Span<const MetadataName> MetadataNames() { return kNames; }

void AddAnnotations(const TextMap& annotations, TextMap& metadata) {
  for (const MetadataName& name : kNames) {
    const std::optional<std::string> text = TextAnnotation(annotations, name.annotation);
    if (!text.has_value()) continue;
    std::string& to = metadata[name.key];
    if (absl::StripAsciiWhitespace(to).empty()) to = *text;
  }
}

absl::StatusOr<RequestSettings> ReadRequestSettings(const TextMap& metadata,
                                                    int64_t container_concurrency) {
  const Config config;
  const TextMap annotations = AsAnnotations(metadata);
  if (const absl::Status status = CheckAnnotations(config, annotations); !status.ok()) {
    return absl::InvalidArgumentError(InMetadataNames(status.message()));
  }
  // Knative's admission checks it together with those of its own domain.
  if (FindAnnotation(annotations, kProgressDeadline).has_value() &&
      DurationAnnotation(annotations, kProgressDeadline).value_or(absl::ZeroDuration()) <
          absl::Seconds(1)) {
    return absl::InvalidArgumentError("progressDeadline: must be a duration of a second or more");
  }
  RequestSettings settings = ResolveSettings(
      config, {.annotations = annotations, .container_concurrency = container_concurrency});
  // The grammar of these numbers has NaN and infinity, from which no count can be computed.
  for (const auto& [key, number] :
       {std::pair("target", settings.total),
        std::pair("targetUtilizationPercentage", settings.target),
        std::pair("panicThresholdPercentage", settings.panic_threshold),
        std::pair("targetBurstCapacity", settings.target_burst_capacity)}) {
    if (!std::isfinite(number)) {
      return absl::InvalidArgumentError(absl::StrCat(key, ": must be a finite number"));
    }
  }
  return settings;
}

}  // namespace flyball::scaler::knative
