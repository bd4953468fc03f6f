// Text in lower and upper case, as Go's strings.ToLower and ToUpper write it: character by
// character, whatever the language, and U+FFFD in place of bytes that are no UTF-8.
//
// Pure. Source: Go 1.26's unicode.CaseRanges (Unicode 15.0). The C library's case depends on the
// locale files of the machine.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace flyball::go {

char32_t ToLower(char32_t rune);
char32_t ToUpper(char32_t rune);
std::string ToLower(absl::string_view text);
std::string ToUpper(absl::string_view text);

}  // namespace flyball::go
