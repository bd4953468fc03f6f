#include "apiservice/endpoints/metric_endpoints.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapter/queries/failure_notes.h"
#include "apiservice/endpoints/list_admission.h"
#include "apiservice/requests/digest.h"
#include "apiservice/wire/metric_lists.h"
#include "apiservice/wire/resource_lists.h"
#include "apiservice/wire/sizes.h"
#include "apiservice/wire/text.h"
#include "base/go/text.h"
#include "http/server/event_workers.h"

namespace flyball::apiservice {
namespace {

// The cache key: equal for requests with the same target and encoding. Of a long target a digest is
// used.
std::string CacheKey(absl::string_view target, const Style& style) {
  constexpr size_t kKeptWhole = 512;
  std::string digest;
  if (target.size() > kKeptWhole) target = digest = Sha256(target);
  std::string key;
  key.reserve(target.size() + 4);
  key.push_back(static_cast<char>('0' + static_cast<int>(style.media.encoding)));
  key.push_back(static_cast<char>('0' + static_cast<int>(style.media.conversion)));
  key.push_back(style.pretty ? 'p' : '-');
  key.push_back(style.gzip ? 'z' : '-');
  key.append(target.data(), target.size());
  return key;
}

std::shared_ptr<const adapter::MetricsProvider> ProviderOf(Endpoint endpoint,
                                                           const adapter::Providers& providers) {
  if (endpoint == Endpoint::kCustomMetric) return providers.custom;
  if (endpoint == Endpoint::kExternalMetric) return providers.external;
  return providers.resource;
}

// RFC 9111's quoted text holds no quotes or line ends.
std::string WarningValue(std::string text) {
  constexpr size_t kShownBytes = 512;
  wire::Shorten(kShownBytes, &text);
  std::string out = "299 - \"";
  for (const char c : text) out.push_back(c == '"' || c == '\\' || c < 0x20 ? ' ' : c);
  return out + "\"";
}

http::HttpResponse ProviderError(const absl::Status& error, const Style& style,
                                 const ListAdmission& admission) {
  if (admission.refused().has_value()) return *admission.refused();
  const std::string too_long = adapter::NoteOf(error, adapter::kTooLongNote);
  http::HttpResponse response =
      error.code() == absl::StatusCode::kDeadlineExceeded ? TimeoutResponse()
      : too_long.empty() ? StatusResponse(wire::FromProviderError(error), style)
                         : StatusResponse(wire::RequestEntityTooLarge(too_long), style);
  // The error's own text is the original's; kubectl shows this as well.
  if (std::string warning = adapter::NoteOf(error, adapter::kWarningNote); !warning.empty()) {
    response.headers.emplace_back("Warning", WarningValue(std::move(warning)));
  }
  return response;
}

// What takes no more than this needs no room. Each request under way may hold as much of each kind.
constexpr size_t kShort = 16 << 10;

// What all questions under way may take, by the lengths of their targets: a selector becomes a
// query, and that a request, each of which is longer, and each is there more than once.
constexpr size_t kQuestionBytes = 6 << 20;
constexpr size_t kMemoryForEachTargetByte = 32;
constexpr size_t kHeldForEachTargetByte = 4;  // until the query is made

// What all lists may take that a metric source is being asked for.
constexpr size_t kListBytes = 6 << 20;

// The answer of a list, whose body `make` makes.
template <typename List, typename Make>
http::HttpResponse Made(const List& list, ListAdmission& admission, const Style& style, Make make) {
  if (auto refusal = admission.Refusal(wire::JsonBytes(list))) return *std::move(refusal);
  std::string body = make();
  if (style.media.encoding != Encoding::kProtobuf) body = Restyle(std::move(body), style);
  http::HttpResponse response =
      Ok(ContentTypeOf(style.media), std::make_shared<const std::string>(std::move(body)), style);
  response.held = admission.held();
  return response;
}

// Asks a provider, which may wait for Prometheus, or for another request with the same question.
template <typename Ask>
auto Await(Ask ask) {
  const http::EventWorkers::Waiting waiting;
  return ask();
}

// What each item of a custom or external list repeats.
size_t RepeatedBytes(const RoutedRequest& routed) {
  size_t bytes = routed.metric.size();
  if (routed.endpoint == Endpoint::kCustomMetric) {
    bytes += wire::LabelSelectorJson(routed.metric_selector).size();
  }
  return bytes;
}

// What a list is of; both outlive the filter.
adapter::ObjectFilter FilterOf(const RoutedRequest& routed, ListAdmission& admission) {
  adapter::ObjectFilter filter{.labels = routed.label_selector, .admit = admission.Admit()};
  if (!routed.field_selector.empty()) {
    filter.others = [&fields = routed.field_selector](const kube::ObjectMeta& meta) {
      return fields.Matches(meta.ns, meta.name);
    };
  }
  return filter;
}

// The value of ?includeObject= for a table's rows; nullopt: an unknown value.
std::optional<wire::IncludeObject> IncludeObjectOf(absl::string_view text) {
  if (text.empty() || text == "Metadata") return wire::IncludeObject::kMetadata;
  if (text == "Object") return wire::IncludeObject::kObject;
  if (text == "None") return wire::IncludeObject::kNone;
  return std::nullopt;
}

// `version`: of an API that has several.
template <typename List, typename... Version>
http::HttpResponse MetricsResponse(const Style& style, ListAdmission& admission,
                                   const absl::StatusOr<List>& list, const Version&... version) {
  if (!list.ok()) return ProviderError(list.status(), style, admission);
  return Made(*list, admission, style, [&] {
    return style.media.encoding == Encoding::kProtobuf ? wire::ToProtobuf(*list, version...)
                                                       : wire::ToJson(*list, version...);
  });
}

// The names of an object's kind in errors: for an object that does not exist, and for one without
// metrics. The former is that of the original's lister, without the metrics group.
struct ResourceKinds {
  absl::string_view object;
  absl::string_view metrics;
};

constexpr ResourceKinds kPodKinds = {"pods", "podmetrics"};
constexpr ResourceKinds kNodeKinds = {"node", "nodemetrics"};

template <typename Item>
http::HttpResponse ResourceResponse(const RoutedRequest& routed, const Style& style,
                                    ListAdmission& admission, const ResourceKinds& kinds,
                                    absl::Time now,
                                    const absl::StatusOr<adapter::ResourceMetricList<Item>>& list) {
  if (absl::IsNotFound(list.status())) {
    return StatusResponse(wire::ObjectNotFound("", kinds.object, routed.name), style);
  }
  if (!list.ok()) return ProviderError(list.status(), style, admission);
  const auto warned = [&list](http::HttpResponse response) {
    if (!list->degraded.empty()) {
      response.headers.emplace_back("Warning", WarningValue(list->degraded));
    }
    return response;
  };
  if (!routed.name.empty() && list->items.empty()) {
    const std::string name =
        routed.ns.empty() ? routed.name : absl::StrCat(routed.ns, "/", routed.name);
    return warned(StatusResponse(wire::ObjectNotFound(kResourceGroup, kinds.metrics, name), style));
  }
  const bool table = IsTable(style.media.conversion);
  const std::string asked = table ? routed.query.Shown("includeObject") : "";
  const std::optional<wire::IncludeObject> include = IncludeObjectOf(asked);
  if (!include.has_value()) {
    return StatusResponse(
        wire::BadRequest(
            absl::StrCat("Unable to convert to Table as requested: includeObject: Invalid value: ",
                         go::Quote(asked), ": must be 'Metadata', 'Object', 'None', or empty")),
        style);
  }
  const auto make = [&] {
    const bool proto = style.media.encoding == Encoding::kProtobuf;
    if (table) {
      return wire::TableJson(list->items, routed.version,
                             style.media.conversion == Conversion::kTableV1 ? "v1" : "v1beta1",
                             *include, now);
    }
    if (routed.name.empty()) {
      return proto ? wire::ListProtobuf(list->items, routed.version, now)
                   : wire::ListJson(list->items, routed.version, now);
    }
    const Item& item = list->items.front();
    return proto ? wire::ObjectProtobuf(item, routed.version, now)
                 : wire::ObjectJson(item, routed.version, now);
  };
  return warned(Made(list->items, admission, style, make));
}

}  // namespace

// What the cache stores with a fresh answer.
struct MetricEndpoints::Rendered {
  Freshness freshness;
  int64_t wall_second = kAnySecond;  // of the timestamps that say "now"
  static constexpr int64_t kAnySecond = -1;
};

// A rendered answer. It does not depend on the user, who was authorized before.
struct MetricEndpoints::KeptAnswer {
  http::HttpResponse response;
  Rendered rendered;
  std::shared_ptr<const adapter::MetricsProvider> provider;  // whose epoch is meant
  // Set by the request that asks anew ahead of time.
  mutable std::atomic<bool> asked_anew = false;

  bool HoldsAt(MonotonicTime now, uint64_t epoch, absl::Time wall) const {
    return rendered.freshness.HoldsAt(now) && rendered.freshness.epoch == epoch &&
           (rendered.wall_second == Rendered::kAnySecond ||
            rendered.wall_second == absl::ToUnixSeconds(wall));
  }
};

MetricEndpoints::MetricEndpoints(Clock* clock, const LimitOptions& limits,
                                 std::function<std::shared_ptr<const void>(size_t bytes)> count)
    : clock_(clock),
      max_answer_bytes_(limits.max_answer_bytes),
      questions_({.all = kQuestionBytes, .free = kShort, .max_waiting = kQuestionBytes / 4},
                 *clock),
      lists_({.all = kListBytes, .free = kShort, .max_waiting = kListBytes / 4}, *clock),
      answers_({.all = limits.max_answer_bytes,
                .free = kShort,
                .max_waiting = limits.max_answer_bytes / 4,
                .also = std::move(count)},
               *clock),
      cache_(limits.response_cache_entries, limits.response_cache_bytes) {}

http::HttpResponse MetricEndpoints::Serve(absl::string_view target, const RoutedRequest& routed,
                                          const Style& style, const adapter::Providers& providers,
                                          MonotonicTime deadline) {
  const std::string key = CacheKey(target, style);
  const auto provider = ProviderOf(routed.endpoint, providers);
  const MonotonicTime now = clock_->MonotonicNow();
  const std::shared_ptr<const KeptAnswer> kept = cache_.Get(key, now).value_or(nullptr);
  if (kept != nullptr && kept->provider == provider &&
      kept->HoldsAt(now, provider->Epoch(), clock_->WallNow()) &&
      (!kept->rendered.freshness.IsDueAt(now) || kept->asked_anew.exchange(true))) {
    ++counters_.cache_hits;
    return kept->response;
  }
  ++counters_.cache_misses;
  const auto question = questions_.Take(kMemoryForEachTargetByte * target.size(), deadline,
                                        kHeldForEachTargetByte * target.size());
  if (!question.ok()) return NoRoom(question.status());
  Rendered rendered;
  http::HttpResponse response = Render(routed, style, providers, deadline, &rendered);
  // An answer with a warning is not kept, since the warning holds for this moment only.
  const bool plain = http::FindHeader(response.headers, "Warning").empty();
  if (response.status == 200 && plain && rendered.freshness.HoldsAt(clock_->MonotonicNow())) {
    constexpr size_t kOverhead = 256;
    auto answer = std::make_shared<KeptAnswer>();
    answer->response = response;
    answer->response.held = nullptr;
    answer->rendered = rendered;
    answer->provider = provider;
    cache_.Put(key, std::move(answer), response.body->size() + kOverhead, now,
               rendered.freshness.fresh_until);
  }
  return response;
}

http::HttpResponse MetricEndpoints::Render(const RoutedRequest& routed, const Style& style,
                                           const adapter::Providers& providers,
                                           MonotonicTime deadline, Rendered* rendered) {
  const absl::Duration timeout = deadline - clock_->MonotonicNow();
  if (timeout <= absl::ZeroDuration()) return TimeoutResponse();
  ListAdmission admission(
      {.max_bytes = max_answer_bytes_, .lists = lists_, .answers = answers_, .deadline = deadline},
      style, RepeatedBytes(routed));
  const auto resource = [&](const ResourceKinds& kinds, const auto& ask) {
    const auto list = Await(ask);
    const absl::Time now = clock_->WallNow();
    if (list.ok()) *rendered = {list->freshness, absl::ToUnixSeconds(now)};
    return ResourceResponse(routed, style, admission, kinds, now, list);
  };
  switch (routed.endpoint) {
    case Endpoint::kCustomMetric: {
      const adapter::CustomMetricRequest request = {
          .resource = routed.resource,
          .ns = routed.ns.empty() ? std::nullopt : std::optional(routed.ns),
          .namespace_itself = routed.namespace_itself,
          .name = routed.name,
          .metric = routed.metric,
          .object_selector = routed.label_selector,
          .metric_selector = routed.metric_selector,
          .timeout = timeout,
          .admit = admission.Admit()};
      const auto list = Await([&] { return providers.custom->Get(request); });
      if (list.ok()) *rendered = {list->freshness, absl::ToUnixSeconds(list->timestamp)};
      return MetricsResponse(style, admission, list, routed.version);
    }
    case Endpoint::kExternalMetric: {
      const adapter::ExternalMetricRequest request = {.ns = routed.ns,
                                                      .metric = routed.metric,
                                                      .selector = routed.label_selector,
                                                      .timeout = timeout,
                                                      .admit = admission.Admit()};
      const auto list = Await([&] { return providers.external->Get(request); });
      if (list.ok()) rendered->freshness = list->freshness;
      http::HttpResponse response = MetricsResponse(style, admission, list);
      if (list.ok() && !list->replaced.empty()) {
        response.headers.emplace_back("Warning", WarningValue(list->replaced));
      }
      return response;
    }
    case Endpoint::kPodMetrics:
      return resource(kPodKinds, [&] {
        return providers.resource->Pods(routed.ns, routed.name, FilterOf(routed, admission),
                                        timeout);
      });
    default:
      return resource(kNodeKinds, [&] {
        return providers.resource->Nodes(routed.name, FilterOf(routed, admission), timeout);
      });
  }
}

}  // namespace flyball::apiservice
