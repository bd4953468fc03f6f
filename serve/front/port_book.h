// Assigns ports of the Envoys to services.
//
// Pure. Not thread-safe. A port is kept as long as its service exists, since clients' connections
// and EndpointSlices lead to it, and is given to no other service for an hour after that.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"

namespace flyball::serve {

class PortBook {
 public:
  static constexpr absl::Duration kQuarantine = absl::Hours(1);

  PortBook(uint16_t first, uint16_t last) : first_(first), last_(last) {}

  // The service had it before, as its status says. False: another one has it, or it is not ours to
  // give.
  bool Keep(const std::string& service, uint16_t port);
  // The service's port, or the lowest that is free.
  //   kResourceExhausted  all are taken
  absl::StatusOr<uint16_t> Take(const std::string& service, MonotonicTime now);
  void Free(const std::string& service, MonotonicTime now);

 private:
  struct Lot {
    std::string service;  // "": it was freed
    MonotonicTime freed = absl::ZeroDuration();
  };
  uint16_t first_, last_;
  std::map<uint16_t, Lot> lots_;
  std::map<std::string, uint16_t> of_;
};

}  // namespace flyball::serve
