// Counts the memory that one query takes, against a limit.
//
// Not thread-safe; one for each query. Bytes are only counted, and about: whoever makes something
// that grows with the series or samples says so as it grows, before there is much more of it than
// is allowed.
#pragma once

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace flyball::promql {

class QueryMemory {
 public:
  explicit QueryMemory(size_t limit) : limit_(limit) {}  // 0: no limit, and nothing need be counted

  bool has_limit() const { return limit_ != 0; }
  // Where there is a limit.
  size_t left() const { return limit_ - std::min(limit_, kept_ + used_); }

  // What stays until it is dropped.
  absl::Status Keep(size_t bytes) {
    kept_ += bytes;
    return Check();
  }
  void Drop(size_t bytes) { kept_ -= bytes; }

  // What a step of the evaluation takes; the step returns it with its own inputs and results.
  absl::Status Use(size_t bytes) {
    used_ += bytes;
    return Check();
  }
  size_t used() const { return used_; }
  // The most that it took.
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
