// The HTTP client for everything that the program calls: the API server, Prometheus, webhooks.
//
// Thread-safe: connections are kept alive and pooled; a call takes one for its duration, and is
// made by the caller's thread alone.
//
// Time: a call has one deadline for all that it does: the lookup of the name, connecting, the TLS
// handshake, a second try, redirects. Do returns within call.timeout of its start (and the few
// milliseconds until the thread runs), and from then on nothing of the call is sent: its connection
// is reset, and what the kernel still held is dropped. What was sent before may have been received,
// so a write that failed may still take effect. A caller that must not write after some point in
// time (the scaler's fence) must not start a call later than `timeout` before it.
//
// Memory: a call holds no more than max_body_bytes and, besides, 300 KiB of head and buffers,
// whatever the server sends (response_reader.h has the limits of heads). The body counts after
// decompression.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/byte_budget.h"
#include "base/clock.h"
#include "http/client/dns_settings.h"
#include "http/headers.h"

namespace flyball::http {

class AddressRules;  // address_rules.h

struct HttpCall {
  std::string method = "GET";
  std::string target = "/";  // path and query, already encoded; joined to the transport's base path
  Headers headers;
  std::string body;
  std::string content_type;  // with a body
  // A POST or PATCH that may reach the server twice without harm (a query, a review): like a GET it
  // is sent once more if a kept connection turns out to be closed.
  bool repeatable = false;
  // A redirect that asks for a GET instead is not followed but returned: what the GET would bring
  // does not say that anything was written.
  bool writes = false;
  absl::Duration timeout = absl::Seconds(30);
  absl::Duration head_timeout = absl::InfiniteDuration();  // for a stream: until its head arrives
  size_t max_body_bytes = 64u << 20;
  // Asked before the body in Do grows to that many bytes; false: that is too large. Null: only
  // max_body_bytes counts.
  std::function<bool(size_t bytes)> admit = nullptr;
};

struct HttpAnswer {
  int status = 0;
  Headers headers;
  std::string body;  // after decompression

  absl::string_view Header(absl::string_view name) const { return FindHeader(headers, name); }
};

class HttpTransport {
 public:
  virtual ~HttpTransport() = default;

  // Any status code is a value, but redirects are followed (at most 5; another host gets no
  // credentials, no client certificate and none of options.headers). Errors, none of which shows
  // anything that the server wrote:
  //   kUnavailable         refused, reset, TLS failure, name not found, no HTTP
  //   kCancelled           Shutdown was called
  //   kDeadlineExceeded    no whole answer within the timeout
  //   kResourceExhausted   the answer is larger than max_body_bytes or than call.admit allows, or
  //                        its head than its limits
  //   kPermissionDenied    the server's address is none that options.addresses allow
  //   kFailedPrecondition  a redirect to another origin, without options.leave_origin
  virtual absl::StatusOr<HttpAnswer> Do(const HttpCall& call) = 0;

  // Passes the body of a 200 answer to `on_data` piece by piece, first an empty one as soon as the
  // head has arrived, until it returns false or the peer ends (both are OK), the connection is cut
  // (kUnavailable), nothing came for call.timeout (kDeadlineExceeded) or Shutdown was called
  // (kCancelled). Any other status: the answer's body as the error text, with the code of
  // HttpStatusCode. Redirects are not followed.
  virtual absl::Status Stream(const HttpCall& call,
                              const std::function<bool(absl::string_view)>& on_data) = 0;

  // Whether Do is answered within this process, so that it never waits.
  virtual bool InProcess() const { return false; }

  // Ends the calls under way and refuses new ones, so that a watch thread can be joined.
  virtual void Shutdown() = 0;
};

// 400 kInvalidArgument, 401 kUnauthenticated, 403 kPermissionDenied, 404 kNotFound, 405
// kUnimplemented, 409 kAborted, 410 kOutOfRange (a watch's resourceVersion is too old), 429
// kResourceExhausted, 504 kDeadlineExceeded, other 4xx kFailedPrecondition, other 5xx kUnavailable,
// anything else kUnknown.
absl::StatusCode HttpStatusCode(int status);

// The server's address and the credentials for it. Files are re-read when they change (checked at
// most once a second); if a certificate does not load, the last good one stays in use. Proxies are
// not used. If several credentials are set, the first of these is sent: token file, token,
// username, user in the URL.
struct TransportOptions {
  std::string url;      // scheme://[user:password@]host:port[/base/path]
  std::string ca_file;  // PEM; "" = the system's roots
  std::string ca_data;  // PEM, instead of a file
  std::string client_cert_file, client_key_file;
  std::string client_cert_data, client_key_data;
  std::string token_file;  // re-read on rotation, trimmed
  std::string token;
  std::string token_scheme = "Bearer";
  std::string username, password;  // Basic
  std::string password_file;       // instead of a password; re-read like token_file
  std::string server_name;         // for TLS, if it is not the URL's host
  bool insecure_skip_verify = false;
  Headers headers;                                    // added to each call
  absl::Duration connect_timeout = absl::Seconds(5);  // name, connection and TLS together
  int max_idle_connections = 32;
  // For the memory of idle connections: next to nothing for a plain one, and with TLS also what the
  // server has shown. One for which there is no room is closed. Null: there is no limit.
  std::shared_ptr<ByteBudget> idle_memory;
  bool follow_redirects = true;  // false: they are answers like others
  bool leave_origin = true;      // redirects to another scheme, host or port are followed
  // Which addresses may be connected to; null: all. What is checked is what the name stands for at
  // the time of connecting.
  std::shared_ptr<const AddressRules> addresses;
  DnsSettings dns;
};

// kInvalidArgument says what is wrong with the URL or a file; no message ever shows a password or
// token. From here on SIGPIPE is ignored, since a write to a closed TLS connection raises it. The
// clock outlives the transport.
absl::StatusOr<std::unique_ptr<HttpTransport>> MakeHttpTransport(TransportOptions options,
                                                                 Clock& clock);

}  // namespace flyball::http
