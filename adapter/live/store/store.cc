#include "adapter/live/store/store.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "adapter/live/store/label_order.h"
#include "adapter/live/store/times.h"
#include "base/one_line.h"
#include "base/status_macros.h"
#include "promql/text.h"

namespace flyball::live {
namespace {

constexpr uint64_t kNanBits = 0x7ff8000000000001;

double Normalized(double value) {
  return std::isnan(value) && !promql::IsStale(value) ? absl::bit_cast<double>(kNanBits) : value;
}

// Only the beginning of long labels: one request may have thousands of samples that are refused.
std::string NameOf(const promql::Labels& labels) {
  promql::LabelSet shown;
  size_t bytes = 0;
  for (const auto& [name, value] : labels) {
    if (bytes > kMaxRepeatedBytes) return promql::FormatLabels(shown) + "...";
    bytes += name.size() + value.size();
    shown.emplace_back(name, Abridged(value));
  }
  return promql::FormatLabels(shown);
}

std::string NameOf(const SeriesHandle& handle) {
  return handle.kept() ? NameOf(handle.labels()) : "a series that nothing uses";
}

absl::Status ToStatus(SeriesSamples::Outcome outcome, const promql::Labels& labels) {
  switch (outcome) {
    case SeriesSamples::Outcome::kAdded:
    case SeriesSamples::Outcome::kThere: return absl::OkStatus();
    case SeriesSamples::Outcome::kDuplicate:
      return absl::AlreadyExistsError(
          absl::StrCat("duplicate sample for timestamp for ", NameOf(labels)));
    case SeriesSamples::Outcome::kTooOld:
      return absl::OutOfRangeError(absl::StrCat("out of order sample for ", NameOf(labels)));
  }
  return absl::OkStatus();
}

promql::SeriesList ToList(std::vector<SeriesPtr> series) {
  return {std::make_move_iterator(series.begin()), std::make_move_iterator(series.end())};
}

}  // namespace

absl::Status Store::CheckLabels(const promql::Labels& labels) {
  if (labels.empty()) return absl::InvalidArgumentError("a series needs at least one label");
  size_t count = 0;
  for (const auto& [name, value] : labels) {
    if (++count > options_.max_labels) {
      return absl::InvalidArgumentError(
          absl::StrCat("more than ", options_.max_labels, " labels on ", labels.Get("__name__")));
    }
    if (name.size() > options_.max_label_name_bytes ||
        value.size() > options_.max_label_value_bytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("label ", name.substr(0, options_.max_label_name_bytes), " of ",
                       labels.Get("__name__").substr(0, options_.max_label_name_bytes),
                       " is longer than ", options_.max_label_name_bytes, " bytes of name or ",
                       options_.max_label_value_bytes, " bytes of value"));
    }
  }
  return absl::OkStatus();
}

bool Store::HasBytes(absl::string_view ns, Sender sender) const {
  const size_t bytes = bytes_.load(std::memory_order_relaxed);
  const size_t max_bytes = options_.max_bytes;
  // A little more than the limit at which known series begin to forget, which may take long.
  const size_t most = max_bytes + max_bytes / 2 + max_bytes / 8;
  if (sender == Sender::kAnybody) {
    const bool has_room = bytes < max_bytes && shares_.HasRoomForBytes(ns, max_bytes - bytes);
    return has_room || (bytes < most - max_bytes / 16 && shares_.IsSmall(ns, max_bytes));
  }
  // Series of kAnybody take no room from others, which also get the last of it.
  const size_t of_anybody = anybody_bytes_.load(std::memory_order_relaxed);
  return bytes < most && bytes - std::min(bytes, of_anybody) < max_bytes;
}

absl::Status Store::CheckRoom(const promql::Labels& labels, Sender sender) {
  const size_t bytes = bytes_.load(std::memory_order_relaxed);
  const absl::string_view ns = NamespaceShares::NamespaceOf(labels);
  if (index_.size() >= options_.max_series) {
    Count(kMaxSeries);
    return absl::ResourceExhaustedError(
        absl::StrCat("over the limit of ", options_.max_series, " series"));
  }
  if (sender == Sender::kAnybody &&
      !shares_.HasRoomForSeries(ns, options_.max_series - index_.size())) {
    Count(kMaxSeries);
    return absl::ResourceExhaustedError(
        absl::StrCat("namespace ", ns, " is over its share of ", options_.max_series, " series"));
  }
  if (!HasBytes(ns, sender)) {
    Count(kMaxBytes);
    return absl::ResourceExhaustedError(absl::StrCat("over the limit of ", options_.max_bytes,
                                                     " bytes: ", index_.size(), " series take ",
                                                     bytes));
  }
  return absl::OkStatus();
}

void Store::CountBytes(size_t grown_by, Sender sender) {
  bytes_.fetch_add(grown_by, std::memory_order_relaxed);
  if (sender == Sender::kAnybody) anybody_bytes_.fetch_add(grown_by, std::memory_order_relaxed);
}

void Store::CountForgotten(const SeriesSamples::Forgotten& forgotten) {
  forgotten_.fetch_add(forgotten.chunks, std::memory_order_relaxed);
  int64_t until_ms = forgotten_until_ms_.load(std::memory_order_relaxed);
  while (until_ms < forgotten.last_ms &&
         !forgotten_until_ms_.compare_exchange_weak(until_ms, forgotten.last_ms,
                                                    std::memory_order_relaxed)) {
  }
}

bool Store::HasForgotten(const Selector& selector, int64_t since_ms) const {
  return forgotten_until_ms_.load(std::memory_order_relaxed) >= since_ms &&
         ForgottenUntilMs(selector) >= since_ms;
}

int64_t Store::ForgottenUntilMs(const Selector& selector) const {
  int64_t until_ms = std::numeric_limits<int64_t>::min();
  for (const SeriesPtr& series : Find(selector)) {
    until_ms = std::max(until_ms, series->forgotten_until_ms());
  }
  return until_ms;
}

size_t Store::MaxBytesOfSeries() const {
  const size_t most = options_.max_bytes + options_.max_bytes / 2;
  if (bytes_.load(std::memory_order_relaxed) < most) return std::numeric_limits<size_t>::max();
  absl::ReaderMutexLock lock(&mutex_);
  return (most - std::min(most, fixed_bytes_)) / std::max<size_t>(index_.size(), 1);
}

bool Store::IsToClaim(const StoredSeries& series, Sender sender) {
  return series.sender() == Sender::kUnclaimed && sender != Sender::kUnclaimed;
}

void Store::SetSender(StoredSeries& series, Sender sender) {
  const size_t of_samples = series.SetSender(sender);
  if (sender != Sender::kAnybody) return;
  anybody_bytes_.fetch_add(series.fixed_bytes() + of_samples, std::memory_order_relaxed);
  shares_.Add(NamespaceShares::NamespaceOf(series.labels()), series.fixed_bytes());
}

absl::StatusOr<SeriesHandle> Store::Open(const promql::Labels& labels, Sender sender) {
  SeriesHandle handle;
  {
    absl::ReaderMutexLock lock(&mutex_);
    handle.series_ = index_.Find(labels);
    if (handle.series_ != nullptr && !IsToClaim(*handle.series_, sender)) return handle;
  }
  const absl::Status labels_fit = CheckLabels(labels);
  absl::MutexLock lock(&mutex_);
  handle.series_ = index_.Find(labels);
  if (handle.series_ != nullptr) {
    if (IsToClaim(*handle.series_, sender)) SetSender(*handle.series_, sender);
    return handle;
  }
  if (kept_ && kept_->Find(labels).empty()) {
    Count(kNotKept);
    handle.keep_version_ = keep_version_.load(std::memory_order_relaxed);
    return handle;
  }
  if (!labels_fit.ok()) {
    Count(kLabels);
    return labels_fit;
  }
  RETURN_IF_ERROR(CheckRoom(labels, sender));
  handle.series_ =
      std::make_shared<StoredSeries>(labels, options_.retention_ms, watched_.Find(labels));
  if (index_.Add(handle.series_)) new_names_.fetch_add(1, std::memory_order_relaxed);
  SetSender(*handle.series_, sender);
  made_.fetch_add(1, std::memory_order_relaxed);
  fixed_bytes_ += handle.series_->fixed_bytes();
  bytes_.fetch_add(handle.series_->fixed_bytes(), std::memory_order_relaxed);
  return handle;
}

absl::Status Store::Append(const SeriesHandle& handle, Point sample, int64_t now_ms,
                           int64_t window_ms) {
  // Times are checked for series that are not kept as well, so that a sender gets the same errors.
  if (Earlier(sample.time_ms, options_.max_ahead_ms) > now_ms) {
    return absl::OutOfRangeError(absl::StrCat("out of bounds: ", sample.time_ms - now_ms,
                                              " ms ahead of now, for ", NameOf(handle)));
  }
  if (sample.time_ms < Earlier(now_ms, options_.retention_ms)) {
    return absl::OutOfRangeError(
        absl::StrCat("too old sample: before the retention, for ", NameOf(handle)));
  }
  if (!handle.kept()) {
    if (handle.keep_version_ == keep_version_.load(std::memory_order_relaxed)) {
      return absl::OkStatus();
    }
    return absl::NotFoundError("what is kept has changed");
  }
  StoredSeries& series = *handle.series_;
  sample.value = Normalized(sample.value);
  Watches to_tell;
  const StoredSeries::Added added = series.Add(sample, window_ms, MaxBytesOfSeries(), to_tell);
  if (added.forgotten.chunks != 0) CountForgotten(added.forgotten);
  if (added.grown_by != 0) CountBytes(added.grown_by, added.sender);
  for (const std::shared_ptr<Watch>& watch : to_tell) watch->Tell();
  if (!added.outcome) return absl::NotFoundError("the series has been dropped");
  return ToStatus(*added.outcome, series.labels());
}

absl::Status Store::Append(const promql::Labels& labels, Point sample, int64_t now_ms) {
  while (true) {
    ASSIGN_OR_RETURN(const SeriesHandle handle, Open(labels));
    absl::Status status = Append(handle, sample, now_ms);
    if (!absl::IsNotFound(status)) return status;
  }
}

absl::Status Store::Append(const promql::LabelSet& labels, Point sample, int64_t now_ms) {
  promql::LabelsBuilder builder;
  for (const auto& [name, value] : labels) builder.Add(name, value);
  promql::Labels built;
  absl::string_view twice;
  if (!builder.Build(&built, &twice)) {
    return absl::InvalidArgumentError(absl::StrCat("label ", twice, " is given twice"));
  }
  return Append(built, sample, now_ms);
}

absl::StatusOr<promql::SeriesList> Store::SelectUnless(
    const promql::Interrupted& interrupted, const std::vector<promql::Matcher>& matchers) const {
  ASSIGN_OR_RETURN(std::vector<SeriesPtr> selected, FindUnless(interrupted, matchers));
  promql::SeriesList found = ToList(std::move(selected));
  RETURN_IF_ERROR(SortByLabels(found, interrupted));
  return found;
}

promql::SeriesList Store::SelectInAnyOrder(const std::vector<promql::Matcher>& matchers) const {
  return ToList(Find(matchers));
}

std::vector<std::shared_ptr<const StoredSeries>> Store::All() const {
  const std::vector<SeriesPtr> all = Find({});
  return {all.begin(), all.end()};
}

absl::Status Store::Restore(const promql::Labels& labels, SeriesSamples samples) {
  ASSIGN_OR_RETURN(const SeriesHandle handle, Open(labels, Sender::kUnclaimed));
  if (!handle.kept()) return absl::OkStatus();
  const std::optional<size_t> bytes = handle.series_->Adopt(std::move(samples));
  if (!bytes) return absl::AlreadyExistsError("the series has samples already");
  CountBytes(*bytes, handle.series_->sender());
  return absl::OkStatus();
}

absl::Status Store::AddPast(const promql::LabelSet& labels, std::vector<Point> past) {
  if (past.empty()) return absl::OkStatus();
  for (Point& point : past) point.value = Normalized(point.value);
  promql::LabelsBuilder builder;
  for (const auto& [name, value] : labels) builder.Set(name, value);
  const promql::Labels built = builder.Build();
  while (true) {
    ASSIGN_OR_RETURN(const SeriesHandle handle, Open(built, Sender::kUnclaimed));
    if (!handle.kept()) return absl::OkStatus();
    Watches to_tell;
    const StoredSeries::Added added = handle.series_->AddPast(past, to_tell);
    CountBytes(added.grown_by, added.sender);
    for (const std::shared_ptr<Watch>& watch : to_tell) watch->Tell();
    if (added.outcome) return absl::OkStatus();
  }
}

StoreCounts Store::counts() const {
  const auto refused = [this](Refusal refusal) {
    return refusals_[refusal].load(std::memory_order_relaxed);
  };
  absl::ReaderMutexLock lock(&mutex_);
  return {.series = index_.size(),
          .bytes = bytes_.load(std::memory_order_relaxed),
          .made = made_.load(std::memory_order_relaxed),
          .new_names = new_names_.load(std::memory_order_relaxed),
          .refused_max_series = refused(kMaxSeries),
          .refused_max_bytes = refused(kMaxBytes),
          .refused_labels = refused(kLabels),
          .forgotten_chunks = forgotten_.load(std::memory_order_relaxed),
          .not_kept = refused(kNotKept)};
}

}  // namespace flyball::live
