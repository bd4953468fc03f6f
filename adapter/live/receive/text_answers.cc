#include "adapter/live/receive/text_answers.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"

namespace flyball::live {

http::HttpResponse TextAnswer(int status, absl::string_view text) {
  http::HttpResponse response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.body = std::make_shared<const std::string>(absl::StrCat(text, "\n"));
  return response;
}

http::HttpResponse PostExpected() {
  http::HttpResponse response = TextAnswer(405, "expected POST");
  response.headers.emplace_back("Allow", "POST");
  return response;
}

}  // namespace flyball::live
