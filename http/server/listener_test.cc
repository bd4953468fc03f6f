#include "http/server/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include <gtest/gtest.h>

namespace flyball::http {
namespace {

// What Accept says of one who connects from `source`.
uint64_t OriginOf(const Listener& listener, const std::string& source) {
  const int peer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, source.c_str(), &address.sin_addr);
  EXPECT_EQ(bind(peer, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  address.sin_port = htons(static_cast<uint16_t>(listener.port));
  EXPECT_EQ(connect(peer, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  pollfd poller = {listener.fd, POLLIN, 0};
  EXPECT_EQ(poll(&poller, 1, 5000), 1);
  uint64_t origin = 0;
  const int fd = Accept(listener.fd, &origin);
  EXPECT_GE(fd, 0);
  close(fd);
  close(peer);
  return origin;
}

TEST(AcceptTest, TellsOriginsApart) {
  for (const std::string bind_address : {"127.0.0.1", "0.0.0.0", "::"}) {
    const absl::StatusOr<Listener> listener = Listen({.bind_address = bind_address, .port = 0});
    if (bind_address == "::" && !listener.ok()) continue;  // a machine without IPv6
    ASSERT_TRUE(listener.ok()) << listener.status();
    const uint64_t one = OriginOf(*listener, "127.0.0.1");
    EXPECT_NE(one, 0u);
    EXPECT_NE(one, OriginOf(*listener, "127.0.0.2"));
    EXPECT_EQ(one, OriginOf(*listener, "127.0.0.1"));
    uint64_t nobody = 0;
    EXPECT_EQ(Accept(listener->fd, &nobody), -1);
    close(listener->fd);
  }
}

// Kubelets and API servers of clusters with IPv6 alone ask a pod at its IPv6 address.
TEST(ListenTest, EitherWildcardAddressIsBothFamilies) {
  for (const std::string bind_address : {"0.0.0.0", "::"}) {
    const absl::StatusOr<Listener> listener = Listen({.bind_address = bind_address, .port = 0});
    if (bind_address == "::" && !listener.ok()) continue;  // a machine without IPv6
    ASSERT_TRUE(listener.ok()) << listener.status();
    const int peer = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in6 address = {};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    address.sin6_port = htons(static_cast<uint16_t>(listener->port));
    const bool reached =
        connect(peer, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    EXPECT_TRUE(reached || errno != ECONNREFUSED) << bind_address;
    close(peer);
    close(listener->fd);
  }
}

// Targets and triggers take descriptors too, as many as there are of them.
TEST(ConnectionsPossibleTest, TheProcessMayOpenAllThatItIsAllowed) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low = {std::min<rlim_t>(1200, before.rlim_max), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(ConnectionsPossible(100), 100u);
  rlimit after = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, std::min<rlim_t>(before.rlim_max, 1 << 20));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace flyball::http
