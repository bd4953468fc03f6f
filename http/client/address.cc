#include "http/client/address.h"

#include <arpa/inet.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace flyball::http {

std::optional<IpAddress> IpAddress::Parse(absl::string_view text) {
  const std::string terminated(text);
  uint8_t bytes[16];
  if (inet_pton(AF_INET, terminated.c_str(), bytes) == 1) return V4(bytes);
  if (inet_pton(AF_INET6, terminated.c_str(), bytes) == 1) return V6(bytes);
  return std::nullopt;
}

IpAddress IpAddress::V4(const uint8_t* four_bytes) {
  IpAddress out;
  std::copy_n(four_bytes, 4, out.bytes.begin());
  return out;
}

IpAddress IpAddress::V6(const uint8_t* sixteen_bytes) {
  IpAddress out{.v4 = false};
  std::copy_n(sixteen_bytes, 16, out.bytes.begin());
  return out;
}

std::string IpAddress::ToString() const {
  char text[INET6_ADDRSTRLEN];
  return inet_ntop(v4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof text);
}

std::string Endpoint::ToString() const {
  return address.v4 ? absl::StrCat(address.ToString(), ":", port)
                    : absl::StrCat("[", address.ToString(), "]:", port);
}

}  // namespace flyball::http
