#include "apiservice/handler.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "apiservice/requests/negotiation.h"
#include "base/go/text.h"
#include "base/one_line.h"
#include "http/server/event_workers.h"
#include "spdlog/spdlog.h"

namespace flyball::apiservice {
namespace {

constexpr size_t kMaxAuditIdBytes = 4 << 10;  // an answer to anybody repeats it
constexpr absl::Duration kComplaintInterval = absl::Seconds(10);

// A random UUID: it names a request in logs and need not be secret.
std::string NewAuditId() {
  thread_local std::mt19937_64 generator(std::random_device{}());
  const uint64_t high = (generator() & ~uint64_t{0xF000}) | 0x4000;
  const uint64_t low = (generator() & ~(uint64_t{3} << 62)) | (uint64_t{1} << 63);
  return absl::StrFormat("%08x-%04x-%04x-%04x-%012x", high >> 32, (high >> 16) & 0xFFFF,
                         high & 0xFFFF, low >> 48, low & 0xFFFFFFFFFFFF);
}

// Whether a header asks for another user, by what the original's filter counts. Other headers with
// that beginning mean nothing to it.
bool HasImpersonation(const http::Headers& headers) {
  return std::any_of(headers.begin(), headers.end(), [](const auto& header) {
    const auto& [name, value] = header;
    if (absl::EqualsIgnoreCase(name, "Impersonate-User") ||
        absl::EqualsIgnoreCase(name, "Impersonate-Uid")) {
      return !value.empty();
    }
    return absl::EqualsIgnoreCase(name, "Impersonate-Group") ||
           absl::StartsWithIgnoreCase(name, "Impersonate-Extra-");
  });
}

absl::string_view PathOf(const http::HttpRequest& request) {
  const absl::string_view target = request.target;
  return target.substr(0, target.find('?'));
}

// The path of a page may look like that of a resource (/api/v1/query), but is a non-resource path.
// Pages have timeouts of their own form.
void RouteToPages(const http::HttpRequest& request, RoutedRequest& routed) {
  routed.endpoint = Endpoint::kPages;
  routed.error.reset();
  if (routed.only_timeout) routed.early_error.reset();
  routed.attributes = Attributes();
  routed.attributes.verb = absl::AsciiStrToLower(request.method);
  routed.attributes.path = std::string(PathOf(request));
}

wire::Status ForbiddenStatus(const User& user, const Attributes& attributes,
                             absl::string_view reason) {
  std::string sentence = ForbiddenSentence(user, attributes);
  if (!reason.empty()) absl::StrAppend(&sentence, ": ", reason);
  return attributes.is_resource
             ? wire::Forbidden(attributes.group, attributes.resource, attributes.name, sentence)
             : wire::ForbiddenPath(sentence);
}

// As Go's http.Error after the library's escaping.
http::HttpResponse InternalError(const http::HttpRequest& request, absl::string_view why) {
  return http::ErrorText(
      500,
      absl::StrReplaceAll(
          absl::StrCat("Internal Server Error: ", go::Quote(Abridged(request.target)), ": ", why),
          {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}}));
}

// The router's 406: it checks media types, but not the forms that objects can be converted to.
wire::Status NoRepresentation(const RoutedRequest& routed) {
  return wire::NoRepresentation(routed.IsMetricList() ? SupportedListMediaTypes()
                                                      : SupportedMediaTypes());
}

// What the original's router says of a Content-Type before it looks at Accept; nullopt: it is
// taken. Nothing reads the content, but documents name the types that they take. Without content
// the router only finds that no route is left, and so no type of an answer.
std::optional<wire::Status> RefusedContent(const http::HttpRequest& request, Endpoint endpoint) {
  const absl::string_view type = request.Header("Content-Type");
  switch (endpoint) {
    case Endpoint::kGroupList:
    case Endpoint::kGroup:
    case Endpoint::kResourceList:
      if (IsOfType(type, SupportedMediaTypes())) return std::nullopt;
      break;
    case Endpoint::kVersion:
      if (IsOfType(type, {"application/json"})) return std::nullopt;
      break;
    default: return std::nullopt;
  }
  uint64_t bytes = 0;
  const bool content = absl::SimpleAtoi(request.Header("Content-Length"), &bytes) && bytes > 0;
  return content ? wire::UnsupportedMediaType() : wire::NoRepresentation({});
}

}  // namespace

RequestHandler::RequestHandler(LimitOptions limits, Deps deps)
    : limits_(limits), deps_(std::move(deps)), complaints_(*deps_.clock, kComplaintInterval) {}

http::HttpResponse RequestHandler::Handle(const http::HttpRequest& request) {
  const MonotonicTime start = deps_.clock->MonotonicNow();
  RoutedRequest routed = Route(request.method, request.target, limits_.request_timeout);
  if (PagesOf(request) != nullptr) RouteToPages(request, routed);
  const Style style = StyleOf(request, routed);
  UserPtr user;
  http::HttpResponse response = Answer(request, &routed, style, start, &user);
  absl::string_view audit_id = request.Header("Audit-ID");
  if (audit_id.size() > kMaxAuditIdBytes) audit_id = audit_id.substr(0, kMaxAuditIdBytes);
  response.headers.emplace_back("Audit-Id",
                                audit_id.empty() ? NewAuditId() : std::string(audit_id));
  if (!routed.attributes.unreadable &&
      http::FindHeader(response.headers, "Cache-Control").empty()) {
    response.headers.emplace_back("Cache-Control", "no-cache, private");
  }
  const absl::Duration took = deps_.clock->MonotonicNow() - start;
  deps_.self_metrics->Count(routed, response.status, took,
                            response.body == nullptr ? 0 : response.body->size());
  if (spdlog::should_log(spdlog::level::debug)) {
    spdlog::debug("{} {} {} {} by {} ({})", request.method, Abridged(request.target),
                  response.status, absl::FormatDuration(took),
                  user == nullptr ? "nobody known" : Abridged(user->name),
                  Abridged(request.Header("User-Agent")));
  }
  return response;
}

http::Pages* RequestHandler::PagesOf(const http::HttpRequest& request) const {
  const absl::string_view path = PathOf(request);
  for (http::Pages* const pages : deps_.pages) {
    if (pages->Has(path)) return pages;
  }
  return nullptr;
}

http::HttpResponse RequestHandler::TooManyReviews() {
  ++deps_.self_metrics->refused_reviews;
  return TooManyRequests();
}

http::HttpResponse RequestHandler::Answer(const http::HttpRequest& request, RoutedRequest* routed,
                                          const Style& style, MonotonicTime start,
                                          UserPtr* known_user) {
  if (routed->attributes.unreadable) {
    return InternalError(request,
                         absl::StrCat("failed to create RequestInfo: unable to determine kind and "
                                      "namespace from url, ",
                                      Abridged(request.target)));
  }
  if (routed->early_error.has_value()) return StatusResponse(*routed->early_error, style);
  const absl::StatusOr<UserPtr> user = deps_.authenticator->Authenticate(request);
  if (absl::IsResourceExhausted(user.status())) return TooManyReviews();
  if (!user.ok()) {
    spdlog::debug("authentication failed: {}", Abridged(user.status().message()));
    return StatusResponse(wire::Unauthorized(), style);
  }
  *known_user = *user;
  if (HasImpersonation(request.headers)) {
    return StatusResponse(
        ForbiddenStatus(**user, routed->attributes, "impersonation is not supported here"), style);
  }
  // Probes are answered however many requests are under way.
  if (routed->endpoint == Endpoint::kHealth) {
    return Authorized(request, routed, style, **user, start);
  }
  const int64_t in_flight = ++deps_.self_metrics->in_flight;
  const absl::Cleanup ended = [this] { --deps_.self_metrics->in_flight; };
  if (in_flight > limits_.max_in_flight && !(*user)->InGroup(kMastersGroup)) {
    ++deps_.self_metrics->refused_in_flight;
    return TooManyRequests();
  }
  return Authorized(request, routed, style, **user, start);
}

http::HttpResponse RequestHandler::Authorized(const http::HttpRequest& request,
                                              RoutedRequest* routed, const Style& style,
                                              const User& user, MonotonicTime start) {
  const absl::StatusOr<Decision> decision = deps_.authorizer->Authorize(user, routed->attributes);
  if (absl::IsResourceExhausted(decision.status())) return TooManyReviews();
  if (!decision.ok()) {
    if (complaints_.Due("authorization")) {
      spdlog::warn("authorization of {}: {}", Abridged(user.name),
                   std::string(decision.status().message()));
    }
    return InternalError(request, decision.status().message());
  }
  if (!decision->allowed) {
    return StatusResponse(ForbiddenStatus(user, routed->attributes, decision->reason), style);
  }
  ReadParameters(limits_.max_selector_bytes, routed);
  return Dispatch(request, *routed, style, start);
}

http::HttpResponse RequestHandler::Metrics() {
  // One at a time: with numbers of thousands of autoscalers a page takes megabytes and long.
  const http::EventWorkers::Waiting waiting;
  const absl::MutexLock lock(&making_metrics_);
  return http::NosniffResponse(200, "text/plain; version=0.0.4; charset=utf-8",
                               deps_.metrics_text());
}

http::HttpResponse RequestHandler::Debug(const RoutedRequest& routed, const Style& style,
                                         const adapter::Providers& providers) {
  const bool rules = routed.endpoint == Endpoint::kDebugRules;
  if (rules ? !deps_.debug_rules : !deps_.debug_decisions) {
    return deps_.documents->Index(404, providers);
  }
  Style plain = style;
  plain.media = MediaType();
  // One at a time: a page is made from a tree that takes many times its length.
  const http::EventWorkers::Waiting waiting;
  const absl::MutexLock lock(&making_debug_page_);
  std::string json =
      rules ? deps_.debug_rules()
            : deps_.debug_decisions([&](const char* name) { return routed.query.Value(name); });
  return Ok("application/json",
            std::make_shared<const std::string>(Restyle(std::move(json), plain)), plain);
}

http::HttpResponse RequestHandler::Dispatch(const http::HttpRequest& request, RoutedRequest& routed,
                                            const Style& style, MonotonicTime start) {
  const adapter::Providers providers = deps_.providers();
  // A group that is off has no routes at all, hence no errors of its own.
  const bool off = !routed.group.empty() && !deps_.documents->Serves(routed.group, providers);
  if (routed.endpoint == Endpoint::kUnknownPath || off) {
    return deps_.documents->Index(404, providers);
  }
  // Path and method are checked before Content-Type and Accept, parameters after them.
  const bool no_route =
      routed.error.has_value() && (routed.error->code == 404 || request.method != "GET");
  if (no_route) return StatusResponse(*routed.error, style);
  if (const auto refused = RefusedContent(request, routed.endpoint); refused.has_value()) {
    return StatusResponse(*refused, style);
  }
  switch (routed.endpoint) {
    case Endpoint::kIndex: return deps_.documents->Index(200, providers);
    case Endpoint::kHealth:
      routed.handled = routed.name.empty();  // single checks are not counted
      return deps_.documents->Health(routed, providers);
    case Endpoint::kMetrics: return Metrics();
    case Endpoint::kVersion:
      if (!NamesType(request.Header("Accept"), {"application/json"})) {
        return StatusResponse(wire::NoRepresentation({"application/json"}), style);
      }
      return deps_.documents->Version();
    case Endpoint::kPages: return PagesOf(request)->Answer(request);
    case Endpoint::kDebugRules:
    case Endpoint::kDebugDecisions: return Debug(routed, style, providers);
    case Endpoint::kOpenApiV2:
    case Endpoint::kOpenApiV3Index:
    case Endpoint::kOpenApiV3: return deps_.documents->OpenApi(request, routed, style, providers);
    default: break;
  }
  return Api(request, routed, style, providers, start + routed.timeout);
}

http::HttpResponse RequestHandler::Api(const http::HttpRequest& request, RoutedRequest& routed,
                                       const Style& style, const adapter::Providers& providers,
                                       MonotonicTime deadline) {
  if (!NamesType(request.Header("Accept"), SupportedMediaTypes())) {
    return StatusResponse(NoRepresentation(routed), style);
  }
  // Of the documents of discovery only the aggregated ones are counted.
  const bool metrics = routed.IsMetricList() || !routed.name.empty();
  routed.handled = metrics || style.media.conversion != Conversion::kNone;
  const wire::Status unacceptable = wire::NotAcceptable(SupportedMediaTypes());
  if (routed.endpoint == Endpoint::kCustomMetric) {
    // Only a good answer has to be acceptable.
    if (routed.error.has_value()) return StatusResponse(*routed.error, style);
    http::HttpResponse response =
        deps_.metrics->Serve(request.target, routed, style, providers, deadline);
    return response.status == 200 && !style.acceptable ? StatusResponse(unacceptable, style)
                                                       : response;
  }
  if (!style.acceptable) return StatusResponse(unacceptable, style);
  if (routed.error.has_value()) return StatusResponse(*routed.error, style);
  switch (routed.endpoint) {
    case Endpoint::kGroupList: return deps_.documents->GroupList(request, style, providers);
    case Endpoint::kGroup: return deps_.documents->Group(routed, style, providers);
    case Endpoint::kResourceList: return deps_.documents->ResourceList(routed, style, providers);
    default: return deps_.metrics->Serve(request.target, routed, style, providers, deadline);
  }
}

}  // namespace flyball::apiservice
