// Live: a metric source whose samples are in this process's memory.
//
// Thread-safe, without a lock around queries: the store has its own, and is fed (by a test file's
// series, scraping or remote write) while queries run. If it reports samples it has one thread,
// from Start to Stop, which calls the followers of its answers.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "adapter/live/kept_since.h"
#include "adapter/live/prepared_query.h"
#include "adapter/live/reach.h"
#include "adapter/live/sample_news.h"
#include "adapter/live/store/store.h"
#include "adapter/queries/metric_source.h"
#include "base/clock.h"
#include "base/snapshot.h"
#include "promql/engine/engine.h"
#include "promql/engine/series.h"

namespace flyball::adapter {

struct LiveOptions {
  promql::EvalOptions eval = {};  // how queries are read and evaluated
  LiveWindow window = {};
  // Followers of answers are called this long after the first sample that their answer lacks.
  absl::Duration debounce = absl::Milliseconds(20);
  // A query is refused while one of its selectors matches no series that still gets samples, since
  // another source may have series that never arrive here, or no longer do.
  bool refuses_unseen = false;
};

class Live : public MetricSource {
 public:
  // Reads from any series. It does not report samples and has no thread.
  explicit Live(const promql::SeriesReader& series, LiveOptions options = {});
  // Reads from a store, whose samples it reports. Store and clock outlive this object and the
  // SamplesRead of its answers.
  Live(live::Store& store, Clock& clock, LiveOptions options = {});
  ~Live() override { Stop(); }

  // Sets since when the store has all samples, replacing LiveWindow::kept.
  void SetKept(KeptSince kept) { kept_.Set(std::make_shared<const KeptSince>(std::move(kept))); }

  // Begins to call the followers of answers. Throws std::system_error if no thread can be made.
  void Start();
  void Stop();

  // `timeout` is not needed: a query works on memory alone and is bounded.
  //   kInvalidArgument  for whatever Prometheus would refuse or fail on, with its text, and for a
  //                     query over the limit
  //   kUnavailable      the query reads further back than the live source has samples, or samples
  //                     that it had no room to keep, or it is refused by
  //                     LiveOptions::refuses_unseen
  absl::StatusOr<std::shared_ptr<const QueryResult>> Query(absl::string_view promql, absl::Time at,
                                                           absl::Duration timeout) override;
  absl::StatusOr<StandingResult> Ask(StandingQuery& query, absl::Time at,
                                     absl::Duration timeout) override;

  // Series with a sample at or after `start`, sorted by name and label names.
  absl::StatusOr<std::vector<SeriesName>> Series(absl::string_view selector, absl::Time start,
                                                 absl::Duration timeout) override;

  bool TellsOfSamples() const override { return news_ != nullptr; }

  // Calls the followers that are due; for tests, where Start was not called.
  void CallFollowers() { news_->CallDue(); }

 private:
  struct Evaluated {
    promql::Value value;
    absl::Time at;
    SamplesRead read;
  };
  absl::StatusOr<Evaluated> Evaluate(PreparedQuery& query, absl::Time at) const;
  absl::Status CheckForgotten(const promql::Expr& expr, int64_t time_ms) const;

  const promql::SeriesReader& series_;
  const live::Store* const store_;  // nullptr: no samples are ever forgotten
  const LiveOptions options_;
  Snapshot<KeptSince> kept_;
  const std::shared_ptr<SampleNews> news_;  // nullptr: samples are not reported
  PreparedQueries queries_;
};

}  // namespace flyball::adapter
