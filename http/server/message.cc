#include "http/server/message.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace flyball::http {

HttpResponse BodyResponse(int status, absl::string_view content_type, std::string body) {
  HttpResponse response;
  response.status = status;
  response.content_type = std::string(content_type);
  response.body = std::make_shared<const std::string>(std::move(body));
  return response;
}

HttpResponse NosniffResponse(int status, absl::string_view content_type, std::string body) {
  HttpResponse response = BodyResponse(status, content_type, std::move(body));
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  return response;
}

HttpResponse ErrorText(int status, absl::string_view text) {
  return NosniffResponse(status, kPlainText, absl::StrCat(text, "\n"));
}

absl::string_view ReasonPhrase(int status) {
  static constexpr std::pair<int, absl::string_view> kPhrases[] = {
      {200, "OK"},
      {301, "Moved Permanently"},
      {304, "Not Modified"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {406, "Not Acceptable"},
      {412, "Precondition Failed"},
      {413, "Request Entity Too Large"},
      {414, "Request URI Too Long"},
      {415, "Unsupported Media Type"},
      {422, "Unprocessable Entity"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
      {505, "HTTP Version Not Supported"},
  };
  for (const auto& [code, phrase] : kPhrases) {
    if (code == status) return phrase;
  }
  return "Status";
}

void AppendHead(const HttpResponse& response, absl::string_view date, bool keep_alive,
                std::string* out) {
  const size_t size = response.body == nullptr ? 0 : response.body->size();
  absl::StrAppend(out, "HTTP/1.1 ", response.status, " ", ReasonPhrase(response.status), "\r\n");
  for (const auto& [name, value] : response.headers) {
    absl::StrAppend(out, name, ": ", value, "\r\n");
  }
  if (!response.content_type.empty()) {
    absl::StrAppend(out, "Content-Type: ", response.content_type, "\r\n");
  }
  absl::StrAppend(out, "Date: ", date, "\r\n");
  if (!keep_alive) out->append("Connection: close\r\n");
  // A 304 has no body, and so no length of one.
  if (response.status != 304) absl::StrAppend(out, "Content-Length: ", size, "\r\n");
  out->append("\r\n");
}

}  // namespace flyball::http
