// The average of the last seconds of one measure: a ring of one-second sums.
//
// Pure: no clock; times are whole Unix seconds. Not thread-safe. A sample joins the second that it
// is stamped with, also when it comes late or from the future. A young window averages over what it
// has, silence shortens it from the recent side, and a hole that is followed by data is zeros.
//
// Source:  Knative Serving v0.51.0 pkg/autoscaler/aggregation/bucketing.go. Sums are made in its
//          order, so that they round alike.
// Memory:  8 bytes a second of the window.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace flyball::scaler {

class RequestWindow {
 public:
  enum class Weights {
    kEqual,
    kExponential,  // the newest second weighs most; not scaled up while the window is young
  };

  // `seconds`: its length, at least 1.
  RequestWindow(int64_t seconds, Weights weights);

  // Adds to the second's sum. A second that has left the window is not recorded.
  void Record(int64_t second, double value);

  // As of the second `now`; equal weights round to six decimals. 0 when it is empty.
  double Average(int64_t now) const;

  // Whether nothing was recorded for longer than the window, or ever.
  bool Empty(int64_t now) const;

  // Keeps the newest seconds that fit. Does nothing when the length is the same.
  void Resize(int64_t seconds, int64_t now);

  // Where all that was recorded is of one second: that it was `second`, a later one, instead.
  void MoveOnlySecond(int64_t second);

 private:
  int64_t size() const { return static_cast<int64_t>(sums_.size()); }
  double& SumOf(int64_t second);
  double SumOf(int64_t second) const;
  // How many seconds count: from the first write to the last, at most `limit`.
  double Span(int64_t limit) const;
  double EqualAverage(int64_t now) const;
  double ExponentialAverage(int64_t now) const;

  Weights weights_;
  std::vector<double> sums_;      // of second s at s mod size
  std::optional<int64_t> first_;  // unset after a resize of a window whose data had gone
  std::optional<int64_t> last_;
  double total_ = 0;
};

}  // namespace flyball::scaler
