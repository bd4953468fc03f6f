// The adapter's metrics about itself, for Prometheus.
//
// Thread-safe. Registered in the registry that is passed in, which outlives this object:
//   prometheus_adapter_prometheus_client_request_duration_seconds{path,server}  histogram, name and
//       buckets of prometheus-adapter 0.12.0; the server without user, password and query string
//   flyball_prometheus_reachable{server}               1 if the last request was answered, else 0
//   flyball_prometheus_server_changes_total            another of several servers is asked now
//   flyball_relist_series_queries_total{result}        series queries: success, failure
//   flyball_relist_series_query_duration_seconds       histogram
//   flyball_rules_series{list,rule}                    distinct series of the last success
//   flyball_rules_last_success_timestamp_seconds{list,rule}  of the series query; 0: never
//   flyball_rules_failing{list,rule}                   1 after a failed series query, else 0
//   flyball_rule_query_failures_total{list,rule}       failed queries of the rule's metrics
//   flyball_rules_metrics{api}                         names that custom and external know
//   flyball_query_requests_total{outcome}              sent, joined (an equal one under way),
//                                                      reused (a fresh result), failed
//   flyball_query_answers_total{source}                by the source: live, prometheus
//   flyball_query_objects_total{outcome}               objects asked of merged queries: sent,
//                                                      reused
//   flyball_query_values_dropped_total{api,reason}     items left out of answers: nan, infinite
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "adapter/queries/query_observer.h"
#include "adapter/queries/request_observer.h"
#include "adapter/relist_status.h"
#include "rules/source_choice.h"

namespace prometheus {
class Registry;
}

namespace flyball::adapter {

class AdapterMetrics : public RequestObserver, public QueryObserver {
 public:
  explicit AdapterMetrics(::prometheus::Registry& registry);
  ~AdapterMetrics() override;

  void OnRequest(absl::string_view path, absl::string_view server,
                 absl::Duration duration) override;
  void OnOutcome(absl::string_view server, const absl::Status& outcome) override;
  void OnServerChange(absl::string_view server) override;

  // The last outcome of each server that was asked, in the order of the first request to each.
  struct ServerOutcome {
    std::string server;
    bool reachable = false;
    std::string last_error = {};  // "" if there was none
  };
  std::vector<ServerOutcome> ServerOutcomes() const;

  void OnSeriesQuery(bool success, absl::Duration duration);
  // Replaces what is shown of the rules.
  void SetRules(absl::Span<const RuleStatus> rules);
  void OnRuleQueryFailure(absl::string_view list, int rule);
  void SetMetricCounts(size_t custom, size_t external);

  void OnQuery(QueryOutcome outcome) override;
  void OnAnswer(rules::SourceChoice source) override;
  void OnObjects(size_t sent, size_t reused) override;
  // `reason` is "nan" or "infinite".
  void OnValueDropped(absl::string_view api, absl::string_view reason);

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace flyball::adapter
