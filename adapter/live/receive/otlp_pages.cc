#include "adapter/live/receive/otlp_pages.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "adapter/live/formats/otlp_answers.h"
#include "adapter/live/receive/text_answers.h"
#include "http/client/inflater.h"
#include "promql/text.h"

namespace flyball::live {
namespace {

using formats::OtlpEncoding;

http::HttpResponse Message(OtlpEncoding encoding, int status, std::string message) {
  http::HttpResponse response;
  response.status = status;
  response.content_type = std::string(formats::OtlpMediaType(encoding));
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.body = std::make_shared<const std::string>(std::move(message));
  return response;
}

http::HttpResponse Failure(OtlpEncoding encoding, int http_status, const absl::Status& status) {
  http::HttpResponse response =
      Message(encoding, http_status, formats::OtlpFailure(encoding, status));
  if (http_status == 429 || http_status == 503)
    response.headers.emplace_back("Retry-After", kRetryAfter);
  return response;
}

//   kInvalidArgument    no gzip, or not all of it
//   kResourceExhausted  longer than the limit
absl::StatusOr<std::string> Uncompress(absl::string_view body, size_t limit) {
  std::string message;
  http::Inflater inflater;
  bool fits = true;
  const absl::Status status = inflater.Feed(body, [&](absl::string_view bytes) {
    fits = message.size() + bytes.size() <= limit;
    if (fits) message.append(bytes.data(), bytes.size());
    return fits;
  });
  if (!fits) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the request has more than ", limit, " bytes"));
  }
  if (!status.ok() || !inflater.AtEnd()) {
    return absl::InvalidArgumentError("the body is not compressed with gzip");
  }
  return message;
}

}  // namespace

bool OtlpPages::Has(absl::string_view path) const {
  return path == "/v1/metrics" || path == "/api/v1/otlp/v1/metrics";
}

http::HttpResponse OtlpPages::Answer(const http::HttpRequest& request) {
  if (request.method != "POST") return PostExpected();
  const auto encoding = formats::OtlpEncodingOf(request.Header("Content-Type"));
  if (!encoding.ok()) return TextAnswer(415, encoding.status().message());
  const absl::Cleanup ended = [this] { --under_way_; };
  if (++under_way_ > limits_.max_at_once) {
    return Failure(*encoding, 429,
                   absl::ResourceExhaustedError("too many requests with metrics are under way"));
  }
  const absl::string_view packing = request.Header("Content-Encoding");
  if (packing.empty() || absl::EqualsIgnoreCase(packing, "identity")) {
    return Take(*encoding, request.body);
  }
  if (!absl::EqualsIgnoreCase(packing, "gzip")) {
    return TextAnswer(415,
                      absl::StrCat("content encoding ", promql::Quote(packing), ", expected gzip"));
  }
  const auto message = Uncompress(request.body, limits_.max_uncompressed_bytes);
  if (message.ok()) return Take(*encoding, *message);
  return Failure(*encoding, absl::IsResourceExhausted(message.status()) ? 413 : 400,
                 message.status());
}

http::HttpResponse OtlpPages::Take(OtlpEncoding encoding, absl::string_view message) {
  if (message.size() > limits_.max_uncompressed_bytes) {
    return Failure(encoding, 413,
                   absl::ResourceExhaustedError(absl::StrCat(
                       "the request has more than ", limits_.max_uncompressed_bytes, " bytes")));
  }
  const auto received = receiver_.Take(encoding, message, absl::ToUnixMillis(clock_.WallNow()));
  if (!received.ok()) return Failure(encoding, 400, received.status());
  if (received->no_room > 0) {
    return Failure(encoding, 503,
                   absl::UnavailableError(absl::StrCat(
                       received->no_room + received->rejected,
                       " data points were refused, the first one: ", received->reason)));
  }
  return Message(encoding, 200,
                 formats::OtlpSuccess(encoding, received->rejected, received->reason));
}

}  // namespace flyball::live
