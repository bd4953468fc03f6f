// Publishes decisions as external metrics that a stock HorizontalPodAutoscaler follows, for
// clusters whose controller cannot be replaced.
//
// Each autoscaler in mode advise has two metrics in its own namespace:
//   flyball_desired_replicas{namespace,autoscaler,kind}   has one item for each autoscaler; kind is
//                                                         the target's
//   flyball-desired-<autoscaler>                          has the item of that autoscaler alone
// An HPA with an External metric of either and `averageValue: 1` asks for ceil(desired / 1)
// replicas. Its own tolerance still holds: a change of 10 % or less is not followed unless
// behavior.tolerance says so.
//
// While the readings of an autoscaler are unknown, its last count is published for two more of its
// periods (at least one --horizontal-pod-autoscaler-sync-period). Then the metric is an error, and
// an HPA holds on errors. The same happens when the autoscaler is not decided any more. For a
// removal that has to wait (steps/act_step.h) the target's present count is published, and on a
// scale that may be old nothing less than before. The names are reserved: rules that make metrics
// of these names are not asked. Metrics of the second name are answered but not listed, since there
// may be ten thousand of them.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "adapter/provider.h"
#include "base/clock.h"
#include "scaler/views/decision_record.h"

namespace flyball::scaler {

inline constexpr char kAdvisedMetric[] = "flyball_desired_replicas";
inline constexpr char kAdvisedPrefix[] = "flyball-desired-";

class Advise : public DecisionObserver {
 public:
  // `sync_period` is the period of autoscalers without a cadence of their own.
  Advise(absl::Duration sync_period, Clock& clock) : sync_period_(sync_period), clock_(clock) {}

  void OnDecision(const DecisionRecord& record) override;
  void OnForgotten(const AutoscalerKey& key) override;

  static bool IsOurs(absl::string_view metric);

  // The answer to a metric that IsOurs.
  //   kNotFound     no autoscaler of the namespace publishes it
  //   kUnavailable  unknown for too long: since when, and why
  absl::StatusOr<adapter::ExternalMetricList> Get(
      const adapter::ExternalMetricRequest& request) const;

  // Returns `providers` with an external provider that answers our names too; unchanged as long as
  // nothing was ever advised. While the given external provider is the same object, so is the
  // returned one.
  adapter::Providers Wrap(adapter::Providers providers);

  // How many autoscalers publish a count.
  size_t size() const;

 private:
  struct Advised {
    std::string target_kind;
    int32_t replicas = 0;
    std::optional<absl::Time> time;  // of the decision that gave `replicas`; absent: none yet
    MonotonicTime good_until = absl::ZeroDuration();
    std::string error;  // of the last decision, if its readings were unknown
  };
  // By namespace and name, so that a namespace is one range. If an HPA and an Autoscaler have the
  // same name, the Autoscaler's count is published.
  using Key = std::pair<std::string, std::string>;
  using ByKind = std::map<AutoscalerKind, Advised>;

  const absl::Duration sync_period_;
  Clock& clock_;
  std::atomic<bool> ever_ = false;
  mutable absl::Mutex mutex_;
  std::map<Key, ByKind> advised_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<adapter::ExternalMetricsProvider> wrapped_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<adapter::ExternalMetricsProvider> wrapper_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::scaler
