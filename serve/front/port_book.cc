#include "serve/front/port_book.h"

#include "absl/strings/str_cat.h"

namespace flyball::serve {

bool PortBook::Keep(const std::string& service, uint16_t port) {
  if (port < first_ || port > last_) return false;
  const auto had = of_.find(service);
  if (had != of_.end()) return had->second == port;
  const auto lot = lots_.find(port);
  if (lot != lots_.end() && !lot->second.service.empty()) return false;
  lots_[port] = {.service = service};
  of_[service] = port;
  return true;
}

absl::StatusOr<uint16_t> PortBook::Take(const std::string& service, MonotonicTime now) {
  const auto had = of_.find(service);
  if (had != of_.end()) return had->second;
  for (uint32_t port = first_; port <= last_; ++port) {
    Lot& lot = lots_[static_cast<uint16_t>(port)];
    const bool fresh = lot.freed == absl::ZeroDuration();
    if (!lot.service.empty() || (!fresh && lot.freed + kQuarantine > now)) continue;
    lot = {.service = service};
    of_[service] = static_cast<uint16_t>(port);
    return static_cast<uint16_t>(port);
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("all ports from ", first_, " to ", last_, " are taken"));
}

void PortBook::Free(const std::string& service, MonotonicTime now) {
  const auto had = of_.find(service);
  if (had == of_.end()) return;
  lots_[had->second] = {.service = "", .freed = now};
  of_.erase(had);
}

}  // namespace flyball::serve
