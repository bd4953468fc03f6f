// Puts pushed samples into the store.
//
// Thread-safe: requests are handled in parallel. All valid samples of a request are taken, even if
// others are invalid. The time is an argument. Limits: the number of series that are recognised by
// the bytes that name them. If the store keeps a series' labels, a hash of the bytes is enough to
// find it, and the labels confirm it. Others, which mostly nothing uses, are confirmed by a second
// hash, since their bytes would take as much memory as those of used series. If there are too many,
// all are forgotten and looked up again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "adapter/live/formats/remote_write.h"
#include "adapter/live/formats/samples.h"
#include "adapter/live/store/metadata.h"
#include "adapter/live/store/store.h"
#include "base/striped.h"

namespace flyball::live {

// The outcome for the samples of one request.
struct Received {
  size_t taken = 0;    // including those that the store already has or that nothing uses
  size_t refused = 0;  // for good: sending them again is useless
  size_t no_room = 0;  // of new series for which the store has no room now
  std::string reason;  // for the first that was refused or had no room; kMaxErrorBytes of it
  size_t histograms = 0, exemplars = 0;  // which are not read

  size_t all() const { return taken + refused + no_room; }
};

class Ingest {
 public:
  static constexpr size_t kKnownSeries = 200'000;

  // The store outlives it. `canonical_bounds`: as in formats::SeriesLabels, for text pages.
  explicit Ingest(Store& store, size_t known_series = kKnownSeries, bool canonical_bounds = true)
      : store_(store),
        canonical_bounds_(canonical_bounds),
        known_per_stripe_((known_series + kStripes - 1) / kStripes) {}

  // Takes an uncompressed request of remote write. kInvalidArgument: it is malformed; what came
  // before the fault has been taken.
  absl::StatusOr<Received> Write(formats::WriteVersion version, absl::string_view message,
                                 int64_t now_ms);

  // Takes a page of text: Prometheus's format 0.0.4, or OpenMetrics. A sample without a stamp gets
  // the present time. kInvalidArgument: the page is malformed; nothing of it has been taken.
  absl::StatusOr<Received> Push(bool open_metrics, absl::string_view page, int64_t now_ms);

  // Appends one sample of a request; the labels are in any order and have different names. The
  // outcome is added to `received`. Errors are those of Store::Append.
  absl::Status Append(const std::vector<formats::LabelView>& labels, Point sample, int64_t now_ms,
                      Received& received);
  // To be called at the end of a request whose samples were appended one by one.
  void Count(const Received& received);

  // Releases the series that the store has dropped, whose labels would stay in memory otherwise. To
  // be called by one thread, after the store has been pruned.
  void ForgetDropped();

  struct Totals {
    std::atomic<uint64_t> requests = 0, taken = 0, refused = 0, no_room = 0;
  };
  const Totals& totals() const { return totals_; }
  const StoreOptions& store_options() const { return store_.options(); }
  // Counts a series that was refused because of its labels, before they were made.
  void CountRefusedLabels() { store_.CountRefusedLabels(); }

  // Stores a sender's metadata of a metric. `asking`: as in MetadataTable::Note.
  void Note(const formats::FamilyMetadata& family, absl::string_view asking = "");
  const MetadataTable& metadata() const { return metadata_; }

 private:
  static constexpr size_t kStripes = 16;
  class PageTaker;

  struct OtherSeries {
    uint64_t stable_hash = 0;
    SeriesHandle handle;
  };
  struct KnownSeries {
    absl::flat_hash_map<uint64_t, SeriesHandle> by_hash;  // series whose labels confirm the bytes
    absl::flat_hash_map<uint64_t, OtherSeries> others;
  };

  // Sets the handle of a series that is recognised by its bytes.
  bool FindKnown(absl::string_view key, SeriesHandle& handle);
  void Remember(absl::string_view key, const SeriesHandle& handle);
  // Makes labels of views and opens their series.
  absl::StatusOr<SeriesHandle> Open(const std::vector<formats::LabelView>& labels);
  absl::StatusOr<SeriesHandle> OpenWritten(const formats::WrittenSeries& series);
  void TakeSeries(const formats::WrittenSeries& series, int64_t now_ms, Received& received);

  Store& store_;
  const bool canonical_bounds_;
  const size_t known_per_stripe_;
  Striped<KnownSeries, kStripes> known_;
  uint64_t dropped_ = 0;  // series that the store had dropped at the last ForgetDropped
  Totals totals_;
  MetadataTable metadata_;
};

}  // namespace flyball::live
