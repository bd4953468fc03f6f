#include "http/server/listener.h"

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "http/address.h"

namespace flyball::http {
namespace {

constexpr int kBacklog = 4096;

absl::StatusOr<Listener> ListenOn(const IpAddress& ip, const ListenOptions& options) {
  sockaddr_storage address;
  const socklen_t size = ToSockaddr({ip, static_cast<uint16_t>(options.port)}, address);
  Listener listener;
  listener.fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const auto fail = [&] {
    const std::string cause = std::strerror(errno);
    if (listener.fd >= 0) close(listener.fd);
    return absl::UnavailableError(absl::StrCat("cannot listen on ", options.bind_address, " port ",
                                               options.port, ": ", cause));
  };
  if (listener.fd < 0) return fail();
  const int on = 1;
  // Without it a restart would wait for the old connections' TIME_WAIT; Go sets it too.
  setsockopt(listener.fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (options.reuse_port) setsockopt(listener.fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
  // "::" means IPv4 too, whatever the machine's default.
  const int off = 0;
  if (!ip.v4) {
    setsockopt(listener.fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  }
  if (bind(listener.fd, reinterpret_cast<const sockaddr*>(&address), size) != 0) return fail();
  if (listen(listener.fd, kBacklog) != 0) return fail();
  sockaddr_storage bound = {};
  socklen_t length = sizeof(bound);
  if (getsockname(listener.fd, reinterpret_cast<sockaddr*>(&bound), &length) != 0) return fail();
  listener.port =
      ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port
                                        : reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
  return listener;
}

}  // namespace

absl::StatusOr<Listener> Listen(const ListenOptions& options) {
  const std::optional<IpAddress> ip = IpAddress::Parse(options.bind_address);
  if (!ip.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--bind-address \"", options.bind_address, "\" is not an IP address"));
  }
  if (*ip == IpAddress::Parse("0.0.0.0")) {
    const absl::StatusOr<Listener> both = ListenOn(*IpAddress::Parse("::"), options);
    if (both.ok()) return both;
  }
  return ListenOn(*ip, options);
}

int Accept(int listener, uint64_t* origin) {
  sockaddr_storage peer = {};
  socklen_t length = sizeof(peer);
  const int fd =
      accept4(listener, reinterpret_cast<sockaddr*>(&peer), &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
  *origin = 0;
  if (peer.ss_family == AF_INET) {
    std::memcpy(origin, &reinterpret_cast<const sockaddr_in*>(&peer)->sin_addr, sizeof(in_addr));
  } else if (peer.ss_family == AF_INET6) {
    const in6_addr& address = reinterpret_cast<const sockaddr_in6*>(&peer)->sin6_addr;
    const size_t from = IN6_IS_ADDR_V4MAPPED(&address) ? sizeof(uint64_t) : 0;
    std::memcpy(origin, address.s6_addr + from, sizeof(*origin));
  }
  return fd;
}

size_t ConnectionsPossible(size_t wanted) {
  constexpr rlim_t kOwn = 1024;
  constexpr rlim_t kMost = 1 << 20;  // a hard limit may be none
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  const rlimit raised = {std::min(kMost, limit.rlim_max), limit.rlim_max};
  if (limit.rlim_cur < raised.rlim_cur && setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  const rlim_t left = std::max(limit.rlim_cur / 2, limit.rlim_cur - std::min(kOwn, limit.rlim_cur));
  return std::min<size_t>(wanted, left);
}

}  // namespace flyball::http
