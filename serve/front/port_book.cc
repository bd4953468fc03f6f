#include "serve/front/port_book.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scaler/front/hosts/service_name.h"

namespace flyball::serve {

bool PortBook::Keep(const std::string& service, uint16_t port) {
  if (port < first_ || port > last_) return false;
  const auto had = of_.find(service);
  if (had != of_.end()) return had->second == port;
  const auto lot = lots_.find(port);
  if (lot != lots_.end() && !lot->second.service.empty()) return false;
  Give(service, port);
  return true;
}

void PortBook::Give(const std::string& service, uint16_t port) {
  Lot& lot = lots_[port];
  if (!lot.avoided_for.empty()) {
    --avoided_by_namespace_[lot.avoided_for];
    --avoided_;
  }
  lot = {.service = service};
  of_[service] = port;
  ++held_by_namespace_[std::string(front::NamespaceOf(service))];
}

absl::StatusOr<uint16_t> PortBook::Take(const std::string& service, MonotonicTime now) {
  const auto had = of_.find(service);
  if (had != of_.end()) return had->second;
  if (const auto again = AgainFor(service, now)) {
    Give(service, *again);
    return *again;
  }
  const absl::string_view ns = front::NamespaceOf(service);
  const auto held = held_by_namespace_.find(ns);
  const size_t left = size_t{last_} - first_ + 1 - of_.size();
  if (left > 0 && held != held_by_namespace_.end() && held->second >= left) {
    return absl::ResourceExhaustedError(
        absl::StrCat("namespace ", ns, " has ", held->second, " of the ports from ", first_, " to ",
                     last_, ", and gets no more than are left for all: ", left));
  }
  for (uint32_t port = first_; port <= last_; ++port) {
    const Lot& lot = lots_[static_cast<uint16_t>(port)];
    const bool fresh = lot.freed == absl::ZeroDuration();
    if (!lot.service.empty() || (!fresh && lot.freed + kQuarantine > now)) continue;
    Give(service, static_cast<uint16_t>(port));
    return static_cast<uint16_t>(port);
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("all ports from ", first_, " to ", last_, " are taken"));
}

void PortBook::Free(const std::string& service, MonotonicTime now) {
  const auto had = of_.find(service);
  if (had == of_.end()) return;
  std::erase_if(freed_by_namespace_,
                [now](const auto& each) { return each.second.back().when + kQuarantine <= now; });
  lots_[had->second] = {.service = "", .freed = now};
  freed_by_namespace_[std::string(front::NamespaceOf(service))].push_back({had->second, now});
  const auto held = held_by_namespace_.find(front::NamespaceOf(service));
  if (--held->second == 0) held_by_namespace_.erase(held);
  of_.erase(had);
}

void PortBook::Avoid(absl::string_view ns, uint16_t port, MonotonicTime now) {
  if (port < first_ || port > last_) return;
  Lot& lot = lots_[port];
  if (!lot.service.empty()) return;
  if (lot.avoided_for.empty()) {
    size_t& of_namespace = avoided_by_namespace_[std::string(ns)];
    if (of_namespace >= Left()) return;
    ++of_namespace;
    ++avoided_;
    lot.avoided_for = std::string(ns);
  }
  lot.freed = std::max(now, absl::Nanoseconds(1));
}

std::string PortBook::HolderOf(uint16_t port) const {
  const auto lot = lots_.find(port);
  return lot == lots_.end() ? "" : lot->second.service;
}

std::optional<uint16_t> PortBook::AgainFor(const std::string& service, MonotonicTime now) {
  const auto of_namespace = freed_by_namespace_.find(front::NamespaceOf(service));
  if (of_namespace == freed_by_namespace_.end()) return std::nullopt;
  std::deque<Freed>& freed = of_namespace->second;
  while (!freed.empty()) {
    const Freed first = freed.front();
    const Lot& lot = lots_[first.port];
    const bool is_kept =
        lot.service.empty() && lot.freed == first.when && first.when + kQuarantine > now;
    if (is_kept && freed.size() <= kMostFreed) return std::nullopt;
    freed.pop_front();
    if (is_kept) return first.port;
  }
  freed_by_namespace_.erase(of_namespace);
  return std::nullopt;
}

}  // namespace flyball::serve
