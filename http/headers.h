// The headers of a request or an answer, on either side of a connection.
//
// Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace flyball::http {

// Names and values in their order, as they were sent or are to be sent.
using Headers = std::vector<std::pair<std::string, std::string>>;

// The first header of that name, any case; "" if absent.
inline absl::string_view FindHeader(const Headers& headers, absl::string_view name) {
  for (const auto& [key, value] : headers) {
    if (absl::EqualsIgnoreCase(key, name)) return value;
  }
  return "";
}

}  // namespace flyball::http
