// Samples in memory by series, over which the live source evaluates PromQL.
//
// Thread-safe. Appending with a handle takes only the lock of its series. Adding or dropping
// series, and changing what is kept, takes the lock of the index for a moment. A query takes that
// lock shared until it knows its series, and then the lock of one series after the other. There is
// no clock and no thread: the time is an argument, and the owner calls Prune every few seconds.
//
// Times are int64 milliseconds since the epoch. Source of the rules for samples: Prometheus 2.42.0
// tsdb. NaNs other than the staleness marker become 0x7ff8000000000001, as there.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "adapter/live/store/namespace_shares.h"
#include "adapter/live/store/selector_table.h"
#include "adapter/live/store/series_index.h"
#include "adapter/live/store/store_options.h"
#include "adapter/live/store/watch.h"
#include "promql/engine/series.h"

namespace flyball::live {

// A handle for the samples of one series; cheap to copy and to keep. Valid for the store that
// returned it.
class SeriesHandle {
 public:
  // False: nothing uses the series, so its samples are dropped.
  bool kept() const { return series_ != nullptr; }
  const promql::Labels& labels() const { return series_->labels(); }  // only if it is kept
  // Whether the series was kept and has been dropped since.
  bool dropped() const { return kept() && series_->dropped(); }

 private:
  friend class Store;
  std::shared_ptr<StoredSeries> series_;
  uint64_t keep_version_ = 0;  // if not kept: the version of the selectors that decided it
};

class Store final : public promql::SeriesReader {
 public:
  explicit Store(StoreOptions options = {}) : options_(options) {}

  // The handle of the series with these labels, which is made if it does not exist. Labels are
  // sorted, with each name once and no empty values (LabelsBuilder).
  //   kInvalidArgument    no label at all, too many of them, or one that is too long
  //   kResourceExhausted  a new series, and there are too many or they take too much
  absl::StatusOr<SeriesHandle> Open(const promql::Labels& labels, Sender sender = Sender::kTrusted);

  //   kAlreadyExists  the series has another value at that time (the same value is fine)
  //   kOutOfRange     older than the newest sample by more than the window, older than now by more
  //                   than the retention, or too far ahead of now; the last two also if the series
  //                   is not kept
  //   kNotFound       the series has been dropped, or it may be kept now: open it again
  absl::Status Append(const SeriesHandle& handle, Point sample, int64_t now_ms) {
    return Append(handle, sample, now_ms, options_.out_of_order_ms);
  }
  // Does the same with a window of the caller's own.
  absl::Status Append(const SeriesHandle& handle, Point sample, int64_t now_ms, int64_t window_ms);

  // Open and Append in one. Errors are those of both, without kNotFound.
  absl::Status Append(const promql::Labels& labels, Point sample, int64_t now_ms);
  // Does the same for labels in any order; those without a value are ignored. Also kInvalidArgument
  // for a label that occurs twice.
  absl::Status Append(const promql::LabelSet& labels, Point sample, int64_t now_ms);

  absl::StatusOr<promql::SeriesList> SelectUnless(
      const promql::Interrupted& interrupted,
      const std::vector<promql::Matcher>& matchers) const override;
  promql::SeriesList SelectInAnyOrder(const std::vector<promql::Matcher>& matchers) const override;

  // The time of the newest sample that was forgotten since there was no room for it, of all series
  // that the selector matches; the least number: none was.
  int64_t ForgottenUntilMs(const Selector& selector) const;
  // Whether samples at or after `since_ms` of a series that the selector matches were forgotten
  // since there was no room for them. This costs next to nothing unless any such samples were.
  bool HasForgotten(const Selector& selector, int64_t since_ms) const;

  // Drops the series that have had no sample for the retention.
  void Prune(int64_t now_ms);

  // Drops the series that have a sample later than `time_ms`, as all do after the clock was set
  // back: they would accept no sample until that time is reached again.
  void DropLaterThan(int64_t time_ms);

  // Ends the series of the past that no sender has gone on with, once they have missed two samples:
  // of a target that was gone before this process began to scrape it there is no other marker.
  // Returns whether there are others that may still go on.
  bool EndPast(int64_t now_ms);

  // From now on keeps only series that match one of the selectors; others are dropped. nullopt, as
  // at the start: all are kept.
  void Keep(std::optional<std::vector<Selector>> selectors);

  // Between the two calls, samples of the series that the watch selects mark it, including series
  // that are created meanwhile.
  void StartWatch(const std::shared_ptr<Watch>& watch);
  void StopWatch(const std::shared_ptr<Watch>& watch);

  // Gives these samples to a series that has none; if nothing uses the series they are dropped.
  // Errors are those of Open, and kAlreadyExists if it has samples.
  absl::Status Restore(const promql::Labels& labels, SeriesSamples samples);

  // Puts past samples, in rising time, before those of the series, which is made if it does not
  // exist. Samples that are not older than those of the series are dropped, and all of them are if
  // nothing uses the series. Errors are those of Open.
  absl::Status AddPast(const promql::LabelSet& labels, std::vector<Point> past);

  // All series, unsorted.
  std::vector<std::shared_ptr<const StoredSeries>> All() const;

  // Counts a series that was refused because of its labels without a call of Open.
  void CountRefusedLabels() { Count(kLabels); }
  StoreCounts counts() const;
  const StoreOptions& options() const { return options_; }

 private:
  enum Refusal { kMaxSeries, kMaxBytes, kLabels, kNotKept, kRefusals };

  absl::Status CheckLabels(const promql::Labels& labels);
  // Whether this sender takes over a series that has only past samples.
  static bool IsToClaim(const StoredSeries& series, Sender sender);
  void SetSender(StoredSeries& series, Sender sender) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckRoom(const promql::Labels& labels, Sender sender)
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  // Whether the bytes that are left, or the few that its namespace takes, allow another series.
  bool HasBytes(absl::string_view ns, Sender sender) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  // Adds to the bytes of the series' samples; `grown_by` wraps if they take less.
  void CountBytes(size_t grown_by, Sender sender);
  void CountForgotten(const SeriesSamples::Forgotten& forgotten);
  // The most bytes that the samples of a series may take when it gets another one.
  size_t MaxBytesOfSeries() const ABSL_LOCKS_EXCLUDED(mutex_);
  void Count(Refusal refusal) { refusals_[refusal].fetch_add(1, std::memory_order_relaxed); }
  // Unsorted. The index is locked until the candidates are found, not while they are tested.
  absl::StatusOr<std::vector<SeriesPtr>> FindUnless(const promql::Interrupted& interrupted,
                                                    const Selector& selector) const;
  std::vector<SeriesPtr> Find(const Selector& selector) const {
    return *FindUnless(promql::Interrupted(), selector);
  }
  // Removes those of the series that `drop` drops; it returns the number of their bytes, or
  // nullopt.
  void Remove(const std::vector<SeriesPtr>& series,
              const std::function<std::optional<size_t>(StoredSeries&)>& drop);

  const StoreOptions options_;
  std::array<std::atomic<uint64_t>, kRefusals> refusals_{};
  std::atomic<size_t> bytes_ = 0;
  std::atomic<size_t> anybody_bytes_ = 0;  // the part of series of Sender::kAnybody
  std::atomic<uint64_t> made_ = 0;
  std::atomic<uint64_t> new_names_ = 0;
  std::atomic<uint64_t> forgotten_ = 0;  // chunks of samples, for lack of room
  // The time of the newest sample among these.
  std::atomic<int64_t> forgotten_until_ms_ = std::numeric_limits<int64_t>::min();
  std::atomic<uint64_t> keep_version_ = 0;

  mutable absl::Mutex mutex_;
  SeriesIndex index_ ABSL_GUARDED_BY(mutex_);
  size_t fixed_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of all series, without samples
  NamespaceShares shares_ ABSL_GUARDED_BY(mutex_);
  // The bool values have no meaning. nullptr: all series are kept.
  std::shared_ptr<const SelectorTable<bool>> kept_ ABSL_GUARDED_BY(mutex_);
  SelectorTable<std::shared_ptr<Watch>> watched_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::live
