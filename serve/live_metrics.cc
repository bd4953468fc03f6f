#include "serve/live_metrics.h"

#include <map>
#include <string>
#include <utility>

#include "serve/front/metric_family.h"

namespace flyball::serve {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

std::vector<MetricValue> HealthOf(const std::vector<scrape::TargetState>& targets) {
  std::map<std::pair<std::string, std::string>, int> counts;  // by job and health
  for (const scrape::TargetState& state : targets) {
    const char* health = state.last_scrape == absl::InfinitePast() ? "unknown"
                         : state.last.status.ok()                  ? "up"
                                                                   : "down";
    ++counts[{state.job, health}];
  }
  std::vector<MetricValue> values;
  for (const auto& [key, count] : counts) {
    values.push_back({{{"job", key.first}, {"health", key.second}}, double(count)});
  }
  return values;
}

}  // namespace

std::vector<MetricFamily> LiveFamilies(const live::StoreCounts& store,
                                       const live::Ingest::Totals& pushed,
                                       const scrape::Scheduler::Totals& scraped,
                                       const std::vector<scrape::TargetState>& targets,
                                       bool scrape_config_in_force) {
  const auto value = [](uint64_t count, const char* label = nullptr, const char* text = "") {
    return MetricValue{label == nullptr ? std::vector<ClientMetric::Label>()
                                        : std::vector<ClientMetric::Label>{{label, text}},
                       static_cast<double>(count)};
  };
  return {
      Family(MetricType::Gauge, "flyball_live_series", "Series that the live store keeps",
             {value(store.series)}),
      Family(MetricType::Gauge, "flyball_live_bytes",
             "About how many bytes of memory the series and samples of the live store take",
             {value(store.bytes)}),
      Family(MetricType::Counter, "flyball_live_series_made_total",
             "Series that the live store has begun to keep", {value(store.made)}),
      Family(MetricType::Counter, "flyball_live_series_refused_total",
             "New series that the live store refused",
             {value(store.refused_max_series, "reason", "max_series"),
              value(store.refused_max_bytes, "reason", "max_bytes"),
              value(store.refused_labels, "reason", "labels")}),
      Family(MetricType::Counter, "flyball_live_sample_chunks_forgotten_total",
             "Chunks of up to 128 old samples that the live store forgot before their time because "
             "its series took too much memory",
             {value(store.forgotten_chunks)}),
      Family(MetricType::Counter, "flyball_live_series_not_kept_total",
             "How often a series was left out of the live store because no rule reads it",
             {value(store.not_kept)}),
      Family(MetricType::Counter, "flyball_live_push_requests_total",
             "Requests that brought samples", {value(pushed.requests)}),
      Family(MetricType::Counter, "flyball_live_push_samples_total",
             "Samples that were pushed, by outcome",
             {value(pushed.taken, "outcome", "taken"), value(pushed.refused, "outcome", "refused"),
              value(pushed.no_room, "outcome", "no_room")}),
      Family(MetricType::Counter, "flyball_live_scrapes_total", "Scrapes of targets, by result",
             {value(scraped.scrapes - scraped.failed, "result", "success"),
              value(scraped.failed, "result", "failure")}),
      Family(MetricType::Counter, "flyball_live_scraped_samples_total",
             "Samples of scrapes that did not fail", {value(scraped.samples)}),
      Family(MetricType::Counter, "flyball_live_scraped_samples_without_room_total",
             "Samples of scrapes that were refused because there was no room for their new series",
             {value(scraped.no_room)}),
      Family(MetricType::Gauge, "flyball_live_scrape_config_reload_success",
             "1 if the scrape configuration as it is now is in force, 0 if it was refused",
             {value(scrape_config_in_force ? 1 : 0)}),
      Family(MetricType::Gauge, "flyball_live_targets",
             "Targets that are scraped, by their last scrape", HealthOf(targets)),
  };
}

}  // namespace flyball::serve
