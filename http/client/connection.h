// One kept-alive HTTP/1.1 connection.
//
// Internal to transport.cc. Used by one thread at a time. Errors never name credentials.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "http/client/socket.h"
#include "http/client/tls_client.h"
#include "http/client/transport.h"
#include "http/client/url.h"
#include "http/client/wait.h"

namespace flyball::http {

// One request on a connection.
struct Exchange {
  std::string method;
  std::string target;
  Headers headers;
  absl::string_view body;
  // Called once, before the body; false ends the exchange well.
  std::function<bool(int status, Headers headers)> on_head;
  // Called with each piece of the body; false ends the exchange well.
  std::function<bool(absl::string_view)> on_data;
};

class Connection {
 public:
  // `tls` is null for plain http. Connects at the first exchange, as the options say, which outlive
  // the connection.
  Connection(const Url& origin, std::shared_ptr<const TlsClient> tls,
             const TransportOptions& options);

  // Does everything from the name's lookup to the last byte of the answer before `until` is over,
  // which `on_head` and `on_data` may extend. Once it has returned, nothing more of the request is
  // sent.
  //   kUnavailable         with the reason
  //   kPermissionDenied    an address that is not allowed
  //   kResourceExhausted   more around the body than ResponseReader takes
  //   kDeadlineExceeded, kCancelled
  absl::Status Run(const Exchange& exchange, const Until& until);

  // Whether it is open, as far as is known here.
  bool Open() const { return socket_ != nullptr; }
  // Whether it takes no more memory while it waits for the next exchange than a connection to an
  // honest server does.
  bool WorthKeeping() const;
  // About how many bytes of memory it takes meanwhile, beside what each plain connection takes.
  size_t IdleBytes() const;
  // Whether the next exchange can use the open connection: the peer has sent nothing since the last
  // answer; a peer that closes does.
  bool Reusable() const { return Open() && socket_->Quiet(); }

 private:
  absl::Status Connect(const Until& until);
  absl::Status Dial(const Until& until);
  absl::Status Talk(const Exchange& exchange, const Until& until);
  std::string HeadOf(const Exchange& exchange) const;
  // Of the certificates that the server has shown, and of the names of the authorities from which
  // it takes some. They are kept while it is open.
  size_t PeerCertificateBytes() const;

  const Url origin_;
  const std::shared_ptr<const TlsClient> tls_;
  const TransportOptions& options_;
  std::unique_ptr<Socket> socket_;
};

}  // namespace flyball::http
