// Decompresses gzip piece by piece, with fixed memory.
//
// Not thread-safe.
#pragma once

#include <zlib.h>

#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace flyball::http {

class Inflater {
 public:
  Inflater();
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Decompresses `packed` and passes the result to `out`, at most 32 KiB at a time, until that
  // returns false.
  // kUnavailable: it is no gzip.
  absl::Status Feed(absl::string_view packed, const std::function<bool(absl::string_view)>& out);

  // Whether the input so far is a complete gzip stream.
  bool AtEnd() const { return at_end_; }

 private:
  z_stream z_ = {};
  bool at_end_ = true;
};

}  // namespace flyball::http
