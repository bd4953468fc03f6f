// What the API server would refuse in an object, field by field.
//
// Pure values. Source: k8s.io/apimachinery v0.34.4 pkg/util/validation/field.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/string_view.h"

namespace flyball::scaler {

struct FieldError {
  std::string type;    // "FieldValueInvalid", "FieldValueRequired", …
  std::string field;   // "spec.metrics[0].resource.name"
  std::string detail;  // "must specify a resource name"

  // "spec.maxReplicas: Invalid value: must be greater than 0".
  std::string ToString() const;

  friend bool operator==(const FieldError&, const FieldError&) = default;
  friend bool operator<(const FieldError& a, const FieldError& b) {
    return std::tie(a.field, a.type, a.detail) < std::tie(b.field, b.type, b.detail);
  }
};

// Collects errors in the order found.
class FieldErrors {
 public:
  void Invalid(absl::string_view field, absl::string_view detail) {
    Add("FieldValueInvalid", field, detail);
  }
  void Invalid(absl::string_view field, const std::vector<std::string>& details) {
    for (const std::string& detail : details) Invalid(field, detail);
  }
  // For a field with several values: DropRepeats treats equal errors of different values as
  // different, although no error shows its value.
  void InvalidValue(absl::string_view field, absl::string_view value,
                    const std::vector<std::string>& details) {
    for (const std::string& detail : details) Add("FieldValueInvalid", field, detail, value);
  }
  void Required(absl::string_view field, absl::string_view detail) {
    Add("FieldValueRequired", field, detail);
  }
  void Forbidden(absl::string_view field, absl::string_view detail) {
    Add("FieldValueForbidden", field, detail);
  }
  void TooLong(absl::string_view field, size_t max_bytes);
  void NotSupported(absl::string_view field, const std::vector<absl::string_view>& values);

  bool empty() const { return errors_.empty(); }

  // Drops all but the first of equal errors of one value.
  void DropRepeats();

  // Sorted by field, type, detail.
  std::vector<FieldError> Sorted() &&;

 private:
  struct Found {
    FieldError error;
    std::string value;  // as passed to InvalidValue
    friend bool operator==(const Found&, const Found&) = default;
  };
  void Add(absl::string_view type, absl::string_view field, absl::string_view detail,
           absl::string_view value = "");

  std::vector<Found> errors_;
};

}  // namespace flyball::scaler
