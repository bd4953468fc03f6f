#include "backtest/history.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backtest/queries.h"
#include "base/go/text.h"
#include "base/status_macros.h"
#include "base/worker_pool.h"

namespace flyball::backtest {
namespace {

// Few at once, since others need the server too.
constexpr int kAtOnce = 4;
constexpr absl::Duration kTimeout = absl::Seconds(30);

class Reader {
 public:
  Reader(adapter::MetricSource& source, adapter::ValueGuard& values, const Period& period)
      : source_(source), values_(values), period_(period), pool_(kAtOnce) {}

  // The totals at all moments. The first query is for the period's end: its error shows whether the
  // source accepts the query and answers at all.
  absl::StatusOr<std::vector<std::optional<double>>> Totals(const std::string& promql,
                                                            size_t moments) {
    RETURN_IF_ERROR(source_.Query(promql, period_.end, kTimeout).status());
    std::vector<std::optional<double>> totals(moments);
    std::atomic<size_t> failed = 0;
    pool_.ParallelFor(moments, kAtOnce, [&](size_t i) {
      const absl::Time at = period_.begin + static_cast<int64_t>(i) * period_.step;
      const auto answer = source_.Query(promql, at, kTimeout);
      if (answer.ok()) {
        totals[i] = TotalOf(**answer);
      } else {
        ++failed;
      }
    });
    failed_ += failed;
    return totals;
  }

  // Sets the real replica hours, and the replicas at the beginning.
  void AskForReplicas(const scaler::Autoscaler& autoscaler, BacktestReport& report,
                      int32_t& first) {
    const std::string series = absl::StrCat(
        "max(kube_horizontalpodautoscaler_status_current_replicas{namespace=",
        go::Quote(autoscaler.ns), ",horizontalpodautoscaler=", go::Quote(autoscaler.name), "})");
    const int64_t seconds = absl::ToInt64Seconds(period_.end - period_.begin);
    const auto mean = source_.Query(absl::StrCat("avg_over_time(", series, "[", seconds, "s:1m])"),
                                    period_.end, kTimeout);
    if (mean.ok()) {
      if (const auto replicas = TotalOf(**mean)) {
        report.replica_hours_then = *replicas * absl::ToDoubleHours(period_.end - period_.begin);
      }
    }
    const auto begin = source_.Query(series, period_.begin, kTimeout);
    const std::optional<double> replicas = begin.ok() ? TotalOf(**begin) : std::nullopt;
    const bool is_a_count =
        replicas.has_value() && *replicas >= 1 && *replicas <= std::numeric_limits<int32_t>::max();
    if (is_a_count) first = static_cast<int32_t>(*replicas);
  }

  size_t failed() const { return failed_; }

 private:
  // The sum that the server would return for an answer's samples; nullopt: none.
  std::optional<double> TotalOf(const adapter::QueryResult& result) {
    std::optional<double> total;
    for (const adapter::Sample& sample : result.samples) {
      const std::optional<int64_t> milli = values_.ToMilli(sample.value, "backtest", "");
      if (milli.has_value()) total = total.value_or(0) + static_cast<double>(*milli) / 1000;
    }
    return total;
  }

  adapter::MetricSource& source_;
  adapter::ValueGuard& values_;
  const Period& period_;
  WorkerPool pool_;
  size_t failed_ = 0;
};

}  // namespace

absl::Status CheckPeriod(const Period& period) {
  if (period.step < absl::Milliseconds(200)) {
    return absl::InvalidArgumentError("the step must be at least 200ms");
  }
  if (period.end <= period.begin)
    return absl::InvalidArgumentError("the end must be after the beginning");
  const int64_t moments = (period.end - period.begin) / period.step;
  if (moments == 0) return absl::InvalidArgumentError("the step must not be longer than the time");
  if (moments > kMaxMoments) {
    return absl::InvalidArgumentError(absl::StrCat("that is ", moments, " decisions, more than ",
                                                   kMaxMoments, ": choose a longer step"));
  }
  return absl::OkStatus();
}

absl::StatusOr<BacktestReport> BacktestOf(const SimulationInput& input,
                                          const std::vector<absl::StatusOr<std::string>>& queries,
                                          const Period& period, adapter::MetricSource& source,
                                          adapter::ValueGuard& values) {
  const scaler::Autoscaler& autoscaler = input.autoscaler;
  BacktestReport report;
  report.title = absl::StrCat(autoscaler.ns, "/", autoscaler.name);
  report.begin = period.begin;
  report.end = period.end;
  report.step = period.step;
  History history = {.begin = period.begin, .step = period.step, .moments = 0, .totals = {}};
  history.moments = static_cast<size_t>((period.end - period.begin) / period.step);
  Reader reader(source, values, period);
  std::vector<std::string> gaps;
  for (size_t i = 0; i < queries.size(); ++i) {
    if (!queries[i].ok()) {
      gaps.emplace_back(queries[i].status().message());
      history.totals.emplace_back(history.moments);
      continue;
    }
    ASSIGN_OR_RETURN(auto totals, reader.Totals(*queries[i], history.moments));
    history.totals.push_back(std::move(totals));
    report.metrics.push_back(absl::StrCat(MetricTitle(autoscaler.metrics[i]), ": ", *queries[i]));
  }
  if (report.metrics.empty()) return absl::NotFoundError(absl::StrJoin(gaps, "; "));
  for (const std::string& gap : gaps) {
    report.notes.push_back(absl::StrCat("unknown for the whole time: ", gap));
  }
  SimulationInput begun = input;
  begun.first =
      std::max(autoscaler.status.current_replicas,
               scaler::SpecAt(input.schedules, autoscaler, period.begin).min_replicas.value_or(1));
  reader.AskForReplicas(autoscaler, report, begun.first);
  report.simulated = Simulate(begun, history);
  if (reader.failed() > 0) {
    report.notes.push_back(
        absl::StrCat("queries that failed, so that the metric is unknown then: ", reader.failed()));
  }
  report.notes.push_back(
      "the load is taken as it was, shared by the pods that there would have been, which are ready "
      "at once");
  return report;
}

}  // namespace flyball::backtest
