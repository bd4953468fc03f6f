#include "http/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

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

bool IpAddress::IsMapped() const {
  constexpr uint8_t kPrefix[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return !v4 && std::equal(std::begin(kPrefix), std::end(kPrefix), bytes.begin());
}

std::string IpAddress::ToString() const {
  char text[INET6_ADDRSTRLEN];
  return inet_ntop(v4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof text);
}

std::optional<Endpoint> Endpoint::Parse(absl::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return std::nullopt;
  uint32_t port = 0;
  absl::string_view host = text.substr(0, colon);
  const bool bracketed = absl::ConsumePrefix(&host, "[") && absl::ConsumeSuffix(&host, "]");
  const std::optional<IpAddress> address = IpAddress::Parse(host);
  if (!absl::SimpleAtoi(text.substr(colon + 1), &port) || port == 0 || port > 65535 ||
      !address.has_value() || address->v4 == bracketed) {
    return std::nullopt;
  }
  return Endpoint{*address, static_cast<uint16_t>(port)};
}

std::string Endpoint::ToString() const {
  return address.v4 ? absl::StrCat(address.ToString(), ":", port)
                    : absl::StrCat("[", address.ToString(), "]:", port);
}

socklen_t ToSockaddr(const Endpoint& endpoint, sockaddr_storage& out) {
  out = {};
  if (endpoint.address.v4) {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&out);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(endpoint.port);
    std::memcpy(&v4->sin_addr, endpoint.address.bytes.data(), 4);
    return sizeof *v4;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&out);
  v6->sin6_family = AF_INET6;
  v6->sin6_port = htons(endpoint.port);
  std::memcpy(&v6->sin6_addr, endpoint.address.bytes.data(), 16);
  return sizeof *v6;
}

}  // namespace flyball::http
