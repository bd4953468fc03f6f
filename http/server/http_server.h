// HTTP/1.1 over TLS: accepts, reads requests, passes them to a function, writes its answers.
//
// Threads: one accepts, handles new connections (newcomers.h) and, once a second, ends connections
// that have timed out. The others wait for any connection that can continue (event_workers.h): the
// thread that gets it reads without waiting and, once a request is complete, answers it. A
// connection that is idle, in the middle of a handshake, slow to send its request or slow to read
// its answer occupies no thread, so such connections do not delay others.
//
// Limits: ListenOptions. What exceeds one is counted (`counters`) and never ends the process; if
// connections are too many or take too much memory, quiet ones make room (connection_set.h).
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "http/server/message.h"
#include "http/server/options.h"
#include "http/server/tls.h"

namespace flyball::http {

class HttpServer {
 public:
  // Called on worker threads, at most one call a connection at a time.
  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  struct Counters {
    std::atomic<uint64_t> accepted{0};
    std::atomic<uint64_t> refused{0};           // all are being served, or no file descriptor left
    std::atomic<uint64_t> handshake_errors{0};  // and handshakes that took too long
    std::atomic<uint64_t> bad_requests{0};      // answered 400, 413, 431 or 505
    std::atomic<uint64_t> refused_requests{0};  // answered 429: no room for their heads
    std::atomic<uint64_t> ended_for_room{0};    // quiet connections, for others
    std::atomic<size_t> connection_bytes{0};    // approximate memory of all
    std::atomic<int64_t> open{0};
    std::atomic<int64_t> workers{0};
  };

  // `tls` and `clock` outlive the server.
  HttpServer(ListenOptions options, const TlsCertificates* tls, Clock* clock, Handler handler);
  ~HttpServer();  // ends everything at once

  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // kUnavailable: the address cannot be bound, with the reason; kResourceExhausted: no thread can
  // be made. SIGPIPE is ignored from here on, unless the process handles it.
  absl::Status Start();
  int port() const;

  // Stops listening, lets requests that have begun be answered, ends idle connections; returns when
  // none is left or after `limit`, when the rest is cut off.
  void Drain(absl::Duration limit);

  // Counts memory in which an answer is made, until the result is gone; quiet connections make room
  // for it. To be called while a request is answered.
  std::shared_ptr<const void> CountAnswer(size_t bytes);

  const Counters& counters() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// As in `Sun, 06 Nov 1994 08:49:37 GMT`.
std::string HttpDate(absl::Time time);

}  // namespace flyball::http
