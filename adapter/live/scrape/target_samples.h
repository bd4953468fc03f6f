// Puts the samples of one target's pages into the store, with staleness markers and the series that
// report on the scrapes.
//
// Pure except for the store; one thread at a time. A page counts as a whole or not at all: its
// samples enter the store once all of it has been read. A series is recognised by the bytes that
// name it on the page, so that no labels of a page like the last one need to be parsed. Memory:
// those bytes and about 200 more for each series, and 64 for each sample while a page is read; all
// of it is taken from budgets that targets share. A page is refused if there is no room for it, or
// if the store refuses one of its series, since a part of its series would look like all of them.
// Source: Prometheus 3.15.0 scrape/scrape.go (append, report).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "adapter/live/formats/samples.h"
#include "adapter/live/scrape/sample_labels.h"
#include "adapter/live/scrape/sample_store.h"
#include "base/byte_budget.h"

namespace flyball::scrape {

// The outcome of one scrape.
struct ScrapeResult {
  absl::Status status;        // not OK: nothing of the page counts
  uint64_t scraped = 0;       // samples on the page
  uint64_t kept = 0;          // of these: kept by the rules
  uint64_t added = 0;         // number of new series
  uint64_t duplicates = 0;    // of kept: the series has another sample with this time
  uint64_t out_of_range = 0;  // of kept: too old, or of the future
  uint64_t no_room = 0;       // of kept: all, if the store has no room for a series
  absl::Duration duration;
  int64_t body_bytes = 0;  // -1: over the limit
};

// Budgets that targets share. Null: there is no limit.
struct TargetBudgets {
  std::shared_ptr<ByteBudget> series;   // their names and labels, which are remembered
  std::shared_ptr<ByteBudget> samples;  // of the pages that are being read
};

class TargetSamples {
 public:
  using ParsePage = absl::FunctionRef<absl::Status(formats::ScrapeSink&)>;

  // The store outlives this.
  TargetSamples(std::shared_ptr<const Job> job, promql::LabelSet target, SampleStore& store,
                TargetBudgets budgets = {});
  ~TargetSamples();

  // Takes the samples of a page. `stamp_ms` is for samples without a stamp of their own.
  ScrapeResult TakePage(ParsePage parse, int64_t stamp_ms, int64_t now_ms);
  // Handles a scrape without a page: all series of the last one get staleness markers.
  void TakeFailure(int64_t stamp_ms, int64_t now_ms);
  // Appends `up` and the other series about the scrape.
  void Report(const ScrapeResult& result, absl::Duration timeout, int64_t stamp_ms, int64_t now_ms);
  // Ends all series, since the target is gone.
  void End(int64_t stamp_ms, int64_t now_ms);

 private:
  // A series of the target.
  struct ScrapedSeries {
    std::unique_ptr<OpenSeries> open;  // null: not opened yet, or dropped by the rules
    uint64_t page = 0;                 // the last one that had it
    formats::MetricType type = formats::MetricType::kUnknown;
    bool dropped = false;
    bool needs_marker = false;  // once it is missing on a page
  };
  using SeriesByText = absl::node_hash_map<std::string, ScrapedSeries>;
  struct PendingSample {
    SeriesByText::value_type* series;
    int64_t time_ms;
    double value;
    bool own_time;
  };
  class Sink;

  // The series of the sample with the index `at` on the page, made if needed. An error concerns the
  // whole page; kUnavailable: there is no room for another name.
  absl::StatusOr<SeriesByText::value_type*> Find(size_t at, const formats::ScrapedSample& sample);
  // Records that the page has that series, if it is known.
  void StillHas(const formats::ScrapedSample& sample);
  // Whether the rules keep the series of the sample.
  bool IsKept(const formats::ScrapedSample& sample);
  void Forget(SeriesByText::iterator series);
  // Gives back memory that was needed for larger pages.
  void Trim();
  absl::Status Open(SeriesByText::value_type& series);
  // Opens all of the series that are new, or none.
  absl::Status OpenNew(const std::vector<SeriesByText::value_type*>& series, int64_t now_ms);
  // An error: the store has dropped the series and refuses it now.
  absl::Status Append(const PendingSample& sample, int64_t now_ms, ScrapeResult& result);
  // Puts a page into the store. An error: a series was refused.
  absl::Status Put(const Sink& page, int64_t now_ms, ScrapeResult& result);
  // Appends markers for the series that are not on the page, and forgets them.
  void Sweep(int64_t stamp_ms, int64_t now_ms);
  void Mark(ScrapedSeries& series, int64_t stamp_ms, int64_t now_ms);
  void ReportOne(size_t index, absl::string_view name, double value, int64_t stamp_ms,
                 int64_t now_ms);

  const std::shared_ptr<const Job> job_;
  SampleStore& store_;
  SampleLabels labels_;
  uint64_t page_ = 0;
  absl::Status refusal_;  // not OK: why the store has refused a series at that time
  int64_t refused_at_ms_ = 0;
  SeriesByText series_;
  std::vector<SeriesByText::value_type*> order_;  // of the last page's samples
  const TargetBudgets budgets_;
  ByteShare memory_;  // of the series
  std::vector<std::unique_ptr<OpenSeries>> reports_;
};

}  // namespace flyball::scrape
