// Answers as text, of the pages that take samples. Pure.
#pragma once

#include "absl/strings/string_view.h"
#include "http/server/message.h"

namespace flyball::live {

// Seconds, for Retry-After: the store looks for room as often.
inline constexpr char kRetryAfter[] = "5";

// The text and a line end.
http::HttpResponse TextAnswer(int status, absl::string_view text);
// 405 of a page that knows POST alone.
http::HttpResponse PostExpected();

}  // namespace flyball::live
