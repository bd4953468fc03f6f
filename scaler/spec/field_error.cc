#include "scaler/spec/field_error.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace flyball::scaler {
namespace {

// The type names of apimachinery's errors, and what its messages call them.
constexpr std::pair<absl::string_view, absl::string_view> kWords[] = {
    {"FieldValueInvalid", "Invalid value"},
    {"FieldValueRequired", "Required value"},
    {"FieldValueForbidden", "Forbidden"},
    {"FieldValueNotSupported", "Unsupported value"},
    {"FieldValueTooLong", "Too long"}};

}  // namespace

std::string FieldError::ToString() const {
  absl::string_view words = type;
  for (const auto& [name, shown] : kWords) {
    if (name == type) words = shown;
  }
  return absl::StrCat(field, field.empty() ? "" : ": ", words, detail.empty() ? "" : ": ", detail);
}

void FieldErrors::TooLong(absl::string_view field, size_t max_bytes) {
  Add("FieldValueTooLong", field, absl::StrCat("may not be more than ", max_bytes, " bytes"));
}

void FieldErrors::NotSupported(absl::string_view field,
                               const std::vector<absl::string_view>& values) {
  Add("FieldValueNotSupported", field,
      absl::StrCat("supported values: \"", absl::StrJoin(values, "\", \""), "\""));
}

void FieldErrors::Add(absl::string_view type, absl::string_view field, absl::string_view detail,
                      absl::string_view value) {
  errors_.push_back({.error = {std::string(type), std::string(field), std::string(detail)},
                     .value = std::string(value)});
}

void FieldErrors::DropRepeats() {
  std::vector<Found> kept;
  for (Found& found : errors_) {
    if (std::find(kept.begin(), kept.end(), found) == kept.end()) kept.push_back(std::move(found));
  }
  errors_ = std::move(kept);
}

std::vector<FieldError> FieldErrors::Sorted() && {
  std::vector<FieldError> out;
  out.reserve(errors_.size());
  for (Found& found : errors_) out.push_back(std::move(found.error));
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace flyball::scaler
