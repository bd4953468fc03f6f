// Texts in URLs as Go's net/url escapes and reads them.
//
// Pure.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace flyball::go {

// url.QueryEscape: all but letters, digits and -_.~ as %XX, a space as +. For forms.
std::string QueryEscape(absl::string_view text);

// Does the same with %20 for a space, which every server reads: for a path segment or a query
// value.
std::string UrlEscape(absl::string_view text);

// A path as URL.EscapedPath writes it: slashes stay, a question mark is escaped.
std::string EscapePath(absl::string_view text);

// Escapes what is not allowed in a request line; existing escapes stay.
std::string EscapeForRequestLine(absl::string_view text);

// Whether each percent sign begins an escape.
bool IsWellEscaped(absl::string_view text);

// Decodes %XX, and in queries +. A percent sign that begins no escape stays.
std::string Unescape(absl::string_view text, bool plus_is_space);

}  // namespace flyball::go
