#include "adapter/live/receive/push_pages.h"

#include <string>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "adapter/live/receive/text_answers.h"
#include "http/server/event_workers.h"

namespace flyball::live {
namespace {

constexpr absl::string_view kWritePath = "/api/v1/write";
constexpr absl::string_view kPushPath = "/api/v1/push";

http::HttpResponse Empty(int status) {
  http::HttpResponse response;
  response.status = status;
  return response;
}

http::HttpResponse Later(int status, absl::string_view text) {
  http::HttpResponse response = http::ErrorText(status, text);
  response.headers.emplace_back("Retry-After", kRetryAfter);
  return response;
}

http::HttpResponse TooMany() { return Later(429, "too many requests with samples are under way"); }

http::HttpResponse AnswerOf(const absl::StatusOr<Received>& received) {
  if (!received.ok()) return http::ErrorText(400, received.status().message());
  const size_t failed = received->refused + received->no_room;
  if (failed == 0) return Empty(204);
  const std::string text = absl::StrCat(failed, " of ", received->all(),
                                        " samples were refused, the first one: ", received->reason);
  // After 503 a sender repeats the request until it is taken, and holds back all that comes after
  // it. So a new series that has no room would also stop the known ones that it is sent with.
  const bool nothing_taken = received->taken == 0;
  return received->no_room > 0 && nothing_taken ? Later(503, text) : http::ErrorText(400, text);
}

}  // namespace

bool PushPages::Has(absl::string_view path) const {
  return path == kWritePath || path == kPushPath;
}

http::HttpResponse PushPages::Answer(const http::HttpRequest& request) {
  if (request.method != "POST") return PostExpected();
  const absl::Cleanup ended = [this] { --under_way_; };
  if (++under_way_ > limits_.max_at_once) return TooMany();
  // Reading may take long, and probes must not wait for it.
  const http::EventWorkers::Waiting working;
  const int64_t now_ms = absl::ToUnixMillis(clock_.WallNow());
  return absl::StartsWith(request.target, kWritePath) ? Write(request, now_ms)
                                                      : Push(request, now_ms);
}

http::HttpResponse PushPages::Write(const http::HttpRequest& request, int64_t now_ms) {
  const auto version =
      formats::WriteVersionOf(request.Header("Content-Type"), request.Header("Content-Encoding"));
  if (!version.ok()) return http::ErrorText(415, version.status().message());
  PushRoom::Share share(room_);
  const auto message = formats::UncompressSnappy(
      request.body, limits_.max_uncompressed_bytes,
      [&share](size_t bytes) { return share.GrowTo(PushRoom::kRemoteWrite * bytes); });
  if (absl::IsUnavailable(message.status())) return TooMany();
  if (!message.ok()) {
    return http::ErrorText(absl::IsResourceExhausted(message.status()) ? 413 : 400,
                           message.status().message());
  }
  const absl::StatusOr<Received> received = ingest_.Write(*version, *message, now_ms);
  http::HttpResponse response = AnswerOf(received);
  if (*version == formats::WriteVersion::k2) {
    const size_t written = received.ok() ? received->taken : 0;
    response.headers.emplace_back("X-Prometheus-Remote-Write-Samples-Written",
                                  absl::StrCat(written));
    response.headers.emplace_back("X-Prometheus-Remote-Write-Histograms-Written", "0");
    response.headers.emplace_back("X-Prometheus-Remote-Write-Exemplars-Written", "0");
  }
  return response;
}

http::HttpResponse PushPages::Push(const http::HttpRequest& request, int64_t now_ms) {
  const absl::string_view encoding = request.Header("Content-Encoding");
  if (!encoding.empty() && !absl::EqualsIgnoreCase(encoding, "identity")) {
    return http::ErrorText(415, "the text must not be compressed");
  }
  const bool open_metrics =
      absl::StartsWithIgnoreCase(request.Header("Content-Type"), "application/openmetrics-text");
  PushRoom::Share share(room_);
  if (!share.GrowTo(PushRoom::kText * request.body.size())) return TooMany();
  return AnswerOf(ingest_.Push(open_metrics, request.body, now_ms));
}

}  // namespace flyball::live
