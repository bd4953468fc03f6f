// One HTTP client for everything the program calls: the API server, Prometheus, webhooks.
//
// Thread-safe: connections are kept alive and pooled; a call takes one for its duration. Every call
// has a deadline and a limit on the answer's size. The only place that includes the HTTP library's
// client.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace flyball::kube {

using HeaderList = std::vector<std::pair<std::string, std::string>>;

struct HttpCall {
  std::string method = "GET";
  std::string target = "/";  // path and query, already encoded; joined to the transport's base path
  HeaderList headers;
  std::string body;
  std::string content_type;  // with a body
  absl::Duration timeout = absl::Seconds(30);
  size_t max_body_bytes = 64u << 20;
};

struct HttpAnswer {
  int status = 0;
  HeaderList headers;
  std::string body;  // gzip already undone

  // First header of that name, any case; "" if absent.
  absl::string_view Header(absl::string_view name) const;
};

class HttpTransport {
 public:
  virtual ~HttpTransport() = default;

  // Any status code is a value. Errors:
  //   kUnavailable        refused, reset, TLS failure, name not found
  //   kDeadlineExceeded   no whole answer within the timeout
  //   kResourceExhausted  the answer is larger than max_body_bytes
  virtual absl::StatusOr<HttpAnswer> Do(const HttpCall& call) = 0;

  // Hands the body of a 200 answer to `on_data` piece by piece until it returns false, the peer
  // ends, or nothing came for call.timeout. Any other status: the answer's body as the error text
  // (404, 410 and 403 keep their meaning).
  virtual absl::Status Stream(const HttpCall& call,
                              const std::function<bool(absl::string_view)>& on_data) = 0;

  // Ends the calls under way and refuses new ones, so that a watch thread can be joined.
  virtual void Shutdown() = 0;
};

// Where to and as whom. Files are re-read when they change.
struct TransportOptions {
  std::string url;      // scheme://[user:password@]host:port[/base/path]
  std::string ca_file;  // PEM; "" = the system's roots
  std::string ca_data;  // PEM, instead of a file
  std::string client_cert_file, client_key_file;
  std::string client_cert_data, client_key_data;
  std::string token_file;  // re-read on rotation, trimmed
  std::string token;
  std::string username, password;  // Basic
  std::string server_name;         // for TLS, when it is not the URL's host
  bool insecure_skip_verify = false;
  HeaderList headers;  // added to each call
  absl::Duration connect_timeout = absl::Seconds(5);
  int max_idle_connections = 32;
};

absl::StatusOr<std::unique_ptr<HttpTransport>> MakeHttpTransport(TransportOptions options);

}  // namespace flyball::kube
