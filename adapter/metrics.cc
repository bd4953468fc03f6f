#include "adapter/metrics.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "prometheus/counter.h"
#include "prometheus/gauge.h"
#include "prometheus/histogram.h"
#include "prometheus/registry.h"

namespace flyball::adapter {
namespace {

using ::prometheus::BuildCounter;
using ::prometheus::BuildGauge;
using ::prometheus::BuildHistogram;
using ::prometheus::Counter;
using ::prometheus::Family;
using ::prometheus::Gauge;
using ::prometheus::Histogram;
using ::prometheus::Labels;
using ::prometheus::Registry;

// The default buckets of the Go client library.
const Histogram::BucketBoundaries& Buckets() {
  static const auto& buckets =
      *new Histogram::BucketBoundaries{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
  return buckets;
}

template <typename Builder>
auto& Made(Builder builder, Registry& registry, const char* name, const char* help) {
  return builder.Name(name).Help(help).Register(registry);
}

}  // namespace

struct AdapterMetrics::Families {
  explicit Families(Registry& its_registry) : registry(its_registry) {}

  // The three gauges of one rule.
  struct RuleGauges {
    Gauge* series;
    Gauge* success;
    Gauge* failing;
    Counter* failures;
  };
  struct Reached {
    Gauge* gauge;
    ServerOutcome outcome;
  };

  // The histogram of a path and a server. The family makes a histogram in order to look one up, so
  // the few that exist are looked up here.
  struct Requests {
    std::string path, server;
    Histogram* durations;
  };
  Histogram& RequestsOf(absl::string_view path, absl::string_view server) {
    absl::MutexLock lock(&mutex);
    for (const Requests& one : requests_of) {
      if (one.path == path && one.server == server) return *one.durations;
    }
    Requests& one = requests_of.emplace_back();
    one = {std::string(path), std::string(server), nullptr};
    one.durations = &requests.Add({{"path", one.path}, {"server", one.server}}, Buckets());
    return *one.durations;
  }

  Registry& registry;
  Family<Histogram>& requests = Made(
      BuildHistogram(), registry, "prometheus_adapter_prometheus_client_request_duration_seconds",
      "Time that requests to Prometheus took");
  Family<Gauge>& reachable =
      Made(BuildGauge(), registry, "flyball_prometheus_reachable",
           "1 if the last request to this Prometheus was answered, 0 if it failed");
  Counter& server_changes =
      Made(BuildCounter(), registry, "flyball_prometheus_server_changes_total",
           "How often queries moved to another one of several Prometheus servers")
          .Add({});
  Family<Counter>& series_queries =
      Made(BuildCounter(), registry, "flyball_relist_series_queries_total",
           "Queries that look for the series of rules, by result");
  Counter& success = series_queries.Add({{"result", "success"}});
  Counter& failure = series_queries.Add({{"result", "failure"}});
  Histogram& series_query_duration =
      Made(BuildHistogram(), registry, "flyball_relist_series_query_duration_seconds",
           "Seconds that the queries took that look for the series of rules")
          .Add({}, Buckets());
  Family<Gauge>& rule_series = Made(
      BuildGauge(), registry, "flyball_rules_series",
      "Series, told apart by metric name and label names, that the rule accepted when its series "
      "query last succeeded");
  Family<Gauge>& rule_success =
      Made(BuildGauge(), registry, "flyball_rules_last_success_timestamp_seconds",
           "When the rule's series query last succeeded; 0 if it never has");
  Family<Gauge>& rule_failing = Made(BuildGauge(), registry, "flyball_rules_failing",
                                     "1 if the rule's last series query failed, else 0");
  Family<Counter>& rule_failures =
      Made(BuildCounter(), registry, "flyball_rule_query_failures_total",
           "Requests for metrics of this rule that failed because its query did");
  Family<Gauge>& metrics = Made(BuildGauge(), registry, "flyball_rules_metrics",
                                "Names of metrics that this API offers");
  Gauge& custom_metrics = metrics.Add({{"api", "custom"}});
  Gauge& external_metrics = metrics.Add({{"api", "external"}});
  Family<Counter>& queries =
      Made(BuildCounter(), registry, "flyball_query_requests_total",
           "Queries: sent to Prometheus, joined to an equal one under way, answered by a result "
           "just received (reused), or failed");
  const std::array<Counter*, 4> by_outcome = {
      &queries.Add({{"outcome", "sent"}}), &queries.Add({{"outcome", "joined"}}),
      &queries.Add({{"outcome", "reused"}}), &queries.Add({{"outcome", "failed"}})};
  Family<Counter>& answers = Made(BuildCounter(), registry, "flyball_query_answers_total",
                                  "Answers to queries by the source that gave them");
  Counter& from_live = answers.Add({{"source", "live"}});
  Counter& from_prometheus = answers.Add({{"source", "prometheus"}});
  Family<Counter>& objects =
      Made(BuildCounter(), registry, "flyball_query_objects_total",
           "Objects whose values were asked of Prometheus (sent) or taken from a result just "
           "received (reused), in queries that ask for several objects at once");
  Counter& objects_sent = objects.Add({{"outcome", "sent"}});
  Counter& objects_reused = objects.Add({{"outcome", "reused"}});
  Family<Counter>& dropped =
      Made(BuildCounter(), registry, "flyball_query_values_dropped_total",
           "Values left out of answers because they are not numbers (nan) or infinite");
  absl::Mutex mutex;
  std::map<std::pair<std::string, int>, RuleGauges> rules ABSL_GUARDED_BY(mutex);
  std::vector<Requests> requests_of ABSL_GUARDED_BY(mutex);
  std::vector<Reached> reached ABSL_GUARDED_BY(mutex);
};

AdapterMetrics::AdapterMetrics(Registry& registry)
    : families_(std::make_unique<Families>(registry)) {}
AdapterMetrics::~AdapterMetrics() = default;

void AdapterMetrics::OnRequest(absl::string_view path, absl::string_view server,
                               absl::Duration duration) {
  families_->RequestsOf(path, server).Observe(absl::ToDoubleSeconds(duration));
}

void AdapterMetrics::OnOutcome(absl::string_view server, const absl::Status& outcome) {
  absl::MutexLock lock(&families_->mutex);
  auto& reached = families_->reached;
  auto one = std::find_if(reached.begin(), reached.end(),
                          [&](const auto& known) { return known.outcome.server == server; });
  if (one == reached.end()) {
    const std::string name(server);
    one = reached.insert(one, {&families_->reachable.Add({{"server", name}}), {.server = name}});
  }
  one->outcome.reachable = outcome.ok();
  if (!outcome.ok()) one->outcome.last_error = std::string(outcome.message());
  one->gauge->Set(outcome.ok() ? 1 : 0);
}

std::vector<AdapterMetrics::ServerOutcome> AdapterMetrics::ServerOutcomes() const {
  absl::MutexLock lock(&families_->mutex);
  std::vector<ServerOutcome> outcomes;
  for (const auto& reached : families_->reached) outcomes.push_back(reached.outcome);
  return outcomes;
}

void AdapterMetrics::OnRuleQueryFailure(absl::string_view list, int rule) {
  absl::MutexLock lock(&families_->mutex);
  const auto found = families_->rules.find(std::pair(std::string(list), rule));
  if (found != families_->rules.end()) found->second.failures->Increment();
}

void AdapterMetrics::OnServerChange(absl::string_view /*server*/) {
  families_->server_changes.Increment();
}

void AdapterMetrics::OnSeriesQuery(bool success, absl::Duration duration) {
  (success ? families_->success : families_->failure).Increment();
  families_->series_query_duration.Observe(absl::ToDoubleSeconds(duration));
}

void AdapterMetrics::SetRules(absl::Span<const RuleStatus> rules) {
  absl::MutexLock lock(&families_->mutex);
  std::map<std::pair<std::string, int>, Families::RuleGauges> kept;
  for (const RuleStatus& rule : rules) {
    const Labels labels = {{"list", rule.list}, {"rule", absl::StrCat(rule.index)}};
    // Add finds the gauge that is already there.
    const Families::RuleGauges gauges = {
        &families_->rule_series.Add(labels), &families_->rule_success.Add(labels),
        &families_->rule_failing.Add(labels), &families_->rule_failures.Add(labels)};
    gauges.series->Set(static_cast<double>(rule.series));
    gauges.success->Set(
        rule.last_success ? absl::ToDoubleSeconds(*rule.last_success - absl::UnixEpoch()) : 0);
    gauges.failing->Set(rule.failures > 0 ? 1 : 0);
    kept.emplace(std::pair(rule.list, rule.index), gauges);
  }
  for (const auto& [rule, gauges] : families_->rules) {
    if (kept.contains(rule)) continue;
    families_->rule_series.Remove(gauges.series);
    families_->rule_success.Remove(gauges.success);
    families_->rule_failing.Remove(gauges.failing);
    families_->rule_failures.Remove(gauges.failures);
  }
  families_->rules = std::move(kept);
}

void AdapterMetrics::SetMetricCounts(size_t custom, size_t external) {
  families_->custom_metrics.Set(static_cast<double>(custom));
  families_->external_metrics.Set(static_cast<double>(external));
}

void AdapterMetrics::OnQuery(QueryOutcome outcome) {
  families_->by_outcome[static_cast<size_t>(outcome)]->Increment();
}

void AdapterMetrics::OnAnswer(rules::SourceChoice source) {
  if (source == rules::SourceChoice::kAny) return;
  const bool live = source == rules::SourceChoice::kLive;
  (live ? families_->from_live : families_->from_prometheus).Increment();
}

void AdapterMetrics::OnObjects(size_t sent, size_t reused) {
  families_->objects_sent.Increment(static_cast<double>(sent));
  families_->objects_reused.Increment(static_cast<double>(reused));
}

void AdapterMetrics::OnValueDropped(absl::string_view api, absl::string_view reason) {
  families_->dropped.Add({{"api", std::string(api)}, {"reason", std::string(reason)}}).Increment();
}

}  // namespace flyball::adapter
