// What is known of a target's requests: in flight and begun, each over a stable and a panic window.
//
// Pure: no clock. Not thread-safe. Whoever counts requests twice says so: what came through the
// activator is in the pods' reports too, marked as proxied, and is subtracted from them.
//
// Source: Knative Serving v0.51.0 pkg/autoscaler/metrics/collector.go.
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scaler/math/requests/request_options.h"
#include "scaler/math/requests/window.h"
#include "scaler/spec/request_settings.h"

namespace flyball::scaler {

// One report, of one second.
struct TrafficSample {
  double concurrency = 0;  // mean of the requests in flight
  double proxied_concurrency = 0;
  double requests = 0;  // begun
  double proxied_requests = 0;
};

struct TrafficAverages {
  bool empty = false;  // nothing was reported for longer than the stable window
  double stable = 0;
  double panic = 0;
};

class TrafficWindows {
 public:
  // Whether averages are weighted stays as it is in these settings.
  TrafficWindows(const RequestSettings& settings, const RequestOptions& options);

  // The windows as they are in other settings.
  void Configure(const RequestSettings& settings, absl::Time now);

  // `source` names who reported; it matters to options only.
  void Record(absl::Time now, const TrafficSample& sample, absl::string_view source = "");

  // The report that there is a first request, made when it came and not at a second's end.
  void RecordOpening(absl::Time now, const TrafficSample& sample);

  // Of the settings' metric.
  TrafficAverages Averages(const RequestSettings& settings, absl::Time now) const;

 private:
  // What one source reported in the second that it reported last.
  struct SourceReports {
    int64_t second = 0;
    double count = 0;
    double concurrency = 0;
    double requests = 0;
  };

  void Add(int64_t second, double concurrency, double requests);
  void AddMeanOfRepeats(int64_t second, double concurrency, double requests,
                        absl::string_view source);

  RequestOptions options_;
  RequestWindow stable_concurrency_;
  RequestWindow panic_concurrency_;
  RequestWindow stable_requests_;
  RequestWindow panic_requests_;
  bool opened_ = false;  // by a notice that no other report followed yet
  absl::flat_hash_map<std::string, SourceReports> sources_;
};

}  // namespace flyball::scaler
