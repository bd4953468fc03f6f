#include "apiservice/requests/router.h"

#include <map>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "apiservice/requests/list_parameters.h"
#include "base/go/duration.h"
#include "base/go/number.h"

namespace flyball::apiservice {
namespace {

using Segments = absl::Span<const std::string>;

bool IsKnownGroup(absl::string_view group) {
  return group == kCustomGroup || group == kExternalGroup || group == kResourceGroup;
}

bool IsKnownVersion(absl::string_view group, absl::string_view version) {
  return version == "v1beta1" || (group == kCustomGroup && version == "v1beta2") ||
         (group == kResourceGroup && version == "v1");
}

std::string ResourceVerb(absl::string_view method) {
  if (method == "GET" || method == "HEAD") return "get";
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return "delete";
  return "";
}

// The first segment of a path that asks for something special.
bool IsSpecialVerb(absl::string_view segment) { return segment == "watch" || segment == "proxy"; }

// What RequestInfo takes for a part of the namespace before it, not for a resource within it.
bool IsOfNamespace(absl::string_view segment) {
  return segment == "status" || segment == "finalize";
}

// Segments after the version, as RequestInfo reads them.
void FillResourceAttributes(absl::string_view method, Segments parts, const Query& query,
                            Attributes* out) {
  out->is_resource = true;
  out->verb = ResourceVerb(method);
  bool special = false;
  if (IsSpecialVerb(parts[0])) {
    out->unreadable = parts.size() == 1;
    if (out->unreadable) return;
    out->verb = parts[0];
    special = out->verb == "proxy";
    parts.remove_prefix(1);
  }
  if (parts[0] == "namespaces" && parts.size() > 1) {
    out->ns = parts[1];
    if (parts.size() > 2 && !IsOfNamespace(parts[2])) parts.remove_prefix(2);
  }
  out->resource = parts[0];
  if (parts.size() > 1) out->name = parts[1];
  if (parts.size() > 2 && !special) out->subresource = parts[2];

  if (!out->name.empty()) return;
  if (out->verb == "delete") out->verb = "deletecollection";
  if (out->verb != "get") return;
  out->verb = query.Flag("watch") ? "watch" : "list";
  // A selector that does not parse, or that is too long to be parsed for an unknown user, is left
  // out of the review; the list is refused later.
  if (const auto list = ParseListParameters(query, kMaxReviewedSelectorBytes); list.ok()) {
    out->label_selector = list->label_selector;
    const std::string name = list->field_selector.ExactName().value_or("");
    if (name != "." && name != ".." && !absl::StrContains(name, '/') &&
        !absl::StrContains(name, '%')) {
      out->name = name;
    }
  }
}

// As RequestInfo, without the slashes at both ends. No route has a path that begins with two of
// them, so what is reviewed as a resource by that is found nowhere afterwards.
void FillAttributes(absl::string_view method, const Target& target, Attributes* out) {
  Segments parts = target.segments;
  while (!parts.empty() && parts.front().empty()) parts.remove_prefix(1);
  while (!parts.empty() && parts.back().empty()) parts.remove_suffix(1);
  const bool grouped = !parts.empty() && parts[0] == "apis";
  const bool core = !parts.empty() && parts[0] == "api";
  const size_t head = grouped ? 3 : 2;  // segments up to the version
  if ((grouped || core) && parts.size() > head) {
    if (grouped) out->group = parts[1];
    out->version = parts[head - 1];
    FillResourceAttributes(method, parts.subspan(head), target.query, out);
    return;
  }
  out->verb = absl::AsciiStrToLower(method);
  out->path = target.path;
}

void RouteCustom(Segments rest, RoutedRequest* out) {
  const bool in_namespace = rest.size() > 1 && rest[0] == "namespaces";
  if (in_namespace && (rest.size() == 4 || rest.size() == 5) && rest[2] == "metrics") {
    out->namespace_itself = true;
    out->resource = "namespaces";
    out->name = rest[1];
    out->metric = rest[3];
  } else if (in_namespace && (rest.size() == 3 || rest.size() == 5) && IsOfNamespace(rest[2])) {
    out->ns = rest[1];
    out->resource = "namespaces";
    out->name = rest[1];
    out->metric = rest[2];
  } else if (in_namespace && rest.size() == 5) {
    out->ns = rest[1];
    out->resource = rest[2];
    out->name = rest[3];
    out->metric = rest[4];
  } else if (rest.size() == 3 && (in_namespace || IsSpecialVerb(rest[0]))) {
    out->error = wire::BadRequest("invalid request path");
  } else if (rest.size() == 3) {
    out->resource = rest[0];
    out->name = rest[1];
    out->metric = rest[2];
  } else {
    return;
  }
  out->endpoint = Endpoint::kCustomMetric;
}

void RouteExternal(Segments rest, RoutedRequest* out) {
  if (rest.size() != 3 || rest[0] != "namespaces") return;
  out->endpoint = Endpoint::kExternalMetric;
  out->ns = rest[1];
  out->metric = rest[2];
}

void RouteResource(Segments rest, RoutedRequest* out) {
  if (rest.size() <= 2 && rest[0] == "nodes") {
    out->endpoint = Endpoint::kNodeMetrics;
    if (rest.size() == 2) out->name = rest[1];
  } else if (rest.size() == 1 && rest[0] == "pods") {
    out->endpoint = Endpoint::kPodMetrics;
  } else if ((rest.size() == 3 || rest.size() == 4) && rest[0] == "namespaces" &&
             rest[2] == "pods") {
    out->endpoint = Endpoint::kPodMetrics;
    out->ns = rest[1];
    if (rest.size() == 4) out->name = rest[3];
  }
}

// Everything below /apis. One trailing slash is removed from `parts` already; the original ignores
// any number of them below a group.
void RouteApis(Segments parts, RoutedRequest* out) {
  while (parts.size() > 2 && parts.back().empty()) parts.remove_suffix(1);
  if (parts.size() == 1) {
    out->endpoint = Endpoint::kGroupList;
    return;
  }
  if (!IsKnownGroup(parts[1])) return;
  out->group = parts[1];
  if (parts.size() == 2) {
    out->endpoint = Endpoint::kGroup;
    return;
  }
  out->endpoint = Endpoint::kResourceList;
  out->version = parts[2];
  if (!IsKnownVersion(out->group, out->version)) {
    out->error = wire::RouteNotFound();
    return;
  }
  if (parts.size() == 3) return;
  for (const std::string& part : parts) {
    if (part.empty() || absl::StrContains(part, '/')) {
      out->error = wire::RouteNotFound();
      return;
    }
  }
  const Segments rest = parts.subspan(3);
  if (out->group == kCustomGroup) RouteCustom(rest, out);
  if (out->group == kExternalGroup) RouteExternal(rest, out);
  if (out->group == kResourceGroup) RouteResource(rest, out);
  // Still the list: nothing matched.
  if (out->endpoint == Endpoint::kResourceList) out->error = wire::RouteNotFound();
}

void RouteOther(Segments parts, RoutedRequest* out) {
  static const auto& pages = *new std::map<std::vector<std::string>, Endpoint>{
      {{"index.html"}, Endpoint::kIndex},
      {{"metrics"}, Endpoint::kMetrics},
      {{"version"}, Endpoint::kVersion},
      {{"debug", "rules"}, Endpoint::kDebugRules},
      {{"debug", "decisions"}, Endpoint::kDebugDecisions},
      {{"openapi", "v2"}, Endpoint::kOpenApiV2},
      {{"openapi", "v3"}, Endpoint::kOpenApiV3Index},
  };
  const std::string& first = parts[0];
  if (first == "healthz" || first == "livez" || first == "readyz") {
    out->endpoint = Endpoint::kHealth;
    out->resource = first;
    out->name = absl::StrJoin(parts.subspan(1), "/");
  } else if (parts.size() > 2 && first == "openapi" && parts[1] == "v3") {
    out->endpoint = Endpoint::kOpenApiV3;
    out->name = absl::StrJoin(parts.subspan(2), "/");
  } else if (const auto page = pages.find({parts.begin(), parts.end()}); page != pages.end()) {
    out->endpoint = page->second;
  }
}

bool IsAnyMethod(Endpoint endpoint) {
  return endpoint == Endpoint::kHealth || endpoint == Endpoint::kMetrics ||
         endpoint == Endpoint::kOpenApiV2 || endpoint == Endpoint::kOpenApiV3Index ||
         endpoint == Endpoint::kOpenApiV3 || endpoint == Endpoint::kUnknownPath ||
         endpoint == Endpoint::kIndex;
}

void ReadTimeout(absl::Duration max_timeout, RoutedRequest* out) {
  constexpr size_t kLongest = 64;
  // A watch would have no deadline.
  if (out->attributes.is_resource && out->attributes.verb == "watch") return;
  const std::string text = out->query.Value("timeout");
  if (text.empty()) return;
  const absl::StatusOr<absl::Duration> asked =
      text.size() <= kLongest
          ? go::ParseDuration(text)
          : absl::InvalidArgumentError(absl::StrCat("longer than ", kLongest, " bytes"));
  if (!asked.ok()) {
    out->early_error = wire::BadRequest(
        absl::StrCat("invalid timeout specified in the request URL - ", asked.status().message()));
    out->only_timeout = true;
  } else if (*asked > absl::ZeroDuration() && *asked < max_timeout) {
    out->timeout = *asked;
  }
}

std::optional<bool> ReadPretty(const Query& query) {
  const std::string text = query.Value("pretty");
  if (text.empty()) return std::nullopt;
  return go::ParseBool(text).value_or(false);
}

}  // namespace

RoutedRequest Route(absl::string_view method, absl::string_view raw_target,
                    absl::Duration max_timeout) {
  RoutedRequest out;
  out.timeout = max_timeout;
  absl::StatusOr<Target> target = ParseTarget(raw_target);
  if (!target.ok()) {
    out.early_error = absl::IsResourceExhausted(target.status())
                          ? wire::UriTooLong(target.status().message())
                          : wire::BadRequest(target.status().message());
    return out;
  }
  FillAttributes(method, *target, &out.attributes);
  out.query = std::move(target->query);
  ReadTimeout(max_timeout, &out);
  out.pretty = ReadPretty(out.query);

  Segments parts = target->segments;
  const bool trailing_slash = parts.size() > 1 && parts.back().empty();
  if (trailing_slash) parts.remove_suffix(1);
  if (parts[0].empty()) {
    if (parts.size() == 1 && !trailing_slash) out.endpoint = Endpoint::kIndex;
  } else if (parts[0] == "apis") {
    RouteApis(parts, &out);
  } else if (parts[0] == "version") {
    while (parts.back().empty()) parts.remove_suffix(1);
    RouteOther(parts, &out);
  } else if (!trailing_slash) {
    RouteOther(parts, &out);
  }
  // If a path has the right shape but an unknown content, its method is checked first.
  const bool right_shape = !out.error.has_value() || out.endpoint == Endpoint::kCustomMetric;
  if (right_shape && method != "GET" && !IsAnyMethod(out.endpoint)) {
    out.error = wire::MethodNotAllowed();
  }
  return out;
}

bool RoutedRequest::IsMetricList() const {
  if (endpoint == Endpoint::kCustomMetric || endpoint == Endpoint::kExternalMetric) return true;
  return (endpoint == Endpoint::kPodMetrics || endpoint == Endpoint::kNodeMetrics) && name.empty();
}

void ReadParameters(size_t max_selector_bytes, RoutedRequest* out) {
  if (out->error.has_value()) return;
  const bool custom = out->endpoint == Endpoint::kCustomMetric;
  if (!out->IsMetricList()) {
    const bool one =
        out->endpoint == Endpoint::kPodMetrics || out->endpoint == Endpoint::kNodeMetrics;
    if (one && out->query.Flag("export")) {
      out->error =
          wire::BadRequest("the export parameter, deprecated since v1.14, is no longer supported");
    }
    return;
  }
  absl::StatusOr<ListParameters> parameters = ParseListParameters(out->query, max_selector_bytes);
  if (!parameters.ok()) {
    out->error = wire::BadRequest(parameters.status().message());
    return;
  }
  out->label_selector = std::move(parameters->label_selector);
  out->field_selector = std::move(parameters->field_selector);
  if (!custom) out->error = CheckListOptions(out->query);
  if (out->error.has_value()) return;
  if (const absl::Status fields = out->field_selector.CheckFields(); !fields.ok()) {
    out->error = wire::BadRequest(fields.message());
    return;
  }
  if (!custom) {
    if (out->query.Flag("watch")) {
      out->error =
          wire::WatchNotSupported(out->group, out->endpoint == Endpoint::kExternalMetric ? "*"
                                              : out->endpoint == Endpoint::kPodMetrics   ? "pods"
                                                                                         : "nodes");
    }
    return;
  }
  if (!out->field_selector.empty() && out->field_selector.ExactName() != out->name) {
    out->error = wire::BadRequest("fieldSelector metadata.name doesn't match requested name");
    return;
  }
  absl::StatusOr<kube::Selector> selector =
      ParseSelector(out->query, "metricLabelSelector", max_selector_bytes);
  if (selector.ok()) {
    out->metric_selector = *std::move(selector);
  } else if (absl::IsResourceExhausted(selector.status())) {
    out->error = wire::BadRequest(selector.status().message());
  } else {
    // The original returns the parser's error as it is: no reason, hence 500.
    out->error = wire::Status{500, "", std::string(selector.status().message()), std::nullopt};
  }
}

}  // namespace flyball::apiservice
