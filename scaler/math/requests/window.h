// The average of the last seconds of one measure: a ring of one-second sums.
//
// Pure: no clock; times are whole Unix seconds. Not thread-safe. A sample is added to the second of
// its timestamp, even if that is late or in the future. A young window averages over the seconds
// that it has; missing seconds at the recent end are left out; a gap that is followed by data
// counts as zeros.
//
// Source:  Knative Serving v0.51.0 pkg/autoscaler/aggregation/bucketing.go. Sums are made in the
//          same order, so that they round alike.
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

  // Adds `value` to the second's sum. A second that is no longer in the window is ignored.
  void Record(int64_t second, double value);

  // The average as of the second `now`; with equal weights rounded to six decimals. 0 if the window
  // is empty.
  double Average(int64_t now) const;

  // Whether nothing was recorded for longer than the window, or ever.
  bool Empty(int64_t now) const;

  // Changes the weights of the same seconds.
  void SetWeights(Weights weights) { weights_ = weights; }

  // Keeps the newest seconds that fit. Does nothing when the length is the same.
  void Resize(int64_t seconds, int64_t now);

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
  std::optional<int64_t> first_;  // unset after a window without current data was resized
  std::optional<int64_t> last_;
  double total_ = 0;
};

}  // namespace flyball::scaler
