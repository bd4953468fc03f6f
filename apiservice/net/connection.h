// One accepted connection: TLS over a non-blocking socket, and the requests read from it.
//
// Used by one thread at a time. Reads never wait; a write waits for a slow peer, up to a limit.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "apiservice/net/request_reader.h"
#include "apiservice/net/tls.h"
#include "base/clock.h"

namespace flyball::apiservice {

class Connection {
 public:
  enum class Io { kOk, kWantRead, kWantWrite, kClosed };

  // Takes over `fd`.
  Connection(int fd, std::shared_ptr<const TlsBundle> bundle, const RequestLimits& limits);
  ~Connection();

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fd() const { return fd_; }
  bool handshake_done() const { return handshake_done_; }

  // Goes on with the handshake.
  Io Handshake();
  // Reads what is there into the reader; kOk: something came.
  Io Read();
  // Whether decrypted or buffered bytes wait that the socket will not tell of.
  bool HasBuffered() const;
  // Sends everything; false if the peer is gone or slower than `timeout`.
  bool Write(absl::string_view bytes, absl::Duration timeout);
  // Says that no more will be sent.
  void Finish();
  // Throws away what the peer still sends; true once it has ended.
  bool DiscardInput();

  RequestReader reader;

  // ---- bookkeeping of the server that owns it ----
  MonotonicTime message_started = absl::ZeroDuration();
  bool lingering = false;   // answered for the last time; only waiting for the peer to end
  bool registered = false;  // known to epoll
  // When the sweeper may end it, in nanoseconds of the monotonic clock; kNever while it is served.
  static constexpr int64_t kNever = INT64_MAX;
  std::atomic<int64_t> deadline_ns{kNever};
  std::atomic<bool> idle{true};  // parked with no part of a request read

 private:
  const int fd_;
  const std::shared_ptr<const TlsBundle> bundle_;
  ssl_st* ssl_;
  bool handshake_done_ = false;
  bool broken_ = false;  // after a fatal error nothing more may be sent
};

}  // namespace flyball::apiservice
