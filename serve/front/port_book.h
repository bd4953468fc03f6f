// Assigns ports of the Envoys to services.
//
// Pure. Not thread-safe. A port is kept as long as its service exists, since clients' connections
// and EndpointSlices lead to it, and is given to no other service for an hour after that. But a
// namespace that has freed many within the hour gets the one that it freed first again, since
// whoever may create and delete services could otherwise use up the ports of all. For the same
// reason a namespace gets no more ports than are then left for all: alone it gets half of them, and
// n that take all they can get n / (n + 1) of them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"

namespace flyball::serve {

class PortBook {
 public:
  static constexpr absl::Duration kQuarantine = absl::Hours(1);
  static constexpr size_t kMostFreed = 100;  // of a namespace, within that time

  PortBook(uint16_t first, uint16_t last) : first_(first), last_(last) {}

  // Assigns the port that the service had before, according to its status. False: another service
  // has it, or it is outside the range.
  bool Keep(const std::string& service, uint16_t port);
  // The service's port, or the lowest free one.
  //   kResourceExhausted  all are taken, or the namespace has as many as are left
  absl::StatusOr<uint16_t> Take(const std::string& service, MonotonicTime now);
  void Free(const std::string& service, MonotonicTime now);
  // Keeps the port free for an hour from now, unless a service has it: a Service of that namespace
  // may still lead to it. Whoever may create EndpointSlices could say so of every port, so no more
  // are kept free for a namespace than are then left.
  void Avoid(absl::string_view ns, uint16_t port, MonotonicTime now);
  // "": no service has it.
  std::string HolderOf(uint16_t port) const;

 private:
  struct Lot {
    std::string service;  // "": it was freed
    MonotonicTime freed = absl::ZeroDuration();
    std::string avoided_for = {};  // the namespace; "": none
  };
  struct Freed {
    uint16_t port = 0;
    MonotonicTime when;
  };

  void Give(const std::string& service, uint16_t port);
  // Neither held nor avoided.
  size_t Left() const { return size_t{last_} - first_ + 1 - of_.size() - avoided_; }
  // The port that the namespace freed first, if it has freed many.
  std::optional<uint16_t> AgainFor(const std::string& service, MonotonicTime now);

  uint16_t first_, last_;
  std::map<uint16_t, Lot> lots_;
  std::map<std::string, uint16_t> of_;
  std::map<std::string, size_t, std::less<>> held_by_namespace_;  // how many; none has 0
  std::map<std::string, std::deque<Freed>, std::less<>> freed_by_namespace_;  // the oldest first
  std::map<std::string, size_t, std::less<>> avoided_by_namespace_;           // how many
  size_t avoided_ = 0;                                                        // of all namespaces
};

}  // namespace flyball::serve
