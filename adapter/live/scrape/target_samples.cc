#include "adapter/live/scrape/target_samples.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "promql/engine/series.h"

namespace flyball::scrape {
namespace {

// After this time a store that has refused a series is asked for new ones again. For a moment it
// also counts those of the refused page that it had not refused.
constexpr int64_t kRefusedMs = 30'000;

// About how many bytes a series takes beside its text, and a sample until its page is read.
constexpr size_t kSeriesBytes = 200;
constexpr size_t kSampleBytes = 64;
// The bytes of a series include this many places in tables of pointers.
constexpr size_t kPlacesPerSeries = 4;

// The bytes of each target that are not counted, which is as much as most pages take. For the names
// of pods' series all count, since a namespace may have thousands of pods, and leaves room for
// others.
constexpr size_t kFreeBytes = 64 << 10;

}  // namespace

// Gathers the samples of a page.
class TargetSamples::Sink : public formats::ScrapeSink {
 public:
  Sink(TargetSamples& target, int64_t stamp_ms)
      : target_(target), stamp_ms_(stamp_ms), memory_(target.budgets_.samples, kFreeBytes) {
    pending_.reserve(target.order_.size());
  }

  void OnSample(const formats::ScrapedSample& sample) override {
    ++result.scraped;
    if (over_limit_) result.kept += target_.IsKept(sample);
    if (names_do_not_fit_) target_.StillHas(sample);
    if (over_limit_ || !result.status.ok()) return;
    if (!memory_.Grow(kSampleBytes)) {
      result.status = absl::ResourceExhaustedError("no memory for the samples of the page");
      return;
    }
    const size_t at = result.scraped - 1;
    auto known = target_.Find(at, sample);
    if (!known.ok()) {
      result.status = known.status();
      names_do_not_fit_ = absl::IsUnavailable(known.status());
      return;
    }
    SeriesByText::value_type* const found = *known;
    if (at == target_.order_.size()) target_.order_.push_back(found);
    target_.order_[at] = found;
    ScrapedSeries& series = found->second;
    const bool own_time = target_.job_->honor_timestamps && sample.time_ms.has_value();
    const bool again = series.page == target_.page_;
    if (!again) ++seen_;
    series.page = target_.page_;
    if (series.dropped || !Keep()) return;
    if (again && !own_time) {
      ++result.duplicates;
      return;
    }
    if (!again && series.open == nullptr) fresh_.push_back(found);
    pending_.push_back({found, own_time ? *sample.time_ms : stamp_ms_, sample.value, own_time});
  }
  void OnMetadata(const formats::FamilyMetadata& family) override {
    const bool asked_for = target_.job_->asked_for_by_pods;
    target_.store_.Note(family,
                        asked_for ? promql::LabelValue(target_.labels_.target(), "namespace") : "");
  }

  const std::vector<PendingSample>& pending() const { return pending_; }
  // Of these the series that are not open yet.
  const std::vector<SeriesByText::value_type*>& fresh() const { return fresh_; }
  size_t seen() const { return seen_; }  // series
  bool names_do_not_fit() const { return names_do_not_fit_; }

  ScrapeResult result;

 private:
  // Counts a sample that the rules do not drop; false: there are more than a page may have. From
  // then on samples are only counted, since the limit is to save their memory.
  bool Keep() {
    ++result.kept;
    const uint64_t limit = target_.job_->limits.samples;
    over_limit_ = limit > 0 && result.kept > limit;
    return !over_limit_;
  }

  TargetSamples& target_;
  const int64_t stamp_ms_;
  ByteShare memory_;
  std::vector<PendingSample> pending_;
  std::vector<SeriesByText::value_type*> fresh_;
  size_t seen_ = 0;
  bool over_limit_ = false;
  bool names_do_not_fit_ = false;
};

TargetSamples::TargetSamples(std::shared_ptr<const Job> job, promql::LabelSet target,
                             SampleStore& store, TargetBudgets budgets)
    : job_(job),
      store_(store),
      labels_(std::move(job), std::move(target)),
      budgets_(std::move(budgets)),
      memory_(budgets_.series, job_->asked_for_by_pods ? 0 : kFreeBytes) {}

TargetSamples::~TargetSamples() = default;

absl::StatusOr<TargetSamples::SeriesByText::value_type*> TargetSamples::Find(
    size_t at, const formats::ScrapedSample& sample) {
  // The order of a page is mostly that of the last one.
  if (at < order_.size() && order_[at]->first == sample.series) return order_[at];
  const auto known = series_.find(sample.series);
  if (known != series_.end()) return &*known;
  // Before its labels are made: they take as much again.
  const size_t bytes = kSeriesBytes + sample.series.size();
  if (!memory_.Grow(bytes)) {
    return absl::UnavailableError("no memory for the names of the page's series");
  }
  const absl::StatusOr<promql::LabelSet> labels = labels_.Of(sample.series, sample.type);
  if (!labels.ok()) {
    memory_.Shrink(bytes);
    return labels.status();
  }
  SeriesByText::value_type& made = *series_.try_emplace(sample.series).first;
  made.second.type = sample.type;
  made.second.dropped = labels->empty();
  return &made;
}

void TargetSamples::StillHas(const formats::ScrapedSample& sample) {
  const auto known = series_.find(sample.series);
  if (known != series_.end()) known->second.page = page_;
}

bool TargetSamples::IsKept(const formats::ScrapedSample& sample) {
  if (job_->metric_relabel_rules.empty()) return true;
  const auto labels = labels_.Of(sample.series, sample.type);
  return !labels.ok() || !labels->empty();
}

// A page may have repeated one series fifty thousand times, or had many more series than there are
// now, and no budget counts the places for them.
void TargetSamples::Trim() {
  const size_t most = kPlacesPerSeries * (series_.size() + 1);
  if (order_.capacity() > most) std::vector<SeriesByText::value_type*>().swap(order_);
  if (series_.bucket_count() > most) series_.rehash(0);
}

void TargetSamples::Forget(SeriesByText::iterator series) {
  memory_.Shrink(kSeriesBytes + series->first.size());
  series_.erase(series);
}

absl::Status TargetSamples::Open(SeriesByText::value_type& series) {
  ASSIGN_OR_RETURN(const promql::LabelSet labels, labels_.Of(series.first, series.second.type));
  ASSIGN_OR_RETURN(series.second.open, store_.Open(labels, job_->asked_for_by_pods));
  return absl::OkStatus();
}

absl::Status TargetSamples::OpenNew(const std::vector<SeriesByText::value_type*>& series,
                                    int64_t now_ms) {
  if (series.empty()) return absl::OkStatus();
  const bool just_refused = std::abs(now_ms - refused_at_ms_) < kRefusedMs;
  if (!refusal_.ok() && just_refused) return refusal_;
  for (SeriesByText::value_type* const one : series) {
    refusal_ = Open(*one);
    if (refusal_.ok()) continue;
    refused_at_ms_ = now_ms;
    for (SeriesByText::value_type* const each : series) each->second.open = nullptr;
    break;
  }
  return refusal_;
}

absl::Status TargetSamples::Append(const PendingSample& sample, int64_t now_ms,
                                   ScrapeResult& result) {
  ScrapedSeries& series = sample.series->second;
  absl::Status status = series.open->Append(sample.time_ms, sample.value, now_ms);
  if (absl::IsNotFound(status)) {
    series.open = nullptr;
    RETURN_IF_ERROR(Open(*sample.series));
    status = series.open->Append(sample.time_ms, sample.value, now_ms);
  }
  if (absl::IsAlreadyExists(status)) ++result.duplicates;
  if (absl::IsOutOfRange(status)) ++result.out_of_range;
  series.needs_marker = !sample.own_time || job_->track_timestamps_staleness;
  return absl::OkStatus();
}

absl::Status TargetSamples::Put(const Sink& page, int64_t now_ms, ScrapeResult& result) {
  RETURN_IF_ERROR(OpenNew(page.fresh(), now_ms));
  result.added = page.fresh().size();
  for (const PendingSample& sample : page.pending()) {
    RETURN_IF_ERROR(Append(sample, now_ms, result));
  }
  return absl::OkStatus();
}

ScrapeResult TargetSamples::TakePage(ParsePage parse, int64_t stamp_ms, int64_t now_ms) {
  ++page_;
  Sink sink(*this, stamp_ms);
  const absl::Status parsed = parse(sink);
  ScrapeResult result = std::move(sink.result);
  if (!parsed.ok()) result.status = parsed;
  const uint64_t limit = job_->limits.samples;
  if (result.status.ok() && limit > 0 && result.kept > limit) {
    result.status = absl::ResourceExhaustedError(
        absl::StrCat("sample_limit is ", limit, ", the page has ", result.kept, " samples"));
  }
  if (!result.status.ok()) {
    // Otherwise a target whose series change their names would keep the room that the new ones
    // need.
    if (sink.names_do_not_fit()) Sweep(stamp_ms, now_ms);
    TakeFailure(stamp_ms, now_ms);
    return result;
  }
  result.status = Put(sink, now_ms, result);
  if (!result.status.ok()) {
    if (absl::IsResourceExhausted(result.status)) result.no_room = result.kept;
    // Series that were appended to before another one was refused have a sample at that time.
    TakeFailure(stamp_ms + 1, now_ms);
    return result;
  }
  order_.resize(result.scraped);
  if (sink.seen() < series_.size()) Sweep(stamp_ms, now_ms);
  Trim();
  return result;
}

void TargetSamples::Mark(ScrapedSeries& series, int64_t stamp_ms, int64_t now_ms) {
  if (series.open == nullptr || !series.needs_marker) return;
  // It is refused if the series has a sample at this time or was dropped; both are fine.
  series.open->Append(stamp_ms, promql::StaleMarker(), now_ms).IgnoreError();
  series.needs_marker = false;
}

void TargetSamples::Sweep(int64_t stamp_ms, int64_t now_ms) {
  for (auto place = series_.begin(); place != series_.end();) {
    const auto current = place++;
    if (current->second.page == page_) continue;
    Mark(current->second, stamp_ms, now_ms);
    Forget(current);
  }
}

void TargetSamples::TakeFailure(int64_t stamp_ms, int64_t now_ms) {
  order_.clear();
  for (auto place = series_.begin(); place != series_.end();) {
    const auto current = place++;
    Mark(current->second, stamp_ms, now_ms);
    // Otherwise series that only refused pages had would accumulate.
    if (current->second.open == nullptr) Forget(current);
  }
  Trim();
}

void TargetSamples::ReportOne(size_t index, absl::string_view name, double value, int64_t stamp_ms,
                              int64_t now_ms) {
  if (reports_.size() <= index) reports_.resize(index + 1);
  std::unique_ptr<OpenSeries>& open = reports_[index];
  for (int tries = 0; tries < 2; ++tries) {
    if (open == nullptr) {
      promql::LabelSet labels = {{"__name__", std::string(name)}};
      labels.insert(labels.end(), labels_.target().begin(), labels_.target().end());
      std::sort(labels.begin(), labels.end());
      auto opened = store_.Open(labels, job_->asked_for_by_pods);
      if (!opened.ok()) return;
      open = *std::move(opened);
    }
    if (!absl::IsNotFound(open->Append(stamp_ms, value, now_ms))) return;
    open = nullptr;
  }
}

void TargetSamples::Report(const ScrapeResult& result, absl::Duration timeout, int64_t stamp_ms,
                           int64_t now_ms) {
  const auto number = [](uint64_t count) { return static_cast<double>(count); };
  const bool up = result.status.ok();
  const std::pair<absl::string_view, double> reports[] = {
      {"up", up ? 1 : 0},
      {"scrape_duration_seconds", absl::ToDoubleSeconds(result.duration)},
      {"scrape_samples_scraped", number(result.scraped)},
      {"scrape_samples_post_metric_relabeling", number(result.kept)},
      {"scrape_series_added", number(result.added)},
      {"scrape_timeout_seconds", absl::ToDoubleSeconds(timeout)},
      {"scrape_sample_limit", number(job_->limits.samples)},
      {"scrape_body_size_bytes", static_cast<double>(result.body_bytes)},
  };
  constexpr size_t kUsual = 5;
  const size_t count = job_->extra_scrape_metrics ? std::size(reports) : kUsual;
  for (size_t i = 0; i < count; ++i) {
    ReportOne(i, reports[i].first, reports[i].second, stamp_ms, now_ms);
  }
}

void TargetSamples::End(int64_t stamp_ms, int64_t now_ms) {
  TakeFailure(stamp_ms, now_ms);
  for (const auto& open : reports_) {
    if (open != nullptr) open->Append(stamp_ms, promql::StaleMarker(), now_ms).IgnoreError();
  }
}

}  // namespace flyball::scrape
