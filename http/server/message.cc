#include "http/server/message.h"

#include "absl/strings/str_cat.h"

namespace flyball::http {

absl::string_view ReasonPhrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 301:
      return "Moved Permanently";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 413:
      return "Request Entity Too Large";
    case 414:
      return "Request URI Too Long";
    case 422:
      return "Unprocessable Entity";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Status";
  }
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
  // A 304 has no body and no length of one.
  if (response.status != 304) absl::StrAppend(out, "Content-Length: ", size, "\r\n");
  out->append("\r\n");
}

}  // namespace flyball::http
