// One HTTP request and one answer, as values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "http/headers.h"

namespace flyball::http {

inline constexpr char kPlainText[] = "text/plain; charset=utf-8";

struct PeerChain;

struct HttpRequest {
  std::string method;
  std::string target;               // as sent: path and query, still percent-encoded
  Headers headers;                  // in their order, values as sent (not decoded)
  std::shared_ptr<PeerChain> peer;  // the client's certificates, unverified; nullptr: none
  std::string body;                 // as sent; empty unless RequestLimits::keep_bodies
  uint64_t origin = 0;              // number of the peer's address (listener.h)

  absl::string_view Header(absl::string_view name) const { return FindHeader(headers, name); }
};

struct HttpResponse {
  int status = 200;
  std::string content_type;
  Headers headers;                          // others; Content-Length and Date are added
  std::shared_ptr<const std::string> body;  // nullptr is empty
  bool close = false;                       // end the connection after it
  // Released once the answer was sent, or its unsent rest is kept with the connection.
  std::shared_ptr<const void> held = nullptr;
};

HttpResponse BodyResponse(int status, absl::string_view content_type, std::string body);
// Makes the same answer with `X-Content-Type-Options: nosniff`.
HttpResponse NosniffResponse(int status, absl::string_view content_type, std::string body);
// A text/plain answer like Go's http.Error: the text and a line end, and nosniff.
HttpResponse ErrorText(int status, absl::string_view text);

// The reason phrase: "OK", "Not Found".
absl::string_view ReasonPhrase(int status);

// Status line, headers and blank line; the body is sent after them.
void AppendHead(const HttpResponse& response, absl::string_view date, bool keep_alive,
                std::string* out);

}  // namespace flyball::http
