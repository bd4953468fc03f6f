// Bodies and headers that all answers share: Status errors, plain text, indentation, gzip.
//
// Pure.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "apiservice/requests/negotiation.h"
#include "apiservice/requests/router.h"
#include "apiservice/wire/status.h"
#include "http/server/message.h"

namespace flyball::apiservice {

// The form in which a request wants its answer.
struct Style {
  MediaType media;
  bool pretty = false;
  bool gzip = false;
  bool acceptable = true;  // false: nothing that Accept names is available
  // The media type of errors, for which there are no conversions; absent: Accept names none, and
  // the error is indented JSON.
  std::optional<MediaType> error = MediaType();

  // What controllers and kubectl ask for.
  bool IsCompactJson() const { return media.encoding == Encoding::kJson && !pretty; }
};

// From Accept, Accept-Encoding, User-Agent (curl, Wget and browsers get indented JSON) and ?pretty.
Style StyleOf(const http::HttpRequest& request, const RoutedRequest& routed);

http::HttpResponse StatusResponse(const wire::Status& status, const Style& style);

// 429, with the advice to ask again a second later.
http::HttpResponse TooManyRequests();

// The 504 of the original is written by another layer: no kind, text/plain.
http::HttpResponse TimeoutResponse();

// `json` in the wanted style: indented or as YAML where asked. Not for protobuf.
std::string Restyle(std::string json, const Style& style);

// Whether a body of that length is compressed: it is above 128 KiB, and the client accepts gzip.
bool IsCompressed(size_t bytes, const Style& style);

// `bytes` as gzip; "": there is no memory.
std::string Gzip(absl::string_view bytes);

// 200 with this body, compressed where IsCompressed says so.
http::HttpResponse Ok(std::string content_type, std::shared_ptr<const std::string> body,
                      const Style& style);

// 200 with what Gzip has made.
http::HttpResponse OkGzip(std::string content_type, std::shared_ptr<const std::string> compressed);

}  // namespace flyball::apiservice
