#include "rules/config.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "promql/text.h"

namespace flyball::rules {

std::string Finding::ToString() const {
  std::string out = file;
  if (line > 0) absl::StrAppend(&out, ":", line, ":", column);
  absl::StrAppend(&out, ": ");
  if (!field.empty()) absl::StrAppend(&out, field, ": ");
  if (severity == Severity::kWarning) absl::StrAppend(&out, "warning: ");
  return absl::StrCat(out, message);
}

void Findings::Add(Finding::Severity severity, Place place, std::string field,
                   std::string message) {
  findings_.push_back(
      {severity, file_, place.line, place.column, std::move(field), std::move(message)});
}

void Findings::Error(Place place, std::string field, std::string message) {
  errors_ = true;
  Add(Finding::Severity::kError, place, std::move(field), std::move(message));
}

void Findings::Refuse(Place place, std::string field, std::string message) {
  Add(Finding::Severity::kQuery, place, std::move(field), std::move(message));
}

void Findings::Warn(Place place, std::string field, std::string message) {
  Add(Finding::Severity::kWarning, place, std::move(field), std::move(message));
}

std::vector<Finding> Findings::Take() && {
  std::stable_sort(findings_.begin(), findings_.end(), [](const Finding& a, const Finding& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
  return std::move(findings_);
}

std::optional<absl::Duration> ParsePrometheusDuration(absl::string_view text) {
  if (text == "0") return absl::ZeroDuration();
  const auto ms = promql::ParseDurationMs(text);
  return ms.ok() ? std::optional(absl::Milliseconds(*ms)) : std::nullopt;
}

}  // namespace flyball::rules
