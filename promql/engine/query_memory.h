// Counts the memory that one query takes, against a limit.
//
// Not thread-safe; one for each query. Bytes are only counted, approximately: code that makes
// something that grows with the series or samples counts it as it grows, before it exceeds the
// limit by much.
#pragma once

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace flyball::promql {

class QueryMemory {
 public:
  explicit QueryMemory(size_t limit) : limit_(limit) {}  // 0: no limit, so nothing need be counted

  bool has_limit() const { return limit_ != 0; }
  // Valid if there is a limit.
  size_t left() const { return limit_ - std::min(limit_, kept_ + used_); }

  // Counts memory that stays until it is dropped.
  absl::Status Keep(size_t bytes) {
    kept_ += bytes;
    return Check();
  }
  void Drop(size_t bytes) { kept_ -= bytes; }

  // Counts memory of a step of the evaluation, which the step returns with its inputs and results.
  absl::Status Use(size_t bytes) {
    used_ += bytes;
    return Check();
  }
  size_t used() const { return used_; }
  // The most memory at any time.
  size_t peak() const { return peak_; }
  void ReturnTo(size_t used) { used_ = used; }

 private:
  absl::Status Check() {
    peak_ = std::max(peak_, kept_ + used_);
    if (!has_limit() || kept_ + used_ <= limit_) return absl::OkStatus();
    return absl::ResourceExhaustedError(
        absl::StrCat("the query takes more than ", limit_,
                     " bytes of memory: select fewer series, a shorter time or longer steps"));
  }

  const size_t limit_;
  size_t kept_ = 0;
  size_t used_ = 0;
  size_t peak_ = 0;
};

}  // namespace flyball::promql
