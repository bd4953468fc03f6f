#include "apiservice/self_metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <sstream>
#include <utility>

namespace flyball::apiservice {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

struct KindLabels {
  const char* component;
  const char* group;
  const char* version;
  const char* resource;
  const char* scope;
  const char* verb;
};

// By SelfMetrics::KindOf. Metric names are not told apart: there may be thousands.
constexpr KindLabels kKindLabels[] = {
    {"apiserver", "", "", "", "", "GET"},
    {"custom-metrics", "custom.metrics.k8s.io", "v1beta1", "*", "cluster", "LIST"},
    {"custom-metrics", "custom.metrics.k8s.io", "v1beta2", "*", "cluster", "LIST"},
    {"external-metrics", "external.metrics.k8s.io", "v1beta1", "*", "resource", "LIST"},
    {"", "metrics.k8s.io", "v1beta1", "pods", "namespace", "LIST"},
    {"", "metrics.k8s.io", "v1beta1", "pods", "resource", "GET"},
    {"", "metrics.k8s.io", "v1beta1", "nodes", "cluster", "LIST"},
    {"", "metrics.k8s.io", "v1beta1", "nodes", "resource", "GET"},
};

Labels LabelsOf(const KindLabels& kind) {
  return {{"component", kind.component}, {"dry_run", ""},          {"group", kind.group},
          {"resource", kind.resource},   {"scope", kind.scope},    {"subresource", ""},
          {"verb", kind.verb},           {"version", kind.version}};
}

class Families {
 public:
  void Add(const char* name, const char* help, MetricType type, Labels labels, double value) {
    ClientMetric metric;
    metric.label = std::move(labels);
    if (type == MetricType::Counter) {
      metric.counter.value = value;
    } else {
      metric.gauge.value = value;
    }
    FamilyOf(name, help, type).metric.push_back(std::move(metric));
  }

  // Nothing while nothing was observed.
  template <size_t N>
  void AddHistogram(const char* name, const char* help, Labels labels, const Histogram<N>& from) {
    ClientMetric metric;
    metric.label = std::move(labels);
    uint64_t cumulative = 0;
    for (size_t i = 0; i <= N; ++i) {
      cumulative += from.count(i);
      const double bound = i < N ? from.bounds()[i] : std::numeric_limits<double>::infinity();
      metric.histogram.bucket.push_back({cumulative, bound});
    }
    if (cumulative == 0) return;
    metric.histogram.sample_count = cumulative;
    metric.histogram.sample_sum = from.sum();
    FamilyOf(name, help, MetricType::Histogram).metric.push_back(std::move(metric));
  }

  const std::vector<MetricFamily>& all() const { return families_; }

 private:
  MetricFamily& FamilyOf(const char* name, const char* help, MetricType type) {
    for (MetricFamily& family : families_) {
      if (family.name == name) return family;
    }
    families_.push_back({name, help, type, {}});
    return families_.back();
  }

  std::vector<MetricFamily> families_;
};

double Value(const std::atomic<uint64_t>& counter) { return static_cast<double>(counter.load()); }

template <size_t N>
double CountOf(const Histogram<N>& histogram) {
  uint64_t count = 0;
  for (size_t i = 0; i <= N; ++i) count += histogram.count(i);
  return static_cast<double>(count);
}

struct ReviewNames {
  const char* total;
  const char* duration;
  const char* what;
};

void AddReviews(const ReviewClient::Durations& from, const ReviewNames& names, Families* out) {
  const auto add = [&](const char* code, const auto& histogram) {
    out->Add(names.total, names.what, MetricType::Counter, {{"code", code}}, CountOf(histogram));
    out->AddHistogram(names.duration, names.what, {{"code", code}}, histogram);
  };
  add("201", from.answered);
  add("other", from.refused);
  add("<error>", from.failed);
}

void AddSources(const SelfMetrics::Sources& from, Families* out) {
  constexpr auto kCounter = MetricType::Counter;
  constexpr auto kGauge = MetricType::Gauge;
  if (from.http != nullptr) {
    out->Add("apiserver_tls_handshake_errors_total", "TLS handshakes that failed.", kCounter, {},
             Value(from.http->handshake_errors));
    out->Add("flyball_connections_accepted_total", "Connections accepted.", kCounter, {},
             Value(from.http->accepted));
    out->Add("flyball_connections_refused_total",
             "Connections closed at once: all others are being served, or no file descriptor left.",
             kCounter, {}, Value(from.http->refused));
    out->Add("flyball_connections_ended_for_room_total",
             "Connections that were quiet longest and went for others.", kCounter, {},
             Value(from.http->ended_for_room));
    out->Add("flyball_connection_bytes", "About what all connections take in memory.", kGauge, {},
             static_cast<double>(from.http->connection_bytes.load()));
    out->Add("flyball_connections_open", "Connections open.", kGauge, {},
             static_cast<double>(from.http->open.load()));
    out->Add("flyball_server_workers", "Threads that serve requests.", kGauge, {},
             static_cast<double>(from.http->workers.load()));
    out->Add("flyball_requests_without_room_total",
             "Requests refused because connections took too much memory for their heads.", kCounter,
             {}, Value(from.http->refused_requests));
    out->Add("flyball_bad_requests_total", "Requests that are not HTTP or break a limit.", kCounter,
             {}, Value(from.http->bad_requests));
  }
  if (from.authentication != nullptr) {
    constexpr auto kName = "authentication_attempts";
    constexpr auto kHelp = "Requests by the result of their authentication.";
    out->Add(kName, kHelp, kCounter, {{"result", "success"}}, Value(from.authentication->success));
    out->Add(kName, kHelp, kCounter, {{"result", "anonymous"}},
             Value(from.authentication->anonymous));
    out->Add(kName, kHelp, kCounter, {{"result", "failure"}}, Value(from.authentication->failure));
    for (size_t i = 0; i < kCountedUsers.size(); ++i) {
      const double count = Value(from.authentication->users[i]);
      if (count == 0) continue;
      out->Add("authenticated_user_requests", "Requests of users, by kind of name.", kCounter,
               {{"username", std::string(kCountedUsers[i])}}, count);
    }
    out->AddHistogram("apiserver_client_certificate_expiration_seconds",
                      "How long clients' certificates were good for when they were used.", {},
                      from.authentication->certificates);
  }
  if (from.authorization != nullptr) {
    constexpr auto kName = "authorization_attempts_total";
    constexpr auto kHelp = "Requests by the result of their authorization.";
    out->Add(kName, kHelp, kCounter, {{"result", "allowed"}}, Value(from.authorization->allowed));
    out->Add(kName, kHelp, kCounter, {{"result", "denied"}}, Value(from.authorization->denied));
    out->Add(kName, kHelp, kCounter, {{"result", "error"}}, Value(from.authorization->error));
  }
  if (from.token_reviews != nullptr) {
    AddReviews(
        *from.token_reviews,
        {"apiserver_delegated_authn_request_total",
         "apiserver_delegated_authn_request_duration_seconds", "TokenReview calls by answer."},
        out);
  }
  if (from.access_reviews != nullptr) {
    AddReviews(*from.access_reviews,
               {"apiserver_delegated_authz_request_total",
                "apiserver_delegated_authz_request_duration_seconds",
                "SubjectAccessReview calls by answer."},
               out);
  }
  if (from.metrics != nullptr) {
    constexpr auto kName = "flyball_response_cache_requests_total";
    constexpr auto kHelp = "Metric requests by whether a rendered answer could be given again.";
    out->Add(kName, kHelp, kCounter, {{"result", "hit"}},
             Value(from.metrics->counters().cache_hits));
    out->Add(kName, kHelp, kCounter, {{"result", "miss"}},
             Value(from.metrics->counters().cache_misses));
    out->Add("flyball_response_cache_bytes", "Bytes of rendered answers kept.", kGauge, {},
             static_cast<double>(from.metrics->cache_bytes()));
  }
  if (from.certificate_seconds_left) {
    out->Add("flyball_serving_certificate_expiration_seconds",
             "Seconds until the serving certificate ends.", kGauge, {},
             from.certificate_seconds_left());
  }
}

}  // namespace

size_t SelfMetrics::KindOf(const RoutedRequest& routed) {
  switch (routed.endpoint) {
    case Endpoint::kCustomMetric:
      return routed.version == "v1beta1" ? 1 : 2;
    case Endpoint::kExternalMetric:
      return 3;
    case Endpoint::kPodMetrics:
      return routed.name.empty() ? 4 : 5;
    case Endpoint::kNodeMetrics:
      return routed.name.empty() ? 6 : 7;
    default:
      return 0;
  }
}

void SelfMetrics::Count(const RoutedRequest& routed, int code, absl::Duration took,
                        size_t body_bytes) {
  RequestMetrics& kind = by_kind_[KindOf(routed)];
  size_t index = 0;
  while (index + 1 < kCodes.size() && kCodes[index] != code) ++index;
  kind.codes[index].fetch_add(1, std::memory_order_relaxed);
  kind.seconds.Observe(absl::ToDoubleSeconds(took));
  kind.bytes.Observe(static_cast<double>(body_bytes));
}

std::string SelfMetrics::Text() const {
  Families families;
  for (size_t s = 0; s < kKinds; ++s) {
    const Labels labels = LabelsOf(kKindLabels[s]);
    for (size_t c = 0; c < kCodes.size(); ++c) {
      const double count = Value(by_kind_[s].codes[c]);
      if (count == 0) continue;
      Labels with_code = {{"code", kCodes[c] == 0 ? "other" : std::to_string(kCodes[c])}};
      with_code.insert(with_code.end(), labels.begin(), labels.end());
      families.Add("apiserver_request_total", "Requests by what they asked and how they ended.",
                   MetricType::Counter, std::move(with_code), count);
    }
    families.AddHistogram("apiserver_request_duration_seconds",
                          "How long requests took, from the whole request to the answer made.",
                          labels, by_kind_[s].seconds);
    Labels size_labels = labels;  // as the library's: without dry_run
    size_labels.erase(size_labels.begin() + 1);
    families.AddHistogram("apiserver_response_sizes", "Bytes of the bodies of answers.",
                          std::move(size_labels), by_kind_[s].bytes);
  }
  families.Add("apiserver_current_inflight_requests", "Requests under way.", MetricType::Gauge,
               {{"request_kind", "readOnly"}}, static_cast<double>(in_flight.load()));
  families.Add("flyball_requests_refused_total",
               "Requests refused because too many were under way.", MetricType::Counter, {},
               Value(refused_in_flight));
  families.Add("flyball_requests_without_review_total",
               "Requests refused because too many waited for the API server to review them.",
               MetricType::Counter, {}, Value(refused_reviews));
  AddSources(sources, &families);
  return prometheus::TextSerializer().Serialize(families.all());
}

}  // namespace flyball::apiservice
