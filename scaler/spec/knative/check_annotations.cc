#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/go/duration.h"
#include "base/go/number.h"
#include "scaler/spec/knative/annotations.h"

namespace flyball::scaler::knative {
namespace {

// Checks one set of annotations. The messages are those of knative.dev/pkg/apis.
class Checker {
 public:
  Checker(const Config& config, const TextMap& annotations)
      : config_(config), annotations_(annotations) {}

  absl::Status Check() {
    CheckClass();
    CheckScales();
    CheckFloats();
    CheckDurations();
    CheckMetric();
    CheckAlgorithm();
    CheckInitialScale();
    if (errors_.empty()) return absl::OkStatus();
    std::sort(errors_.begin(), errors_.end());
    errors_.erase(std::unique(errors_.begin(), errors_.end()), errors_.end());
    return absl::InvalidArgumentError(absl::StrJoin(errors_, "\n"));
  }

 private:
  void Add(absl::string_view message, absl::string_view key) {
    errors_.push_back(absl::StrCat(message, ": ", key));
  }
  void Invalid(absl::string_view value, absl::string_view key) {
    Add(absl::StrCat("invalid value: ", value), key);
  }
  void OutOfBounds(absl::string_view value, absl::string_view low, absl::string_view high,
                   absl::string_view key) {
    Add(absl::StrCat("expected ", low, " <= ", value, " <= ", high), key);
  }

  std::optional<WrittenAnnotation> Find(AnnotationName name) const {
    return FindAnnotation(annotations_, name);
  }

  void CheckClass() {
    const auto written = Find(kClass);
    if (!written || !absl::EndsWith(written->text, ".knative.dev")) return;
    if (written->text != kKpaClass && written->text != kHpaClass) {
      Invalid(written->text, written->key);
    }
  }

  // The count; 0 if the annotation is absent or wrong.
  int32_t CheckCount(AnnotationName name) {
    const auto written = Find(name);
    if (!written) return 0;
    const std::optional<int64_t> wide = go::ParseDecimal(written->text);
    const std::optional<int32_t> count = go::ParseDecimal32(written->text);
    if (count.has_value() && *count >= 0) return *count;
    if (wide.has_value() || LooksLikeInteger(written->text)) {
      OutOfBounds(written->text, "0", "2147483647", written->key);
    } else {
      Invalid(written->text, written->key);
    }
    return 0;
  }

  // True also for a number that is too large for 64 bits.
  static bool LooksLikeInteger(absl::string_view text) {
    if (absl::StartsWith(text, "+") || absl::StartsWith(text, "-")) text.remove_prefix(1);
    return !text.empty() && text.find_first_not_of("0123456789") == absl::string_view::npos;
  }

  void CheckScales() {
    const int32_t min = CheckCount(kMinScale);
    const int32_t max = CheckCount(kMaxScale);
    if (max != 0 && max < min) {
      Add(absl::StrCat("max-scale=", max, " is less than min-scale=", min),
          absl::StrCat(kDomain, kMaxScale.name, ", ", kDomain, kMinScale.name));
    }
    const int32_t limit = config_.max_scale_limit;
    if (const auto written = Find(kMaxScale); written && limit != 0) {
      if (max > limit) {
        OutOfBounds(absl::StrCat(max), "1", absl::StrCat(limit), written->key);
      } else if (max == 0) {
        Add(absl::StrCat("max-scale=0 (unlimited), must be less than ", limit), written->key);
      }
    }
    CheckActivationScale(min, max);
  }

  void CheckActivationScale(int32_t min, int32_t max) {
    const auto written = Find(kActivationScale);
    if (!written) return;
    const std::optional<int32_t> scale = go::ParseDecimal32(written->text);
    if (!scale.has_value()) {
      Invalid(written->text, written->key);
    } else if (min > *scale) {
      Add(absl::StrCat("min-scale=", min, " is greater than activation-scale=", *scale),
          written->key);
    } else if (max < *scale && max != 0) {
      Add(absl::StrCat("max-scale=", max, " is less than activation-scale=", *scale), written->key);
    } else if (*scale < 2) {
      Add(absl::StrCat("activation-scale=", *scale, " must be greater than 1"), written->key);
    }
  }

  // NaN is within all bounds, as it is for the original.
  void CheckRange(AnnotationName name, double low, double high) {
    const auto written = Find(name);
    if (!written) return;
    const std::optional<double> value = go::ParseFloat(written->text);
    if (!value.has_value()) {
      Invalid(written->text, written->key);
    } else if (*value < low || *value > high) {
      OutOfBounds(written->text, absl::StrCat(low), absl::StrCat(high), written->key);
    }
  }

  void CheckFloats() {
    CheckRange(kPanicWindow, 1, 100);
    CheckRange(kPanicThreshold, 110, 1000);
    CheckRange(kTargetUtilization, 1, 100);
    if (const auto written = Find(kTarget)) {
      const std::optional<double> target = go::ParseFloat(written->text);
      if (!target.has_value()) {
        Invalid(written->text, written->key);
      } else if (*target < kSmallestTarget) {
        Add(absl::StrCat("target ", written->text, " should be at least ", kSmallestTarget),
            written->key);
      }
    }
    if (const auto written = Find(kTargetBurstCapacity)) {
      const std::optional<double> capacity = go::ParseFloat(written->text);
      if (!capacity.has_value() || (*capacity < 0 && *capacity != -1)) {
        Invalid(written->text, written->key);
      }
    }
  }

  void CheckDuration(AnnotationName name, absl::Duration low, bool whole_seconds) {
    const auto written = Find(name);
    if (!written) return;
    const absl::StatusOr<absl::Duration> duration = go::ParseDuration(written->text);
    if (!duration.ok()) {
      Invalid(written->text, written->key);
    } else if (*duration < low || *duration > kLongestWindow) {
      OutOfBounds(written->text, go::DurationText(low), go::DurationText(kLongestWindow),
                  written->key);
    } else if (whole_seconds && absl::Trunc(*duration, absl::Seconds(1)) != *duration) {
      Add("must be specified with at most second precision", written->key);
    }
  }

  void CheckDurations() {
    CheckDuration(kWindow, kShortestWindow, true);
    CheckDuration(kPodRetention, absl::ZeroDuration(), false);
    CheckDuration(kScaleDownDelay, absl::ZeroDuration(), true);
  }

  void CheckMetric() {
    const auto written = Find(kMetric);
    if (!written) return;
    const std::string of_class =
        TextAnnotation(annotations_, kClass).value_or(config_.pod_autoscaler_class);
    const std::string& metric = written->text;
    const bool wrong = of_class == kKpaClass   ? metric != "concurrency" && metric != "rps"
                       : of_class == kHpaClass ? metric.empty()
                                               : false;
    if (wrong) Invalid(metric, written->key);
  }

  // Checked only if the annotations themselves name the class that reads the algorithm.
  void CheckAlgorithm() {
    if (TextAnnotation(annotations_, kClass) != kKpaClass) return;
    const auto written = Find(kAlgorithm);
    if (!written || written->text.empty()) return;
    for (const char* const known : {"linear", "weighted-exponential", "weightedExponential"}) {
      if (written->text == known) return;
    }
    Invalid(written->text, written->key);
  }

  void CheckInitialScale() {
    const auto written = Find(kInitialScale);
    if (!written) return;
    const std::optional<int64_t> scale = go::ParseDecimal(written->text);
    if (!scale.has_value()) {
      Invalid(written->text, written->key);
    } else if (*scale < 0) {
      Invalid(written->text, absl::StrCat(written->key, " must be greater than 0"));
    } else if (*scale == 0 && !config_.allow_zero_initial_scale) {
      Invalid(written->text, absl::StrCat(written->key, "=0 not allowed by cluster"));
    }
  }

  const Config& config_;
  const TextMap& annotations_;
  std::vector<std::string> errors_;
};

}  // namespace

absl::Status CheckAnnotations(const Config& config, const TextMap& annotations) {
  return Checker(config, annotations).Check();
}

}  // namespace flyball::scaler::knative
