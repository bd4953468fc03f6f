#include "apiservice/self_metrics.h"

#include <utility>

#include "absl/strings/string_view.h"
#include "apiservice/endpoints/metric_families.h"

namespace flyball::apiservice {
namespace {

using Labels = MetricFamilies::Labels;

constexpr int kRefused = 429;

struct KindLabels {
  const char* component;
  const char* group;
  const char* version;
  const char* resource;
  const char* subresource;
  const char* scope;
  const char* refused_scope;  // of a 429, which the original counts before it knows the route
};

// Indexed by SelfMetrics::KindOf. Metric names are not distinguished: there may be thousands. The
// original leaves them out too, except of a 429, where `*` stands for them here.
constexpr KindLabels kKindLabels[] = {
    {"apiserver", "", "", "", "", "", ""},  // only 429
    {"apiserver", "", "", "", "/apis", "", ""},
    {"", "", "", "", "/healthz", "", ""},
    {"", "", "", "", "/livez", "", ""},
    {"", "", "", "", "/readyz", "", ""},
    {"custom-metrics", "custom.metrics.k8s.io", "v1beta1", "*", "*", "cluster", "resource"},
    {"custom-metrics", "custom.metrics.k8s.io", "v1beta1", "*", "*", "resource", "resource"},
    {"custom-metrics", "custom.metrics.k8s.io", "v1beta2", "*", "*", "cluster", "resource"},
    {"custom-metrics", "custom.metrics.k8s.io", "v1beta2", "*", "*", "resource", "resource"},
    {"external-metrics", "external.metrics.k8s.io", "v1beta1", "*", "*", "cluster", "namespace"},
    {"apiserver", "metrics.k8s.io", "v1beta1", "pods", "", "cluster", "cluster"},
    {"apiserver", "metrics.k8s.io", "v1beta1", "pods", "", "namespace", "namespace"},
    {"apiserver", "metrics.k8s.io", "v1beta1", "pods", "", "resource", "resource"},
    {"apiserver", "metrics.k8s.io", "v1beta1", "nodes", "", "cluster", "cluster"},
    {"apiserver", "metrics.k8s.io", "v1beta1", "nodes", "", "resource", "resource"},
    {"apiserver", "metrics.k8s.io", "v1", "pods", "", "cluster", "cluster"},
    {"apiserver", "metrics.k8s.io", "v1", "pods", "", "namespace", "namespace"},
    {"apiserver", "metrics.k8s.io", "v1", "pods", "", "resource", "resource"},
    {"apiserver", "metrics.k8s.io", "v1", "nodes", "", "cluster", "cluster"},
    {"apiserver", "metrics.k8s.io", "v1", "nodes", "", "resource", "resource"},
};

Labels LabelsOf(const KindLabels& kind, bool watch, bool refused) {
  const absl::string_view scope = refused ? kind.refused_scope : kind.scope;
  // The original's verb is that of the scope, not of the route.
  const char* verb = scope.empty() || scope == "resource" ? "GET" : "LIST";
  return {{"component", refused ? "apiserver" : kind.component},
          {"dry_run", ""},
          {"group", kind.group},
          {"resource", kind.resource},
          {"scope", std::string(scope)},
          {"subresource", kind.subresource},
          {"verb", watch ? "WATCH" : verb},
          {"version", kind.version}};
}

template <size_t N>
double CountOf(const Histogram<N>& histogram) {
  uint64_t count = 0;
  for (size_t i = 0; i <= N; ++i) count += histogram.count(i);
  return static_cast<double>(count);
}

void AddReviews(const ReviewClient::Durations& from, const char* total, const char* duration,
                const char* help, MetricFamilies* out) {
  const auto add = [&](const char* code, const auto& histogram) {
    out->Counter(total, help, CountOf(histogram), {{"code", code}});
    out->AddHistogram(duration, help, {{"code", code}}, histogram);
  };
  add("201", from.answered);
  add("other", from.refused);
  add("<error>", from.failed);
}

void AddConnections(const http::HttpServer::Counters& from, MetricFamilies* out) {
  out->Counter("apiserver_tls_handshake_errors_total", "TLS handshakes that failed.",
               from.handshake_errors);
  out->Counter("flyball_connections_accepted_total", "Connections that the server accepted.",
               from.accepted);
  out->Counter(
      "flyball_connections_refused_total",
      "Connections closed at once: all others are being served, or no file descriptor left.",
      from.refused);
  out->Counter("flyball_connections_ended_for_room_total",
               "Connections that were closed to make room, because they had been quiet longest.",
               from.ended_for_room);
  out->Gauge("flyball_connection_bytes", "About how many bytes of memory all connections take.",
             from.connection_bytes);
  out->Gauge("flyball_connections_open", "Connections that are open now.", from.open);
  out->Gauge("flyball_server_workers", "Threads that serve requests.", from.workers);
  out->Counter("flyball_requests_without_room_total",
               "Requests refused because all connections together had too little memory left to "
               "read their headers.",
               from.refused_requests);
  out->Counter("flyball_bad_requests_total", "Requests that are not HTTP or break a limit.",
               from.bad_requests);
}

void AddAuthentication(const Authenticator::Counters& from, MetricFamilies* out) {
  // These two are counters without `_total`: the names are the API server library's.
  constexpr auto kName = "authentication_attempts";
  constexpr auto kHelp = "Requests by the result of their authentication.";
  out->Counter(kName, kHelp, from.success, {{"result", "success"}});
  out->Counter(kName, kHelp, from.error, {{"result", "error"}});
  for (size_t i = 0; i < kCountedUsers.size(); ++i) {
    if (from.users[i] == 0) continue;
    out->Counter("authenticated_user_requests", "Requests of users, by kind of name.",
                 from.users[i], {{"username", std::string(kCountedUsers[i])}});
  }
  out->AddHistogram("apiserver_client_certificate_expiration_seconds",
                    "How long clients' certificates were good for when they were used.", {},
                    from.certificates);
}

void AddSources(const SelfMetrics::Sources& from, MetricFamilies* out) {
  AddConnections(*from.http, out);
  AddAuthentication(*from.authentication, out);
  constexpr auto kAttempts = "authorization_attempts_total";
  constexpr auto kAttemptsHelp = "Requests by the result of their authorization.";
  out->Counter(kAttempts, kAttemptsHelp, from.authorization->allowed, {{"result", "allowed"}});
  out->Counter(kAttempts, kAttemptsHelp, from.authorization->denied, {{"result", "denied"}});
  out->Counter(kAttempts, kAttemptsHelp, from.authorization->no_opinion,
               {{"result", "no-opinion"}});
  out->Counter(kAttempts, kAttemptsHelp, from.authorization->error, {{"result", "error"}});
  if (from.token_reviews != nullptr) {
    AddReviews(*from.token_reviews, "apiserver_delegated_authn_request_total",
               "apiserver_delegated_authn_request_duration_seconds", "TokenReview calls by answer.",
               out);
  }
  if (from.access_reviews != nullptr) {
    AddReviews(*from.access_reviews, "apiserver_delegated_authz_request_total",
               "apiserver_delegated_authz_request_duration_seconds",
               "SubjectAccessReview calls by answer.", out);
  }
  constexpr auto kCache = "flyball_response_cache_requests_total";
  constexpr auto kCacheHelp = "Metric requests by whether a rendered answer could be given again.";
  out->Counter(kCache, kCacheHelp, from.metrics->counters().cache_hits, {{"result", "hit"}});
  out->Counter(kCache, kCacheHelp, from.metrics->counters().cache_misses, {{"result", "miss"}});
  out->Gauge("flyball_response_cache_bytes", "Bytes of rendered answers kept.",
             from.metrics->cache_bytes());
  out->Gauge("flyball_serving_certificate_expiration_seconds",
             "Seconds until the serving certificate ends.",
             absl::ToDoubleSeconds(from.certificate_end() - from.now()));
  out->Gauge("flyball_serving_certificate_expiration_timestamp_seconds",
             "When the serving certificate ends, in seconds since 1970.",
             absl::ToDoubleSeconds(from.certificate_end() - absl::UnixEpoch()));
}

}  // namespace

size_t SelfMetrics::KindOf(const RoutedRequest& routed) {
  const size_t of_v1 = routed.version == "v1" ? 5 : 0;  // of resource metrics
  switch (routed.endpoint) {
    case Endpoint::kGroupList: return routed.handled ? 1 : 0;
    case Endpoint::kHealth:
      if (routed.resource == "healthz") return 2;
      return routed.resource == "livez" ? 3 : 4;
    case Endpoint::kCustomMetric:
      return (routed.version == "v1beta1" ? 5 : 7) +
             (routed.ns.empty() && !routed.namespace_itself ? 0 : 1);
    case Endpoint::kExternalMetric: return 9;
    case Endpoint::kPodMetrics:
      if (!routed.name.empty()) return of_v1 + 12;
      return of_v1 + (routed.ns.empty() ? 10 : 11);
    case Endpoint::kNodeMetrics: return of_v1 + (routed.name.empty() ? 13 : 14);
    default: return 0;
  }
}

void SelfMetrics::Count(const RoutedRequest& routed, int code, absl::Duration took,
                        size_t body_bytes) {
  const bool refused = code == kRefused;
  if (!routed.handled && !refused) return;
  auto& kinds = routed.query.Flag("watch") ? watches_by_kind_ : by_kind_;
  RequestMetrics& kind = kinds[KindOf(routed)];
  size_t index = 0;
  while (index + 1 < kCodes.size() && kCodes[index] != code) ++index;
  kind.codes[index].fetch_add(1, std::memory_order_relaxed);
  if (refused) return;
  kind.seconds.Observe(absl::ToDoubleSeconds(took));
  kind.bytes.Observe(static_cast<double>(body_bytes));
}

void SelfMetrics::AddRequests(const RequestMetrics& from, size_t kind, bool watch,
                              MetricFamilies* out) {
  Labels labels = LabelsOf(kKindLabels[kind], watch, /*refused=*/false);
  for (size_t c = 0; c < kCodes.size(); ++c) {
    const uint64_t count = from.codes[c];
    if (count == 0) continue;
    Labels with_code = {{"code", kCodes[c] == 0 ? "other" : std::to_string(kCodes[c])}};
    const Labels others = LabelsOf(kKindLabels[kind], watch, kCodes[c] == kRefused);
    with_code.insert(with_code.end(), others.begin(), others.end());
    out->Counter("apiserver_request_total", "Requests by what they asked and how they ended.",
                 count, std::move(with_code));
  }
  out->AddHistogram("apiserver_request_duration_seconds",
                    "How long requests took, from the whole request to the answer made.", labels,
                    from.seconds);
  labels.erase(labels.begin() + 1);  // as the library's: without dry_run
  out->AddHistogram("apiserver_response_sizes", "Bytes of the bodies of answers.",
                    std::move(labels), from.bytes);
}

std::string SelfMetrics::Text() const {
  MetricFamilies families;
  for (size_t kind = 0; kind < kKinds; ++kind) {
    AddRequests(by_kind_[kind], kind, /*watch=*/false, &families);
    AddRequests(watches_by_kind_[kind], kind, /*watch=*/true, &families);
  }
  families.Gauge("apiserver_current_inflight_requests", "Requests under way.", in_flight,
                 {{"request_kind", "readOnly"}});
  families.Counter("flyball_requests_refused_total",
                   "Requests refused because too many were under way.", refused_in_flight);
  families.Counter("flyball_requests_without_review_total",
                   "Requests refused because too many waited for the API server to review them.",
                   refused_reviews);
  AddSources(sources, &families);
  return families.Text();
}

}  // namespace flyball::apiservice
