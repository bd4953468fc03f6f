// links: scaler_spec_hpa
//
// Admission of any bytes: never more than it was given, and what was accepted is accepted again
// from its own canonical form, unchanged.
#include <cstdint>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "scaler/spec/hpa/admission.h"

namespace {

using flyball::scaler::AdmissionResult;
using flyball::scaler::AdmitOptions;

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckOnce(absl::string_view body, const AdmitOptions& options) {
  const AdmissionResult first = flyball::scaler::Admit(body, options);
  if (!first.decode_error.empty()) {
    Require(!first.autoscaler.has_value() && first.canonical_spec_json.empty());
    return;
  }
  Require(first.autoscaler.has_value());
  for (const auto& error : first.errors) Require(!error.type.empty() && !error.field.empty());
  if (!first.errors.empty() || options.skip_admission) return;
  const AdmissionResult second = flyball::scaler::Admit(
      absl::StrCat(R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler",)",
                   R"("metadata":{"name":"a","namespace":"b"},"spec":)", first.canonical_spec_json,
                   "}"),
      options);
  Require(second.ok());
  Require(second.canonical_spec_json == first.canonical_spec_json);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view body(reinterpret_cast<const char*>(data), size);
  CheckOnce(body, {});
  CheckOnce(body, flyball::scaler::AdmitAll());
  CheckOnce(body, {.dialect = {}, .skip_admission = true});
  return 0;
}
