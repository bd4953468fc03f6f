#include "apiservice/requests/render.h"

#include <zlib.h>

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "apiservice/wire/go_yaml.h"
#include "apiservice/wire/text.h"

namespace flyball::apiservice {
namespace {

constexpr size_t kGzipAbove = 128 * 1024;

// Only the plain word counts, as in the API server: "gzip;q=0" forbids it.
bool TakesGzip(absl::string_view accept_encoding) {
  for (const absl::string_view part : absl::StrSplit(accept_encoding, ',')) {
    if (absl::StripAsciiWhitespace(part) == "gzip") return true;
  }
  return false;
}

bool IsForHumans(absl::string_view user_agent) {
  return absl::StartsWith(user_agent, "curl") || absl::StartsWith(user_agent, "Wget") ||
         absl::StartsWith(user_agent, "Mozilla/5.0");
}

}  // namespace

Style StyleOf(const http::HttpRequest& request, const RoutedRequest& routed) {
  Style style;
  const bool resource_metrics =
      routed.endpoint == Endpoint::kPodMetrics || routed.endpoint == Endpoint::kNodeMetrics;
  const Offer offer = {
      .tables = resource_metrics,
      .discovery = routed.endpoint == Endpoint::kGroupList,
      .server_versions = resource_metrics || routed.endpoint == Endpoint::kExternalMetric};
  const absl::string_view accept = request.Header("Accept");
  const std::optional<MediaType> media = Negotiate(accept, offer);
  style.acceptable = media.has_value();
  style.media = media.value_or(MediaType());
  // Errors are neither converted nor made for a version.
  const bool same = style.media.conversion == Conversion::kNone && !offer.server_versions;
  style.error = same ? media : Negotiate(accept, Offer());
  style.pretty =
      style.media.pretty || routed.pretty.value_or(IsForHumans(request.Header("User-Agent")));
  style.gzip = TakesGzip(request.Header("Accept-Encoding"));
  return style;
}

http::HttpResponse TooManyRequests() {
  http::HttpResponse response = http::ErrorText(429, "Too many requests, please try again later.");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

http::HttpResponse TimeoutResponse() {
  std::string body = wire::ToJson(wire::Timeout());
  body.replace(0, body.find("\"metadata\""), "{");
  return http::BodyResponse(504, http::kPlainText, std::move(body));
}

std::string Restyle(std::string json, const Style& style) {
  if (style.media.encoding == Encoding::kYaml) return wire::YamlOfJson(json);
  return style.pretty ? wire::IndentJson(json) : json;
}

http::HttpResponse StatusResponse(const wire::Status& status, const Style& style) {
  Style own = style;
  own.media = style.error.value_or(MediaType());
  own.pretty = style.pretty || !style.error.has_value();
  const wire::Status shown = wire::Shortened(status);
  const bool protobuf = own.media.encoding == Encoding::kProtobuf;
  http::HttpResponse response =
      http::BodyResponse(status.code, ContentTypeOf(own.media),
                         protobuf ? wire::ToProtobuf(shown) : Restyle(wire::ToJson(shown), own));
  if (status.code == 403) response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  return response;
}

bool IsCompressed(size_t bytes, const Style& style) { return style.gzip && bytes > kGzipAbove; }

std::string Gzip(absl::string_view bytes) {
  z_stream stream = {};
  constexpr int kGzipWindow = 15 + 16;
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return "";
  }
  const absl::Cleanup ended = [&stream] { deflateEnd(&stream); };
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  out.shrink_to_fit();  // it may be kept for long, and counts as long as it is
  return result == Z_STREAM_END ? out : "";
}

http::HttpResponse Ok(std::string content_type, std::shared_ptr<const std::string> body,
                      const Style& style) {
  if (IsCompressed(body->size(), style)) {
    if (std::string compressed = Gzip(*body); !compressed.empty()) {
      return OkGzip(std::move(content_type),
                    std::make_shared<const std::string>(std::move(compressed)));
    }
  }
  http::HttpResponse response;
  response.content_type = std::move(content_type);
  response.body = std::move(body);
  return response;
}

http::HttpResponse OkGzip(std::string content_type, std::shared_ptr<const std::string> compressed) {
  http::HttpResponse response;
  response.content_type = std::move(content_type);
  response.body = std::move(compressed);
  response.headers.emplace_back("Content-Encoding", "gzip");
  response.headers.emplace_back("Vary", "Accept-Encoding");
  return response;
}

}  // namespace flyball::apiservice
