// How many names fit into a query that is part of a URL: proxies in front of Prometheus refuse long
// ones, nginx those beyond 8 KiB.
//
// Pure. A query grows in proportion to its names, as often as the template repeats them. Its length
// is estimated from two short queries, so that no long one is made in vain.
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

  // Unlimited room.
  NamesRoom() = default;
  // `max_bytes` limits the escaped query, of which `make` makes examples; 0, or no query: no limit.
  NamesRoom(size_t max_bytes, MakeQuery make);

  // The room for all names.
  size_t bytes() const { return bytes_; }
  // The room that one name takes.
  size_t Of(absl::string_view name) const;

 private:
  size_t bytes_ = std::numeric_limits<size_t>::max();
  size_t times_ = 0;  // how often the query contains each name
};

}  // namespace flyball::adapter
