// The words that goyaml.v2 does not read as text where they have no quotes.
//
// Pure. Source: resolve.go.
#pragma once

#include <optional>

#include "absl/strings/string_view.h"

namespace flyball::go {

std::optional<bool> YamlBool(absl::string_view text);

// The empty text is null too; it is no word.
bool IsYamlNull(absl::string_view word);

// Infinite, or no number.
bool IsYamlSpecialNumber(absl::string_view word);

}  // namespace flyball::go
