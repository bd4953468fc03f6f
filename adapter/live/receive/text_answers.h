// Answers that the pages that take samples have in common. Pure.
#pragma once

#include "http/server/message.h"

namespace flyball::live {

// Seconds, for Retry-After: the store checks for room as often.
inline constexpr char kRetryAfter[] = "5";

// The answer 405 of a page that accepts only POST.
inline http::HttpResponse PostExpected() {
  http::HttpResponse response = http::ErrorText(405, "expected POST");
  response.headers.emplace_back("Allow", "POST");
  return response;
}

}  // namespace flyball::live
