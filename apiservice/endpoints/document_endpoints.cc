#include "apiservice/endpoints/document_endpoints.h"

#include <functional>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "apiservice/wire/text.h"
#include "http/server/http_server.h"

namespace flyball::apiservice {
namespace {

// As Go names what this was compiled for.
#if defined(__aarch64__)
constexpr char kPlatform[] = "linux/arm64";
#else
constexpr char kPlatform[] = "linux/amd64";
#endif

std::vector<std::string> FixedPaths(const HealthChecks& health,
                                    const std::vector<std::string>& own_paths) {
  std::vector<std::string> paths = {"/healthz",    "/livez",       "/metrics", "/openapi/v2",
                                    "/openapi/v3", "/openapi/v3/", "/readyz",  "/version"};
  for (const absl::string_view endpoint : {"healthz", "livez", "readyz"}) {
    for (const std::string& name : health.Names(endpoint)) {
      paths.push_back(absl::StrCat("/", endpoint, "/", name));
    }
  }
  paths.insert(paths.end(), own_paths.begin(), own_paths.end());
  return paths;
}

// The body, or 304 when the client has it. Other methods than GET and HEAD are served as these are,
// but what the client has must not be there for them.
http::HttpResponse WithEtag(const http::HttpRequest& request, const std::string& hash,
                            http::HttpResponse response) {
  const std::string etag = absl::StrCat("\"", hash, "\"");
  response.headers.emplace_back("ETag", etag);
  response.headers.emplace_back("Vary", "Accept");
  const absl::string_view known = request.Header("If-None-Match");
  if (!known.empty() && (known == "*" || absl::StrContains(known, etag))) {
    const bool reads = request.method == "GET" || request.method == "HEAD";
    response.status = reads ? 304 : 412;
    response.body = nullptr;
    if (reads) response.content_type.clear();
  }
  return response;
}

http::HttpResponse InStyle(const Document& document, const std::function<std::string()>& protobuf,
                           const Style& style) {
  const auto make = [&] {
    return style.media.encoding == Encoding::kProtobuf ? protobuf()
                                                       : Restyle(*document.json, style);
  };
  if (style.gzip) {
    // Then the form that it was made of need not be there.
    const DocumentForms::Body made = document.forms->Made(style, /*compressed=*/true);
    if (made != nullptr) return OkGzip(ContentTypeOf(style.media), made);
  }
  const DocumentForms::Body body = style.IsCompactJson()
                                       ? document.json
                                       : document.forms->Get(style, /*compressed=*/false, make);
  if (body == nullptr) return TooManyRequests();
  Style plain = style;
  plain.gzip = false;
  if (!IsCompressed(body->size(), style)) return Ok(ContentTypeOf(style.media), body, plain);
  const DocumentForms::Body compressed =
      document.forms->Get(style, /*compressed=*/true, [&body] { return Gzip(*body); });
  if (compressed == nullptr) return TooManyRequests();
  return compressed->empty() ? Ok(ContentTypeOf(style.media), body, plain)
                             : OkGzip(ContentTypeOf(style.media), compressed);
}

}  // namespace

DocumentEndpoints::DocumentEndpoints(ProgramVersion version, const HealthChecks* health,
                                     const std::vector<std::string>& own_paths,
                                     std::function<int()> port, Clock* clock)
    : version_(std::move(version)),
      health_(health),
      clock_(clock),
      discovery_(FixedPaths(*health, own_paths), std::move(port)) {}

bool DocumentEndpoints::Serves(absl::string_view group, const adapter::Providers& providers) {
  return discovery_.Get(providers)->FindGroup(group) != nullptr;
}

http::HttpResponse DocumentEndpoints::GroupList(const http::HttpRequest& request,
                                                const Style& style,
                                                const adapter::Providers& providers) {
  const std::shared_ptr<const DiscoverySet> set = discovery_.Get(providers);
  if (style.media.conversion == Conversion::kNone) {
    return InStyle(
        set->group_list, [&] { return wire::ApiGroupListProtobuf(set->groups, set->address); },
        style);
  }
  const Document& document = style.media.conversion == Conversion::kDiscoveryV2
                                 ? set->aggregated_v2
                                 : set->aggregated_v2beta1;
  http::HttpResponse response = InStyle(document, nullptr, style);  // JSON is all that is offered
  if (response.status != 200) return response;
  response.headers.emplace_back("Cache-Control", "public");
  return WithEtag(request, document.hash, std::move(response));
}

http::HttpResponse DocumentEndpoints::Group(const RoutedRequest& routed, const Style& style,
                                            const adapter::Providers& providers) {
  const std::shared_ptr<const DiscoverySet> set = discovery_.Get(providers);
  const wire::DiscoveryGroup& group = *set->FindGroup(routed.group);
  std::string body = style.media.encoding == Encoding::kProtobuf
                         ? wire::ApiGroupProtobuf(group)
                         : Restyle(wire::ApiGroupJson(group), style);
  return Ok(ContentTypeOf(style.media), std::make_shared<const std::string>(std::move(body)),
            style);
}

http::HttpResponse DocumentEndpoints::ResourceList(const RoutedRequest& routed, const Style& style,
                                                   const adapter::Providers& providers) {
  const std::shared_ptr<const DiscoverySet> set = discovery_.Get(providers);
  const std::string name = absl::StrCat(routed.group, "/", routed.version);
  const Document& document = set->lists.at(name);
  const auto protobuf = [&] {
    for (const wire::DiscoveryVersion& version : set->FindGroup(routed.group)->versions) {
      if (version.version != routed.version) continue;
      return wire::ApiResourceListProtobuf(name, version.resources);
    }
    return std::string();
  };
  return InStyle(document, protobuf, style);
}

http::HttpResponse DocumentEndpoints::Index(int status, const adapter::Providers& providers) {
  return http::BodyResponse(status, "application/json",
                            wire::RootPathsJson(discovery_.Get(providers)->paths));
}

http::HttpResponse DocumentEndpoints::Health(const RoutedRequest& routed,
                                             const adapter::Providers& providers) {
  const HealthAnswer answer = routed.name.empty()
                                  ? health_->Run(routed.resource, routed.query.Has("verbose"),
                                                 routed.query.AllShown("exclude"))
                                  : health_->RunOne(routed.resource, routed.name);
  if (answer.status == 404) return Index(404, providers);
  if (answer.status == 200 && !routed.name.empty()) {
    return http::BodyResponse(200, http::kPlainText, answer.body);
  }
  return http::NosniffResponse(answer.status, http::kPlainText, answer.body);
}

http::HttpResponse DocumentEndpoints::Version() {
  std::string json;
  const std::pair<absl::string_view, absl::string_view> members[] = {
      {"major", "1"},
      {"minor", "0"},
      {"gitVersion", version_.version},
      {"gitCommit", version_.commit},
      {"gitTreeState", ""},
      {"buildDate", version_.date},
      {"goVersion", ""},
      {"compiler", ""},
      {"platform", kPlatform}};
  wire::AppendStringMap(members, &json);
  return http::BodyResponse(200, "application/json", wire::IndentJson(json));
}

http::HttpResponse DocumentEndpoints::OpenApi(const http::HttpRequest& request,
                                              const RoutedRequest& routed, const Style& style,
                                              const adapter::Providers& providers) {
  // The list of the v3 documents is JSON whatever is asked for, and JSON is the only form of the
  // documents.
  const std::optional<bool> takes_json = TakesJson(request.Header("Accept"));
  if (routed.endpoint != Endpoint::kOpenApiV3Index && !takes_json.value_or(false)) {
    // To a header that names no type the original sends nothing of a v3 document.
    const bool nothing = routed.endpoint == Endpoint::kOpenApiV3 && !takes_json.has_value();
    http::HttpResponse response;
    response.status = nothing ? 200 : 406;
    response.headers.emplace_back("Vary", "Accept");
    return response;
  }
  const std::shared_ptr<const DiscoverySet> set = discovery_.Get(providers);
  const Document* document = &set->openapi->v2;
  if (routed.endpoint == Endpoint::kOpenApiV3Index) document = &set->openapi->v3_list;
  if (routed.endpoint == Endpoint::kOpenApiV3) {
    const auto found = set->openapi->v3.find(routed.name);
    if (found == set->openapi->v3.end()) return StatusResponse(wire::RouteNotFound(), style);
    document = &found->second;
  }
  http::HttpResponse response = Ok("application/json", document->json, style);
  const std::string hash = routed.query.Value("hash");
  if (routed.endpoint == Endpoint::kOpenApiV3 && !hash.empty()) {
    if (hash != document->hash) {
      http::HttpResponse moved;
      moved.status = 301;
      moved.headers.emplace_back(
          "Location", absl::StrCat("/openapi/v3/", routed.name, "?hash=", document->hash));
      return moved;
    }
    response.headers.emplace_back("Cache-Control", "public, immutable");
    response.headers.emplace_back("Expires",
                                  http::HttpDate(clock_->WallNow() + absl::Hours(24 * 365)));
  }
  return WithEtag(request, document->hash, std::move(response));
}

}  // namespace flyball::apiservice
