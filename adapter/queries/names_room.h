// How many names fit into a query that stands in a URL: proxies in front of Prometheus refuse long
// ones, nginx those beyond 8 KiB.
//
// Pure. A query grows in proportion to its names, each time that the template repeats them. What a
// query takes is estimated from two small ones, so that no long one is made in vain.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace flyball::adapter {

class NamesRoom {
 public:
  using MakeQuery =
      absl::FunctionRef<absl::StatusOr<std::string>(const std::vector<std::string>& names)>;

  // Room without end.
  NamesRoom() = default;
  // `max_bytes` of the escaped query, of which `make` makes examples; 0: without end, as where
  // there is no query.
  NamesRoom(size_t max_bytes, MakeQuery make);

  // For all names together.
  size_t bytes() const { return bytes_; }
  // What one name takes.
  size_t Of(absl::string_view name) const;

 private:
  size_t bytes_ = std::numeric_limits<size_t>::max();
  size_t times_ = 0;  // that each name occurs
};

}  // namespace flyball::adapter
