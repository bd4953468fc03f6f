// The live source's metrics about itself, for Prometheus. Pure.
//
//   flyball_live_series, flyball_live_bytes        what the store keeps; bytes about
//   flyball_live_series_made_total
//   flyball_live_series_refused_total{reason}      max_series, max_bytes, labels
//   flyball_live_sample_chunks_forgotten_total     chunks of old samples, for lack of room
//   flyball_live_series_not_kept_total             times that a series was left out as unused
//   flyball_live_push_requests_total
//   flyball_live_push_samples_total{outcome}       taken, refused, no_room
//   flyball_live_scrapes_total{result}             success, failure
//   flyball_live_scraped_samples_total
//   flyball_live_scraped_samples_without_room_total
//   flyball_live_scrape_config_reload_success      1: the file is in force as it is now
//   flyball_live_targets{job,health}               targets by their last scrape: up, down, unknown
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "adapter/live/receive/ingest.h"
#include "adapter/live/scrape/scheduler.h"
#include "adapter/live/store/store_options.h"

namespace flyball::serve {

std::vector<prometheus::MetricFamily> LiveFamilies(const live::StoreCounts& store,
                                                   const live::Ingest::Totals& pushed,
                                                   const scrape::Scheduler::Totals& scraped,
                                                   const std::vector<scrape::TargetState>& targets,
                                                   bool scrape_config_in_force);

}  // namespace flyball::serve
