// What the pages that take samples answer alike. Pure.
#pragma once

#include "http/server/message.h"

namespace flyball::live {

// Seconds, for Retry-After: the store looks for room as often.
inline constexpr char kRetryAfter[] = "5";

// 405 of a page that knows POST alone.
inline http::HttpResponse PostExpected() {
  http::HttpResponse response = http::ErrorText(405, "expected POST");
  response.headers.emplace_back("Allow", "POST");
  return response;
}

}  // namespace flyball::live
