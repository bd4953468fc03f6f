// Series as the engine reads them, and the interface of their store.
//
// Times are int64 milliseconds since the epoch. Thread-safe: many queries read while samples
// arrive; a query may or may not see samples that arrive while it runs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/casts.h"
#include "absl/status/statusor.h"
#include "promql/engine/interruption.h"
#include "promql/labels.h"
#include "promql/matcher.h"

namespace flyball::promql {

struct Point {
  int64_t time_ms = 0;
  double value = 0;
};

// The NaN that says "this series ended here". It differs from other NaNs only by its bits.
inline constexpr uint64_t kStaleBits = 0x7ff0000000000002;
inline double StaleMarker() { return absl::bit_cast<double>(kStaleBits); }
inline bool IsStale(double value) { return absl::bit_cast<uint64_t>(value) == kStaleBits; }

class Series {
 public:
  virtual ~Series() = default;

  // The labels never change.
  virtual const Labels& labels() const = 0;

  // Appends the samples with from_ms <= time <= to_ms in rising time, staleness markers included.
  virtual void Read(int64_t from_ms, int64_t to_ms, std::vector<Point>& points) const = 0;

  // The last sample that Read would append; nullopt: none. To be overridden where it costs less
  // than reading them all.
  virtual std::optional<Point> Newest(int64_t from_ms, int64_t to_ms) const {
    std::vector<Point> points;
    Read(from_ms, to_ms, points);
    if (points.empty()) return std::nullopt;
    return points.back();
  }
};

using SeriesList = std::vector<std::shared_ptr<const Series>>;

class SeriesReader {
 public:
  virtual ~SeriesReader() = default;

  // All series that match, in label order. Errors: those of `interrupted`.
  virtual absl::StatusOr<SeriesList> SelectUnless(const Interrupted& interrupted,
                                                  const std::vector<Matcher>& matchers) const = 0;

  // Does the same without an interruption.
  SeriesList Select(const std::vector<Matcher>& matchers) const {
    return *SelectUnless(Interrupted(), matchers);
  }

  // Does the same in any order. To be overridden where the order costs something.
  virtual SeriesList SelectInAnyOrder(const std::vector<Matcher>& matchers) const {
    return Select(matchers);
  }
};

}  // namespace flyball::promql
