// Backslash escapes of exposition texts. Pure.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace flyball::formats {

// Replaces `\\` and `\n`, with `quotes` also `\"`; other backslashes stay. The result is `text`
// itself if nothing is escaped, else what was appended to `scratch`, valid until that grows.
absl::string_view Unescape(absl::string_view text, bool quotes, std::string& scratch);

// Appends `text` with `\`, line break and `"` escaped.
void AppendEscaped(absl::string_view text, std::string& out);

}  // namespace flyball::formats
