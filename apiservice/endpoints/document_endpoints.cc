#include "apiservice/endpoints/document_endpoints.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "apiservice/endpoints/openapi.h"
#include "apiservice/requests/digest.h"
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

constexpr absl::string_view kOpenApiVersion = "1.0.0";

std::vector<std::string> FixedPaths(const HealthChecks& health) {
  std::vector<std::string> paths = {"/healthz",    "/livez",       "/metrics", "/openapi/v2",
                                    "/openapi/v3", "/openapi/v3/", "/readyz",  "/version"};
  const auto add = [&](absl::string_view prefix, HealthEndpoint endpoint) {
    for (const std::string& name : health.Names(endpoint)) {
      paths.push_back(absl::StrCat(prefix, "/", name));
    }
  };
  add("/healthz", HealthEndpoint::kHealthz);
  add("/livez", HealthEndpoint::kLivez);
  add("/readyz", HealthEndpoint::kReadyz);
  return paths;
}

// The body, or 304 when the client has it.
http::HttpResponse WithEtag(const http::HttpRequest& request, const std::string& etag,
                            http::HttpResponse response) {
  response.headers.emplace_back("ETag", etag);
  response.headers.emplace_back("Vary", "Accept");
  const absl::string_view known = request.Header("If-None-Match");
  if (!known.empty() && (known == "*" || absl::StrContains(known, etag))) {
    response.status = 304;
    response.body = nullptr;
  }
  return response;
}

http::HttpResponse JsonOrProtobuf(const std::string& json, const std::string& protobuf,
                                  const Style& style) {
  std::string body = style.media.encoding == Encoding::kProtobuf ? protobuf : Restyle(json, style);
  return Ok(ContentTypeOf(style.media), std::make_shared<const std::string>(std::move(body)),
            style);
}

// JSON is the only form of these documents.
bool TakesOpenApiJson(absl::string_view accept) {
  return accept.empty() || absl::StrContains(accept, "application/json") ||
         absl::StrContains(accept, "*/*") || absl::StrContains(accept, "application/*");
}

}  // namespace

struct DocumentEndpoints::OpenApiSet {
  std::shared_ptr<const DiscoverySet> of;
  struct Part {
    std::string path;  // apis/GROUP/VERSION
    std::shared_ptr<const std::string> json;
    std::string hash;
  };
  Part v2, index;
  std::vector<Part> v3;
};

DocumentEndpoints::DocumentEndpoints(VersionInfo version, const HealthChecks* health, Clock* clock)
    : version_(std::move(version)),
      health_(health),
      clock_(clock),
      discovery_(FixedPaths(*health)) {}

bool DocumentEndpoints::Serves(absl::string_view group, absl::string_view version,
                               const adapter::Providers& providers) {
  const std::shared_ptr<const DiscoverySet> set = discovery_.Get(providers);
  return version.empty() ? set->FindGroup(group) != nullptr
                         : set->FindVersion(group, version) != nullptr;
}

http::HttpResponse DocumentEndpoints::GroupList(const http::HttpRequest& request,
                                                const Style& style,
                                                const adapter::Providers& providers) {
  const std::shared_ptr<const DiscoverySet> set = discovery_.Get(providers);
  if (style.media.conversion == Conversion::kNone) {
    std::vector<wire::ApiGroup> groups;
    for (const wire::DiscoveryGroup& group : set->groups) groups.push_back(GroupOf(group));
    return JsonOrProtobuf(*set->group_list.json, wire::ApiGroupListProtobuf(groups), style);
  }
  const Document& document = style.media.conversion == Conversion::kDiscoveryV2
                                 ? set->aggregated_v2
                                 : set->aggregated_v2beta1;
  http::HttpResponse response =
      Ok(ContentTypeOf(style.media),
         style.pretty ? std::make_shared<const std::string>(wire::IndentJson(*document.json))
                      : document.json,
         style);
  response.headers.emplace_back("Cache-Control", "public");
  return WithEtag(request, document.etag, std::move(response));
}

http::HttpResponse DocumentEndpoints::Group(const RoutedRequest& routed, const Style& style,
                                            const adapter::Providers& providers) {
  const std::shared_ptr<const DiscoverySet> set = discovery_.Get(providers);
  const wire::ApiGroup group = GroupOf(*set->FindGroup(routed.group));
  return JsonOrProtobuf(wire::ApiGroupJson(group), wire::ApiGroupProtobuf(group), style);
}

http::HttpResponse DocumentEndpoints::ResourceList(const RoutedRequest& routed, const Style& style,
                                                   const adapter::Providers& providers) {
  const std::shared_ptr<const DiscoverySet> set = discovery_.Get(providers);
  const Document* document = set->FindList(routed.group, routed.version);
  if (style.media.encoding == Encoding::kJson && !style.pretty) {
    return Ok(ContentTypeOf(style.media), document->json, style);
  }
  std::string protobuf;
  if (style.media.encoding == Encoding::kProtobuf) {
    protobuf =
        wire::ApiResourceListProtobuf(absl::StrCat(routed.group, "/", routed.version),
                                      set->FindVersion(routed.group, routed.version)->resources);
  }
  return JsonOrProtobuf(*document->json, protobuf, style);
}

http::HttpResponse DocumentEndpoints::Index(int status, const adapter::Providers& providers) {
  http::HttpResponse response;
  response.status = status;
  response.content_type = "application/json";
  response.body =
      std::make_shared<const std::string>(wire::RootPathsJson(discovery_.Get(providers)->paths));
  return response;
}

http::HttpResponse DocumentEndpoints::Health(const RoutedRequest& routed,
                                             const adapter::Providers& providers) {
  const HealthEndpoint endpoint = routed.resource == "healthz" ? HealthEndpoint::kHealthz
                                  : routed.resource == "livez" ? HealthEndpoint::kLivez
                                                               : HealthEndpoint::kReadyz;
  const HealthAnswer answer =
      routed.name.empty()
          ? health_->Run(endpoint, routed.query.Has("verbose"), routed.query.All("exclude"))
          : health_->RunOne(endpoint, routed.name);
  return answer.status == 404 ? Index(404, providers) : PlainText(answer.status, answer.body);
}

http::HttpResponse DocumentEndpoints::Version() {
  std::string json = "{";
  const auto add = [&](absl::string_view name, absl::string_view value) {
    if (json.size() > 1) json.push_back(',');
    absl::StrAppend(&json, "\"", name, "\":");
    wire::AppendJsonString(value, &json);
  };
  add("major", version_.major);
  add("minor", version_.minor);
  add("gitVersion", version_.git_version);
  add("gitCommit", version_.git_commit);
  add("gitTreeState", version_.git_tree_state);
  add("buildDate", version_.build_date);
  add("goVersion", "");
  add("compiler", "");
  add("platform", kPlatform);
  json.push_back('}');
  http::HttpResponse response;
  response.content_type = "application/json";
  response.body = std::make_shared<const std::string>(wire::IndentJson(json));
  return response;
}

std::shared_ptr<const DocumentEndpoints::OpenApiSet> DocumentEndpoints::OpenApiOf(
    const adapter::Providers& providers) {
  const std::shared_ptr<const DiscoverySet> discovery = discovery_.Get(providers);
  std::shared_ptr<const OpenApiSet> last = openapi_.Get();
  if (last != nullptr && last->of == discovery) return last;
  auto set = std::make_shared<OpenApiSet>();
  set->of = discovery;
  const auto part = [](std::string path, std::string json) {
    OpenApiSet::Part out;
    out.path = std::move(path);
    out.hash = Sha256Hex(json);
    out.json = std::make_shared<const std::string>(std::move(json));
    return out;
  };
  std::vector<GroupVersionName> served;
  std::string index = "{\"paths\":{";
  for (const wire::DiscoveryGroup& group : discovery->groups) {
    for (const wire::DiscoveryVersion& version : group.versions) {
      served.push_back({group.name, version.version});
      set->v3.push_back(part(absl::StrCat("apis/", group.name, "/", version.version),
                             OpenApiV3Json(served.back(), kOpenApiVersion)));
      const OpenApiSet::Part& last_part = set->v3.back();
      absl::StrAppend(&index, served.size() > 1 ? "," : "", "\"", last_part.path,
                      "\":{\"serverRelativeURL\":\"/openapi/v3/", last_part.path,
                      "?hash=", last_part.hash, "\"}");
    }
  }
  set->index = part("", index + "}}");
  set->v2 = part("", OpenApiV2Json(served, kOpenApiVersion));
  openapi_.Set(set);
  return set;
}

http::HttpResponse DocumentEndpoints::OpenApi(const http::HttpRequest& request,
                                              const RoutedRequest& routed, const Style& style,
                                              const adapter::Providers& providers) {
  // The list of the v3 documents is JSON whatever is asked for.
  if (routed.endpoint != Endpoint::kOpenApiV3Index && !TakesOpenApiJson(request.Header("Accept"))) {
    http::HttpResponse response;
    response.status = 406;
    return response;
  }
  const std::shared_ptr<const OpenApiSet> set = OpenApiOf(providers);
  const OpenApiSet::Part* part = &set->v2;
  if (routed.endpoint == Endpoint::kOpenApiV3Index) part = &set->index;
  if (routed.endpoint == Endpoint::kOpenApiV3) {
    part = nullptr;
    for (const OpenApiSet::Part& candidate : set->v3) {
      if (candidate.path == routed.name) part = &candidate;
    }
    if (part == nullptr) return StatusResponse(wire::RouteNotFound(), style);
  }
  http::HttpResponse response = Ok("application/json", part->json, style);
  const std::string hash = routed.query.Value("hash");
  if (routed.endpoint == Endpoint::kOpenApiV3 && !hash.empty()) {
    if (hash != part->hash) {
      http::HttpResponse moved;
      moved.status = 301;
      moved.headers.emplace_back("Location",
                                 absl::StrCat("/openapi/v3/", part->path, "?hash=", part->hash));
      return moved;
    }
    response.headers.emplace_back("Cache-Control", "public, immutable");
    response.headers.emplace_back("Expires",
                                  http::HttpDate(clock_->WallNow() + absl::Hours(24 * 365)));
  }
  return WithEtag(request, absl::StrCat("\"", part->hash, "\""), std::move(response));
}

}  // namespace flyball::apiservice
