#include "adapter/live/receive/ingest.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "adapter/live/formats/series_labels.h"
#include "adapter/live/formats/text.h"
#include "base/one_line.h"
#include "base/stable_hash.h"
#include "base/status_macros.h"

namespace flyball::live {
namespace {

static_assert(StoreOptions().max_labels <= formats::kMaxLabels &&
              StoreOptions().max_label_name_bytes <= formats::kMaxLabelNameBytes &&
              StoreOptions().max_label_value_bytes <= formats::kMaxLabelValueBytes);

// Counts `samples` that failed alike.
void Refuse(const absl::Status& why, size_t samples, Received& received) {
  (absl::IsResourceExhausted(why) ? received.no_room : received.refused) += samples;
  if (received.reason.empty()) received.reason = Abridged(why.message(), kMaxErrorBytes);
}

}  // namespace

bool Ingest::FindKnown(absl::string_view key, SeriesHandle& handle) {
  const size_t hash = absl::HashOf(key);
  const auto known = known_.Lock(hash);
  const auto by_hash = known->by_hash.find(hash);
  if (by_hash != known->by_hash.end() && formats::IsKeyOf(key, by_hash->second.labels())) {
    handle = by_hash->second;
    return true;
  }
  const auto other = known->others.find(hash);
  if (other == known->others.end() || other->second.stable_hash != StableHash(key)) return false;
  handle = other->second.handle;
  return true;
}

void Ingest::Remember(absl::string_view key, const SeriesHandle& handle) {
  const size_t hash = absl::HashOf(key);
  const auto known = known_.Lock(hash);
  if (handle.kept() && formats::IsKeyOf(key, handle.labels())) {
    if (known->by_hash.size() >= known_per_stripe_) known->by_hash.clear();
    known->by_hash[hash] = handle;
    known->others.erase(hash);  // from a time when nothing used the series
    return;
  }
  if (known->others.size() >= known_per_stripe_) known->others.clear();
  known->others[hash] = {StableHash(key), handle};
}

void Ingest::ForgetDropped() {
  const StoreCounts counts = store_.counts();
  const uint64_t dropped = counts.made - counts.series;
  if (std::exchange(dropped_, dropped) == dropped) return;
  known_.ForEach([](KnownSeries& known) {
    absl::erase_if(known.by_hash, [](const auto& item) { return item.second.dropped(); });
    absl::erase_if(known.others, [](const auto& item) { return item.second.handle.dropped(); });
  });
}

absl::StatusOr<SeriesHandle> Ingest::Open(const std::vector<formats::LabelView>& labels) {
  thread_local promql::LabelsBuilder builder;
  builder.Clear();
  for (const formats::LabelView& label : labels) builder.Add(label.name, label.value);
  return store_.Open(builder.Build());
}

absl::StatusOr<SeriesHandle> Ingest::OpenWritten(const formats::WrittenSeries& series) {
  thread_local std::vector<formats::LabelView> labels;
  absl::Status status;
  if (series.key.empty()) {
    labels.assign(series.labels.begin(), series.labels.end());
  } else {
    status = formats::ReadKey(series.key, labels);
  }
  if (status.ok()) status = formats::NormalizeLabels(labels);
  if (absl::IsOutOfRange(status)) store_.CountRefusedLabels();
  RETURN_IF_ERROR(status);
  return Open(labels);
}

void Ingest::TakeSeries(const formats::WrittenSeries& series, int64_t now_ms, Received& received) {
  received.histograms += series.histograms;
  received.exemplars += series.exemplars;
  if (!series.status.ok()) {
    // One without samples counts as one, or its sender would be told that all is well.
    return Refuse(series.status, std::max<size_t>(series.samples.size(), 1), received);
  }
  SeriesHandle handle;
  bool known = !series.key.empty() && FindKnown(series.key, handle);
  for (size_t i = 0; i < series.samples.size(); ++i) {
    const Point sample = {series.samples[i].time_ms, series.samples[i].value};
    absl::Status status = absl::NotFoundError("");
    if (known) status = store_.Append(handle, sample, now_ms);
    // Not known, or dropped meanwhile.
    if (absl::IsNotFound(status)) {
      absl::StatusOr<SeriesHandle> opened = OpenWritten(series);
      if (!opened.ok()) return Refuse(opened.status(), series.samples.size() - i, received);
      handle = *std::move(opened);
      known = true;
      if (!series.key.empty()) Remember(series.key, handle);
      status = store_.Append(handle, sample, now_ms);
    }
    if (status.ok()) {
      ++received.taken;
    } else {
      Refuse(status, 1, received);
    }
  }
}

absl::StatusOr<Received> Ingest::Write(formats::WriteVersion version, absl::string_view message,
                                       int64_t now_ms) {
  Received received;
  const absl::Status status = formats::ReadWriteRequest(
      version, message,
      [&](const formats::WrittenSeries& series) { TakeSeries(series, now_ms, received); },
      [this](const formats::FamilyMetadata& family) { Note(family); });
  Count(received);
  if (!status.ok()) return status;
  return received;
}

namespace {

class Nobody : public formats::ScrapeSink {
 public:
  void OnSample(const formats::ScrapedSample&) override {}
  void OnMetadata(const formats::FamilyMetadata&) override {}
};

absl::Status ParsePage(bool open_metrics, absl::string_view page, formats::ScrapeSink& sink) {
  return open_metrics ? formats::ParseOpenMetrics(page, sink) : formats::ParseText(page, sink);
}

}  // namespace

class Ingest::PageTaker : public formats::ScrapeSink {
 public:
  PageTaker(Ingest& ingest, int64_t now_ms, Received& received)
      : ingest_(ingest), now_ms_(now_ms), received_(received) {}

  void OnSample(const formats::ScrapedSample& sample) override {
    const absl::Status status = labels_.Read(sample.series, sample.type, ingest_.canonical_bounds_);
    if (absl::IsOutOfRange(status)) ingest_.CountRefusedLabels();
    if (!status.ok()) return Refuse(status, 1, received_);
    const Point point = {sample.time_ms.value_or(now_ms_), sample.value};
    ingest_.Append(labels_.labels(), point, now_ms_, received_).IgnoreError();
  }
  void OnMetadata(const formats::FamilyMetadata& family) override { ingest_.Note(family); }

 private:
  Ingest& ingest_;
  const int64_t now_ms_;
  Received& received_;
  formats::SeriesLabels labels_;
};

absl::StatusOr<Received> Ingest::Push(bool open_metrics, absl::string_view page, int64_t now_ms) {
  // The page is parsed once without effect, so that a page with an error at its end changes
  // nothing. Keeping its samples instead would take many times the memory of the page.
  Nobody nobody;
  RETURN_IF_ERROR(ParsePage(open_metrics, page, nobody));
  Received received;
  PageTaker taker(*this, now_ms, received);
  RETURN_IF_ERROR(ParsePage(open_metrics, page, taker));
  Count(received);
  return received;
}

absl::Status Ingest::Append(const std::vector<formats::LabelView>& labels, Point sample,
                            int64_t now_ms, Received& received) {
  const absl::StatusOr<SeriesHandle> handle = Open(labels);
  const absl::Status status =
      handle.ok() ? store_.Append(*handle, sample, now_ms) : handle.status();
  if (status.ok()) {
    ++received.taken;
  } else {
    Refuse(status, 1, received);
  }
  return status;
}

void Ingest::Note(const formats::FamilyMetadata& family, absl::string_view asking) {
  const auto type = family.type ? std::make_optional(formats::MetricTypeName(*family.type))
                                : std::optional<absl::string_view>();
  metadata_.Note(family.name, type, family.help, family.unit, asking);
}

void Ingest::Count(const Received& received) {
  ++totals_.requests;
  totals_.taken += received.taken;
  totals_.refused += received.refused;
  totals_.no_room += received.no_room;
}

}  // namespace flyball::live
