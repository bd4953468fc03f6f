#include "scaler/math/requests/window.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "scaler/math/requests/decay.h"

namespace flyball::scaler {
namespace {

double RoundToSixDecimals(double value) { return std::round(value * 1e6) / 1e6; }

}  // namespace

RequestWindow::RequestWindow(int64_t seconds, Weights weights)
    : weights_(weights), sums_(static_cast<size_t>(std::max<int64_t>(seconds, 1))) {}

double& RequestWindow::SumOf(int64_t second) {
  const int64_t slot = second % size();
  return sums_[static_cast<size_t>(slot < 0 ? slot + size() : slot)];
}

double RequestWindow::SumOf(int64_t second) const {
  return const_cast<RequestWindow*>(this)->SumOf(second);
}

void RequestWindow::Record(int64_t second, double value) {
  if (last_ != second) {
    if (last_ && second <= *last_ - size()) return;
    if (!first_ || *first_ > second) first_ = second;
    if (!last_ || second - *last_ >= size()) {
      first_ = second;
      std::fill(sums_.begin(), sums_.end(), 0);
      total_ = 0;
      last_ = second;
    } else if (second > *last_) {
      for (int64_t each = *last_ + 1; each <= second; ++each) {
        double& sum = SumOf(each);
        total_ -= sum;
        sum = 0;
      }
      last_ = second;
    }
  }
  SumOf(second) += value;
  total_ += value;
}

bool RequestWindow::Empty(int64_t now) const { return !last_ || now - *last_ > size(); }

double RequestWindow::Average(int64_t now) const {
  if (Empty(now)) return 0;
  return weights_ == Weights::kEqual ? EqualAverage(now) : ExponentialAverage(now);
}

double RequestWindow::Span(int64_t limit) const {
  if (!first_) return static_cast<double>(limit);
  return static_cast<double>(std::min(*last_ - *first_ + 1, limit));
}

double RequestWindow::EqualAverage(int64_t now) const {
  const int64_t silence = now - *last_;
  if (silence <= 0) return RoundToSixDecimals(total_ / Span(size()));
  if (silence >= size()) return 0;
  double total = total_;
  for (int64_t each = *last_ + 1; each <= now; ++each) total -= SumOf(each);
  return RoundToSixDecimals(total / Span(size() - silence));
}

double RequestWindow::ExponentialAverage(int64_t now) const {
  const double decay = DecayOf(size());
  const int64_t silence = std::max<int64_t>(now - *last_, 0);
  double weight = decay * PowerOf(1 - decay, silence);
  double average = 0;
  for (int64_t i = 0; i < size() - silence; ++i) {
    average += SumOf(*last_ - i) * weight;
    weight *= 1 - decay;
  }
  return average;
}

void RequestWindow::Resize(int64_t seconds, int64_t now) {
  seconds = std::max<int64_t>(seconds, 1);
  if (seconds == size()) return;
  RequestWindow resized(seconds, weights_);
  resized.last_ = last_;
  if (!Empty(now)) {
    for (int64_t i = 0; i < std::min(seconds, size()); ++i) {
      const double sum = SumOf(*last_ - i);
      resized.SumOf(*last_ - i) = sum;
      resized.total_ += sum;
    }
    // The earliest second that may have been written.
    resized.first_ = *last_ - (size() - 1);
  }
  *this = std::move(resized);
}

}  // namespace flyball::scaler
