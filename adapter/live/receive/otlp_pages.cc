#include "adapter/live/receive/otlp_pages.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "adapter/live/formats/otlp_answers.h"
#include "adapter/live/receive/text_answers.h"
#include "base/one_line.h"
#include "http/client/inflater.h"
#include "http/server/event_workers.h"
#include "promql/text.h"

namespace flyball::live {
namespace {

using formats::OtlpEncoding;

http::HttpResponse Message(OtlpEncoding encoding, int status, std::string message) {
  return http::NosniffResponse(status, formats::OtlpMediaType(encoding), std::move(message));
}

http::HttpResponse Failure(OtlpEncoding encoding, int http_status, const absl::Status& status) {
  http::HttpResponse response =
      Message(encoding, http_status, formats::OtlpFailure(encoding, status));
  if (http_status == 429 || http_status == 503)
    response.headers.emplace_back("Retry-After", kRetryAfter);
  return response;
}

http::HttpResponse TooMany(OtlpEncoding encoding) {
  return Failure(encoding, 429,
                 absl::ResourceExhaustedError("too many requests with metrics are under way"));
}

absl::Status TooLong(size_t limit) {
  return absl::ResourceExhaustedError(absl::StrCat("the request has more than ", limit, " bytes"));
}

size_t MemoryForEachByte(OtlpEncoding encoding) {
  return encoding == OtlpEncoding::kJson ? PushRoom::kOtlpJson : PushRoom::kOtlpProtobuf;
}

//   kInvalidArgument    no gzip, or not all of it
//   kResourceExhausted  longer than the limit
//   kUnavailable        has_room(bytes) says no
absl::StatusOr<std::string> Uncompress(absl::string_view body, size_t limit,
                                       absl::FunctionRef<bool(size_t)> has_room) {
  std::string message;
  http::Inflater inflater;
  bool fits = true, room = true;
  const absl::Status status = inflater.Feed(body, [&](absl::string_view bytes) {
    fits = message.size() + bytes.size() <= limit;
    room = fits && has_room(message.size() + bytes.size());
    if (room) message.append(bytes.data(), bytes.size());
    return room;
  });
  if (!fits) return TooLong(limit);
  if (!room) return absl::UnavailableError("there is no room for the request now");
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
  if (!encoding.ok()) return http::ErrorText(415, encoding.status().message());
  const absl::Cleanup ended = [this] { --under_way_; };
  if (++under_way_ > limits_.max_at_once) return TooMany(*encoding);
  // Reading may take long, and probes must not wait for it.
  const http::EventWorkers::Waiting working;
  PushRoom::Share share(room_);
  const auto has_room = [&](size_t bytes) {
    return share.GrowTo(MemoryForEachByte(*encoding) * bytes);
  };
  const absl::string_view packing = request.Header("Content-Encoding");
  if (packing.empty() || absl::EqualsIgnoreCase(packing, "identity")) {
    if (request.body.size() <= MaxBytes(*encoding) && !has_room(request.body.size())) {
      return TooMany(*encoding);
    }
    return Take(*encoding, request.body);
  }
  if (!absl::EqualsIgnoreCase(packing, "gzip")) {
    return http::ErrorText(415, absl::StrCat("content encoding ", promql::Quote(Abridged(packing)),
                                             ", expected gzip"));
  }
  const auto message = Uncompress(request.body, MaxBytes(*encoding), has_room);
  if (message.ok()) return Take(*encoding, *message);
  if (absl::IsUnavailable(message.status())) return TooMany(*encoding);
  return Failure(*encoding, absl::IsResourceExhausted(message.status()) ? 413 : 400,
                 message.status());
}

size_t OtlpPages::MaxBytes(OtlpEncoding encoding) const {
  return encoding == OtlpEncoding::kJson
             ? std::min(limits_.max_json_bytes, limits_.max_uncompressed_bytes)
             : limits_.max_uncompressed_bytes;
}

http::HttpResponse OtlpPages::Take(OtlpEncoding encoding, absl::string_view message) {
  if (message.size() > MaxBytes(encoding)) {
    return Failure(encoding, 413, TooLong(MaxBytes(encoding)));
  }
  const auto received = receiver_.Take(encoding, message, absl::ToUnixMillis(clock_.WallNow()));
  if (!received.ok()) return Failure(encoding, 400, received.status());
  const size_t refused = received->rejected + received->no_room;
  // If a part was taken, as in PushPages, the sender must not repeat the request.
  if (received->no_room > 0 && received->taken == 0) {
    return Failure(encoding, 503,
                   absl::UnavailableError(absl::StrCat(
                       refused, " data points were refused, the first one: ", received->reason)));
  }
  return Message(encoding, 200, formats::OtlpSuccess(encoding, refused, received->reason));
}

}  // namespace flyball::live
