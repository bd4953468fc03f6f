#include "http/client/resolve.h"

#include <ares.h>
#include <netinet/in.h>
#include <sys/time.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace flyball::http {
namespace {

constexpr size_t kMostAddresses = 16;
// The first timeout of each server and question, which is what a lost packet costs; c-ares doubles
// it with each try.
constexpr int kFirstTryMs = 1500;
constexpr int kTries = 3;

struct Answer {
  bool there = false;
  int status = ARES_SUCCESS;
  uint16_t port = 0;
  std::vector<Endpoint> endpoints;
};

void Take(const ares_addrinfo& found, Answer& answer) {
  for (const ares_addrinfo_node* node = found.nodes; node != nullptr; node = node->ai_next) {
    if (answer.endpoints.size() == kMostAddresses) return;
    if (node->ai_family == AF_INET) {
      const auto* v4 = reinterpret_cast<const sockaddr_in*>(node->ai_addr);
      answer.endpoints.push_back(
          {IpAddress::V4(reinterpret_cast<const uint8_t*>(&v4->sin_addr)), answer.port});
    } else if (node->ai_family == AF_INET6) {
      const auto* v6 = reinterpret_cast<const sockaddr_in6*>(node->ai_addr);
      answer.endpoints.push_back({IpAddress::V6(v6->sin6_addr.s6_addr), answer.port});
    }
  }
}

// Called in ares_process_fd, or by the channel's destructor if there is no answer by then.
void OnAnswer(void* to, int status, int /*timeouts*/, ares_addrinfo* found) {
  Answer& answer = *static_cast<Answer*>(to);
  answer.there = true;
  answer.status = status;
  if (found == nullptr) return;
  Take(*found, answer);
  ares_freeaddrinfo(found);
}

struct ChannelDeleter {
  void operator()(ares_channeldata* channel) const { ares_destroy(channel); }
};
using Channel = std::unique_ptr<ares_channeldata, ChannelDeleter>;

absl::Status CannotResolve(int status) {
  return absl::UnavailableError(
      absl::StrCat("the name cannot be resolved: ", ares_strerror(status)));
}

absl::StatusOr<Channel> OpenChannel(const DnsSettings& dns) {
  static std::once_flag once;
  std::call_once(once, [] { ares_library_init(ARES_LIB_INIT_ALL); });
  ares_options options = {};
  options.timeout = kFirstTryMs;
  options.tries = kTries;
  int given = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES;
  if (!dns.resolv_conf.empty()) {
    options.resolvconf_path = const_cast<char*>(dns.resolv_conf.c_str());
    given |= ARES_OPT_RESOLVCONF;
  }
  ares_channel made = nullptr;
  int status = ares_init_options(&made, &options, given);
  Channel channel(made);
  if (status == ARES_SUCCESS && !dns.servers.empty()) {
    status = ares_set_servers_ports_csv(made, dns.servers.c_str());
  }
  if (status != ARES_SUCCESS) return CannotResolve(status);
  return channel;
}

// Waits once for a server, or for the time at which c-ares wants to ask again.
absl::Status Step(ares_channel channel, const Until& until) {
  ares_socket_t sockets[ARES_GETSOCK_MAXNUM];
  const int wanted = ares_getsock(channel, sockets, ARES_GETSOCK_MAXNUM);
  std::vector<pollfd> fds;
  for (int i = 0; i < ARES_GETSOCK_MAXNUM; ++i) {
    const int events = (ARES_GETSOCK_READABLE(wanted, i) ? POLLIN : 0) |
                       (ARES_GETSOCK_WRITABLE(wanted, i) ? POLLOUT : 0);
    if (events != 0) fds.push_back({sockets[i], static_cast<short>(events), 0});
  }
  Until again = until;
  timeval left;
  if (const timeval* next = ares_timeout(channel, nullptr, &left); next != nullptr) {
    again.deadline =
        std::min(again.deadline, until.clock.MonotonicNow() + absl::DurationFromTimeval(*next));
  }
  const absl::Status waited = WaitFor(absl::MakeSpan(fds), again);
  if (!waited.ok() && (!absl::IsDeadlineExceeded(waited) || until.Over())) return waited;
  bool any = false;
  for (const pollfd& fd : fds) {
    if (fd.revents == 0) continue;
    any = true;
    ares_process_fd(channel, (fd.revents & ~POLLOUT) != 0 ? fd.fd : ARES_SOCKET_BAD,
                    (fd.revents & POLLOUT) != 0 ? fd.fd : ARES_SOCKET_BAD);
  }
  if (!any) ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Endpoint>> Resolve(const std::string& host, uint16_t port,
                                              const DnsSettings& dns, const Until& until) {
  if (const std::optional<IpAddress> address = IpAddress::Parse(host)) {
    return std::vector<Endpoint>{{*address, port}};
  }
  Answer answer;  // outlives the channel
  answer.port = port;
  ASSIGN_OR_RETURN(const Channel channel, OpenChannel(dns));
  const ares_addrinfo_hints hints = {
      .ai_flags = 0, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_protocol = 0};
  ares_getaddrinfo(channel.get(), host.c_str(), nullptr, &hints, OnAnswer, &answer);
  while (!answer.there) RETURN_IF_ERROR(Step(channel.get(), until));
  if (answer.endpoints.empty()) {
    return CannotResolve(answer.status == ARES_SUCCESS ? ARES_ENODATA : answer.status);
  }
  return std::move(answer.endpoints);
}

}  // namespace flyball::http
