// Sums and means that round as Prometheus's do.
//
// Pure. Source: Prometheus 3.15.0 promql/functions.go: Kahan's summation with Neumaier's
// improvement.
#pragma once

#include <vector>

namespace flyball::promql {

class KahanSum {
 public:
  explicit KahanSum(double start = 0) : sum_(start) {}

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
  // The same, but an infinite sum stays as it is.
  double Total() const;

 private:
  double sum_;
  double compensation_ = 0;
};

// avg and avg_over_time.
class Mean {
 public:
  void Add(double value);
  double Result() const;

 private:
  double count_ = 0;
  bool incremental_ = false;  // once the plain sum has overflowed
  KahanSum sum_;              // the running mean from then on
};

// The q-quantile by linear interpolation; NaN without values.
double Quantile(double q, std::vector<double> values);

}  // namespace flyball::promql
