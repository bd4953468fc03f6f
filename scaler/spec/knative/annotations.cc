#include "scaler/spec/knative/annotations.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/go/duration.h"
#include "base/go/number.h"

namespace flyball::scaler::knative {

std::string FullName(absl::string_view name) {
  return absl::StrCat(absl::StrContains(name, '/') ? "" : kDomain, name);
}

std::optional<WrittenAnnotation> FindAnnotation(const TextMap& annotations, AnnotationName name) {
  for (const char* const each : {name.name, name.older}) {
    if (*each == '\0') continue;
    const auto found = annotations.find(FullName(each));
    if (found != annotations.end()) return WrittenAnnotation{found->first, found->second};
  }
  return std::nullopt;
}

std::optional<std::string> TextAnnotation(const TextMap& annotations, AnnotationName name) {
  std::optional<WrittenAnnotation> written = FindAnnotation(annotations, name);
  if (!written.has_value()) return std::nullopt;
  return std::move(written->text);
}

std::optional<double> FloatAnnotation(const TextMap& annotations, AnnotationName name) {
  const std::optional<WrittenAnnotation> written = FindAnnotation(annotations, name);
  return written.has_value() ? go::ParseFloat(written->text) : std::nullopt;
}

std::optional<int32_t> IntAnnotation(const TextMap& annotations, AnnotationName name) {
  const std::optional<WrittenAnnotation> written = FindAnnotation(annotations, name);
  return written.has_value() ? go::ParseDecimal32(written->text) : std::nullopt;
}

std::optional<absl::Duration> DurationAnnotation(const TextMap& annotations, AnnotationName name) {
  const std::optional<WrittenAnnotation> written = FindAnnotation(annotations, name);
  if (!written.has_value()) return std::nullopt;
  const absl::StatusOr<absl::Duration> duration = go::ParseDuration(written->text);
  if (!duration.ok()) return std::nullopt;
  return *duration;
}

}  // namespace flyball::scaler::knative
