// One connected TCP socket, plain or with TLS. Each step takes no longer than its caller allows.
//
// Not thread-safe. After a step has failed the socket must not be used any more. Errors say what
// happened, without the peer's name: kDeadlineExceeded and kCancelled like WaitFor, otherwise
// kUnavailable.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "http/address.h"
#include "http/client/tls_client.h"
#include "http/client/wait.h"

namespace flyball::http {

class Socket {
 public:
  static absl::StatusOr<std::unique_ptr<Socket>> Connect(const Endpoint& to, const Until& until);
  // The kernel still sends what was written, unless Abort was called.
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  // Does the handshake. The peer's certificate must be for `name`, a host name or an address.
  absl::Status StartTls(const TlsClient& tls, const std::string& name, const Until& until);

  // Sends both texts; short ones go into one TLS record and TCP packet.
  absl::Status Write(absl::string_view head, absl::string_view body, const Until& until);

  // Waits until there is something to read: a byte, or the end of the peer's data.
  absl::Status AwaitInput(const Until& until);

  // Reads what has arrived, up to `size` bytes; waits for the first byte. 0: the peer has ended.
  absl::StatusOr<size_t> Read(char* data, size_t size, const Until& until);

  // Whether the next request may use it: the peer has neither sent anything unread nor closed.
  bool Quiet() const;

  // Bytes of all certificates that the peer has shown, and of the names of the authorities that it
  // accepts. They are kept as long as this object; 0: plain.
  size_t PeerCertificateBytes() const;

  // Bytes of what else the peer has sent for TLS, some of which is kept as it came: the last
  // ticket, lists of algorithms.
  size_t OtherPeerBytes() const;

  // After this nothing that was written is sent, not even what the kernel has buffered.
  void Abort();

 private:
  class Tls;
  explicit Socket(int fd);
  absl::Status WritePlain(absl::string_view head, absl::string_view body, const Until& until);

  const int fd_;
  std::unique_ptr<Tls> tls_;  // null: plain
};

}  // namespace flyball::http
