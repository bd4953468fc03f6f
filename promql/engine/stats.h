// Sums and means that round as Prometheus's do.
//
// Pure. Source: Prometheus 2.42.0 and 3.15.0 promql/functions.go: Kahan's summation with Neumaier's
// improvement. What differs at infinities is the dialect's.
#pragma once

#include <vector>

#include "promql/dialect.h"

namespace flyball::promql {

class KahanSum {
 public:
  explicit KahanSum(Dialect dialect, double start = 0) : dialect_(dialect), sum_(start) {}

  void Add(double value);
  void Multiply(double factor) {
    sum_ *= factor;
    compensation_ *= factor;
  }
  void Divide(double divisor) {
    sum_ /= divisor;
    compensation_ /= divisor;
  }
  double sum() const { return sum_; }
  double compensation() const { return compensation_; }
  double Compensated() const { return sum_ + compensation_; }
  // Does the same, but an infinite sum stays as it is.
  double Total() const;

 private:
  Dialect dialect_;
  double sum_;
  double compensation_ = 0;
};

// avg_over_time of both dialects, and avg of dialect 3.
class Mean {
 public:
  explicit Mean(Dialect dialect) : dialect_(dialect), sum_(dialect) {}
  void Add(double value);
  double Result() const;

 private:
  Dialect dialect_;
  double count_ = 0;
  bool incremental_ = false;  // dialect 3, once the plain sum has overflowed
  KahanSum sum_;              // or the running mean
};

// True if a running mean that is infinite already stays as it is when `value` comes.
bool InfiniteMeanStays(double mean, double value);

// The q-quantile by linear interpolation; NaN without values.
double Quantile(double q, std::vector<double> values);

}  // namespace flyball::promql
