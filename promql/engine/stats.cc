#include "promql/engine/stats.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flyball::promql {

void KahanSum::Add(double value) {
  const double total = sum_ + value;
  if (dialect_ == Dialect::k3 && std::isinf(total)) {
    compensation_ = 0;
  } else if (std::fabs(sum_) >= std::fabs(value)) {
    compensation_ += (sum_ - total) + value;
  } else {
    compensation_ += (value - total) + sum_;
  }
  sum_ = total;
}

double KahanSum::Total() const { return std::isinf(sum_) ? sum_ : Compensated(); }

bool InfiniteMeanStays(double mean, double value) {
  if (!std::isinf(mean)) return false;
  if (std::isinf(value)) return (mean > 0) == (value > 0);
  return !std::isnan(value);
}

void Mean::Add(double value) {
  count_ += 1;
  if (dialect_ == Dialect::k2) {
    if (InfiniteMeanStays(sum_.sum(), value)) return;
    sum_.Add(value / count_ - sum_.sum() / count_);
    return;
  }
  if (count_ == 1) {
    sum_ = KahanSum(dialect_, value);
    return;
  }
  if (!incremental_) {
    KahanSum next = sum_;
    next.Add(value);
    if (!std::isinf(next.sum())) {
      sum_ = next;
      return;
    }
    incremental_ = true;
    sum_.Divide(count_ - 1);
  }
  const double q = (count_ - 1) / count_;
  sum_.Multiply(q);
  sum_.Add(value / count_);
}

double Mean::Result() const {
  if (dialect_ == Dialect::k2 || incremental_) return sum_.Total();
  return sum_.sum() / count_ + sum_.compensation() / count_;
}

double Quantile(double q, std::vector<double> values) {
  if (values.empty() || std::isnan(q)) return std::numeric_limits<double>::quiet_NaN();
  if (q < 0) return -std::numeric_limits<double>::infinity();
  if (q > 1) return std::numeric_limits<double>::infinity();
  std::sort(values.begin(), values.end(), [](double a, double b) {  // ascending, NaN first
    return std::isnan(a) ? !std::isnan(b) : a < b;
  });
  const double last = static_cast<double>(values.size()) - 1;
  const double rank = q * last;
  const double lower = std::max(0.0, std::floor(rank));
  const double upper = std::min(last, lower + 1);
  const double weight = rank - std::floor(rank);
  return values[static_cast<size_t>(lower)] * (1 - weight) +
         values[static_cast<size_t>(upper)] * weight;
}

}  // namespace flyball::promql
