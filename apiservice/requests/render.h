// Bodies and headers that all answers share: Status errors, plain text, indentation, gzip.
//
// Pure.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "apiservice/requests/negotiation.h"
#include "apiservice/requests/router.h"
#include "apiservice/wire/status.h"
#include "http/server/message.h"

namespace flyball::apiservice {

// How this request wants its answer.
struct Style {
  MediaType media;
  bool pretty = false;
  bool gzip = false;
  bool acceptable = true;  // false: nothing that Accept names can be made
  // The media type of errors, which know no conversion; absent: Accept names none, so that it is
  // indented JSON.
  std::optional<MediaType> error = MediaType();
};

// From Accept, Accept-Encoding, User-Agent (curl, Wget and browsers get indented JSON) and ?pretty.
Style StyleOf(const http::HttpRequest& request, const RoutedRequest& routed);

http::HttpResponse StatusResponse(const wire::Status& status, const Style& style);

// 429, which tells the client to ask again a second later.
http::HttpResponse TooManyRequests();

// `json` in the wanted style: indented or as YAML where asked. Not for protobuf.
std::string Restyle(std::string json, const Style& style);

// 200 with this body, compressed by gzip when it is above 128 KiB and the client takes that.
http::HttpResponse Ok(std::string content_type, std::shared_ptr<const std::string> body,
                      const Style& style);

}  // namespace flyball::apiservice
