#include "http/client/connection.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "http/client/address_rules.h"
#include "http/client/resolve.h"
#include "http/client/response_reader.h"

namespace flyball::http {
namespace {

constexpr size_t kReadBytes = 32 << 10;

std::string HostHeader(const Url& origin) {
  const bool ipv6 = absl::StrContains(origin.host, ":");
  const std::string host = ipv6 ? absl::StrCat("[", origin.host, "]") : origin.host;
  return origin.port == (origin.tls ? 443 : 80) ? host : absl::StrCat(host, ":", origin.port);
}

}  // namespace

Connection::Connection(const Url& origin, std::shared_ptr<const TlsClient> tls,
                       const TransportOptions& options)
    : origin_(origin), tls_(std::move(tls)), options_(options) {}

absl::Status Connection::Run(const Exchange& exchange, const Until& until) {
  absl::Status status = until.Check();
  if (status.ok() && socket_ == nullptr) status = Connect(until);
  if (status.ok()) status = Talk(exchange, until);
  if (status.ok()) return status;
  if (socket_ != nullptr) socket_->Abort();
  socket_.reset();
  return absl::Status(status.code(), absl::StrCat(origin_.Origin(), ": ", status.message()));
}

bool Connection::WorthKeeping() const {
  // Honest servers show two to four certificates of 1 to 2 KiB, and send tickets of some hundred
  // bytes. A connection keeps them, and a tenant may have many connections.
  constexpr size_t kMost = 8 << 10;
  return PeerCertificateBytes() <= kMost &&
         (socket_ == nullptr || socket_->OtherPeerBytes() <= kMost);
}

size_t Connection::PeerCertificateBytes() const {
  return socket_ == nullptr ? 0 : socket_->PeerCertificateBytes();
}

size_t Connection::IdleBytes() const {
  // The buffers are released, and each byte of small certificates takes up to 30.
  constexpr size_t kTls = 16 << 10, kForEachByte = 30;
  const size_t shown = PeerCertificateBytes();
  return shown == 0 ? 0 : kTls + kForEachByte * shown + socket_->OtherPeerBytes();
}

absl::Status Connection::Connect(const Until& until) {
  Until opened = until;
  opened.deadline = std::min(until.deadline, until.clock.MonotonicNow() + options_.connect_timeout);
  absl::Status status = Dial(opened);
  if (status.ok() && tls_ != nullptr) status = socket_->StartTls(*tls_, origin_.host, opened);
  if (absl::IsDeadlineExceeded(status) && !until.Over()) {
    return absl::UnavailableError("no connection within the time for connecting");
  }
  return status;
}

absl::Status Connection::Dial(const Until& until) {
  ASSIGN_OR_RETURN(const std::vector<Endpoint> endpoints,
                   Resolve(origin_.host, static_cast<uint16_t>(origin_.port), options_.dns, until));
  // The checked address is the one that is connected to, so an attacker gains nothing by changing
  // the name's addresses in between.
  absl::Status status;
  for (size_t i = 0; i < endpoints.size(); ++i) {
    if (options_.addresses != nullptr) {
      const absl::Status allowed = options_.addresses->Check(endpoints[i].address);
      status.Update(allowed);
      if (!allowed.ok()) continue;
    }
    // Each address gets a share of the time, so that one that does not answer leaves some for
    // others.
    Until share = until;
    const absl::Duration left = until.Left();
    share.deadline -= left - left / static_cast<int64_t>(endpoints.size() - i);
    absl::StatusOr<std::unique_ptr<Socket>> socket = Socket::Connect(endpoints[i], share);
    if (socket.ok()) {
      socket_ = *std::move(socket);
      return absl::OkStatus();
    }
    status = socket.status();
    if (absl::IsCancelled(status) || until.Over()) return status;
  }
  return status;
}

std::string Connection::HeadOf(const Exchange& exchange) const {
  std::string head = absl::StrCat(exchange.method, " ", exchange.target,
                                  " HTTP/1.1\r\nHost: ", HostHeader(origin_), "\r\n");
  for (const auto& [name, value] : exchange.headers) {
    absl::StrAppend(&head, name, ": ", value, "\r\n");
  }
  // Servers want a length with these, be it 0.
  const bool always =
      exchange.method == "POST" || exchange.method == "PUT" || exchange.method == "PATCH";
  if (!exchange.body.empty() || always) {
    absl::StrAppend(&head, "Content-Length: ", exchange.body.size(), "\r\n");
  }
  absl::StrAppend(&head, "\r\n");
  return head;
}

absl::Status Connection::Talk(const Exchange& exchange, const Until& until) {
  RETURN_IF_ERROR(socket_->Write(HeadOf(exchange), exchange.body, until));
  ResponseReader reader(exchange.method == "HEAD",
                        {.on_head = exchange.on_head, .on_data = exchange.on_data});
  char buffer[kReadBytes];
  // The answer cannot have arrived yet, so it waits before the first read.
  RETURN_IF_ERROR(socket_->AwaitInput(until));
  while (!reader.done()) {
    RETURN_IF_ERROR(until.Check());  // the deadline also holds for a peer that never pauses
    ASSIGN_OR_RETURN(const size_t size, socket_->Read(buffer, sizeof buffer, until));
    RETURN_IF_ERROR(size == 0 ? reader.End() : reader.Feed(absl::string_view(buffer, size)));
  }
  if (!reader.keep_alive()) {
    socket_->Abort();
    socket_.reset();
  }
  return absl::OkStatus();
}

}  // namespace flyball::http
