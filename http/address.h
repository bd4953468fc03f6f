// Addresses of machines, as numbers.
//
// Pure.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace flyball::http {

struct IpAddress {
  bool v4 = true;
  std::array<uint8_t, 16> bytes = {};  // the first four for IPv4

  // Decimal IPv4 of four parts, or IPv6 without a zone.
  static std::optional<IpAddress> Parse(absl::string_view text);
  static IpAddress V4(const uint8_t* four_bytes);
  static IpAddress V6(const uint8_t* sixteen_bytes);

  // Whether it is IPv4 written as IPv6: ::ffff:10.0.0.1.
  bool IsMapped() const;
  std::string ToString() const;
  bool operator==(const IpAddress&) const = default;
};

struct Endpoint {
  IpAddress address;
  uint16_t port = 0;

  // Reads what ToString writes, with a port above 0.
  static std::optional<Endpoint> Parse(absl::string_view text);
  std::string ToString() const;  // "10.0.0.1:80", "[fd00::1]:80"
  bool operator==(const Endpoint&) const = default;
};

// Fills the form that system calls take; returns its length.
socklen_t ToSockaddr(const Endpoint& endpoint, sockaddr_storage& out);

}  // namespace flyball::http
