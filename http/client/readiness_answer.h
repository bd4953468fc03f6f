// The part of an answer that an HTTP probe evaluates: its first bytes.
#pragma once

#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace flyball::http {

// "HTTP/1.1 2": so many bytes tell whether the status is 2xx or 3xx.
inline constexpr size_t kReadinessAnswerSize = 10;

// Of an answer's first kReadinessAnswerSize bytes.
inline bool SaysReady(absl::string_view answer) {
  return absl::StartsWith(answer, "HTTP/1.") && (answer.back() == '2' || answer.back() == '3');
}

}  // namespace flyball::http
