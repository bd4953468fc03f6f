#include "rules/config.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

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
  struct Unit {
    absl::string_view name;
    uint64_t ms;
  };
  static constexpr Unit kUnits[] = {{"y", 365ull * 24 * 3600 * 1000},
                                    {"w", 7ull * 24 * 3600 * 1000},
                                    {"d", 24ull * 3600 * 1000},
                                    {"h", 3600ull * 1000},
                                    {"m", 60ull * 1000},
                                    {"s", 1000},
                                    {"ms", 1}};
  // The original keeps nanoseconds in an int64.
  constexpr uint64_t kMaxMs = std::numeric_limits<int64_t>::max() / 1'000'000;
  constexpr absl::string_view kDigits = "0123456789";
  if (text == "0") return absl::ZeroDuration();
  if (text.empty()) return std::nullopt;
  uint64_t total = 0;
  const Unit* next = std::begin(kUnits);
  while (!text.empty()) {
    const size_t digits = std::min(text.find_first_not_of(kDigits), text.size());
    uint64_t count = 0;
    if (digits == 0 || !absl::SimpleAtoi(text.substr(0, digits), &count)) return std::nullopt;
    text.remove_prefix(digits);
    const absl::string_view name = text.substr(0, text.find_first_of(kDigits));
    next = std::find_if(next, std::end(kUnits), [&](const Unit& u) { return u.name == name; });
    if (next == std::end(kUnits) || count > kMaxMs / next->ms) return std::nullopt;
    total += count * next->ms;
    if (total > kMaxMs) return std::nullopt;
    ++next;
    text.remove_prefix(name.size());
  }
  return absl::Milliseconds(static_cast<int64_t>(total));
}

}  // namespace flyball::rules
