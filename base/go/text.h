// Go's handling of text that is visible in the rule language: quoting, unquoting, classes of
// characters.
//
// Pure. Source: Go's strconv, encoding/json, unicode and unicode/utf8. Character classes beyond
// ASCII come from RE2's Unicode tables, which may lag Go's by a Unicode version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace flyball::go {

// One decoded character. An invalid byte decodes to U+FFFD of length 1, as in Go.
struct Rune {
  char32_t value = 0;
  int length = 0;  // bytes; 0 only at the end of the text
  bool valid = true;
};

Rune DecodeRune(absl::string_view text);
void AppendRune(char32_t rune, std::string& out);

// The position of the first byte that belongs to no character; npos: the text is UTF-8 as in
// utf8.Valid (no surrogates, nothing overlong).
size_t FindNoUtf8(absl::string_view text);
inline bool IsUtf8(absl::string_view text) { return FindNoUtf8(text) == absl::string_view::npos; }

bool IsLetterOrDigit(char32_t rune);  // unicode.IsLetter or unicode.IsDigit
bool IsPrintable(char32_t rune);      // strconv.IsPrint

// strconv.Quote: `"` around, backslash escapes for quotes, backslashes and the unprintable.
std::string Quote(absl::string_view text);
// strconv.QuoteToASCII.
std::string QuoteAscii(absl::string_view text);
// strconv.QuoteRune.
std::string QuoteRune(char32_t rune, bool ascii_only);

// The choices of a JSON writer in escaping. The defaults are encoding/json's.
struct JsonEscapes {
  bool html = true;        // escapes < > &
  bool letters = true;     // writes \n \r \t \b \f and not \u000a …
  bool separators = true;  // escapes U+2028 U+2029
};

// encoding/json of a string, with its quotes; broken UTF-8 becomes \ufffd.
void AppendJsonString(absl::string_view text, std::string* out, JsonEscapes escapes = {});

// strconv.Unquote of "…" and `…` literals. nullopt: not a Go literal.
std::optional<std::string> Unquote(absl::string_view literal);
// The one character of a 'c' literal. nullopt: not a Go literal.
std::optional<char32_t> UnquoteRune(absl::string_view literal);

}  // namespace flyball::go
