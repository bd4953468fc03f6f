// Backslash escapes of exposition texts. Pure.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace flyball::formats {

// `\\` and `\n` undone, `\"` too if `quotes`; other backslashes stay. The view is of `text` itself
// where nothing is escaped, else of what was appended to `scratch`, valid until that grows.
absl::string_view Unescape(absl::string_view text, bool quotes, std::string& scratch);

// Appends `text` with `\`, line break and `"` escaped.
void AppendEscaped(absl::string_view text, std::string& out);

}  // namespace flyball::formats
