// Shows text from somebody else in one line of a page or a log.
//
// Pure. Otherwise whoever chooses a part of a line could write lines that look like others', or
// control the reader's terminal.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace flyball {

// The text with control characters as escape sequences (`\n`, `\x1b`), also those that take two
// bytes in UTF-8. Backslashes stay as they are.
std::string OneLine(absl::string_view text);

}  // namespace flyball
