// The result of parsing an autoscaler of either kind.
//
// Plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/spec/field_error.h"

namespace flyball::scaler {

struct ParsedAutoscaler {
  std::string decode_error;        // not empty: the text is no such object; nothing else is set
  std::vector<FieldError> errors;  // sorted by field, type, detail; empty: accepted

  // What a controller would see. It is set, for explanations, even if there are errors; then it
  // must not be acted on.
  std::optional<Autoscaler> autoscaler;

  bool ok() const { return decode_error.empty() && errors.empty(); }

  // Everything that is wrong, in one line.
  std::string ErrorText() const {
    if (!decode_error.empty()) return decode_error;
    return absl::StrJoin(errors, "; ", [](std::string* out, const FieldError& error) {
      absl::StrAppend(out, error.ToString());
    });
  }
};

// The result for a text that is no such object.
template <typename Result>
Result Undecodable(const absl::Status& why) {
  Result result;
  result.decode_error = std::string(why.message());
  return result;
}

}  // namespace flyball::scaler
