// One accepted connection: TLS over a non-blocking socket, the requests read from it, and the part
// of an answer that its peer has not taken yet.
//
// Used by one thread at a time, except for the atomics; nothing here waits.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "http/server/request_reader.h"
#include "http/server/tls.h"
#include "http/socket_reads.h"

namespace flyball::http {

class ServerConnection {
 public:
  // kMore: the peer may take more at once, but others should get their turn first.
  enum class Io { kOk, kMore, kWantRead, kWantWrite, kClosed };

  // How much of an answer is sent at once.
  static constexpr size_t kPieceBytes = 256 << 10;

  // Takes over `fd`.
  ServerConnection(int fd, std::shared_ptr<const TlsBundle> bundle, const RequestLimits& limits);
  ~ServerConnection();

  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;

  int fd() const { return fd_; }
  bool handshake_done() const { return handshake_done_; }

  // Makes the TLS state. To be called once the peer has sent something, so that a peer that only
  // connects costs no more than a socket. False: there is no memory.
  bool StartTls();
  bool has_tls() const { return ssl_ != nullptr; }
  // Continues the handshake.
  Io Handshake();
  // Reads what has arrived into the reader; kOk: something came.
  Io Read();
  // Whether there are decrypted or buffered bytes that the socket does not report as readable.
  bool HasBuffered() const;
  // Whether the peer has begun to change its keys, or has not taken the answer to that.
  bool changing_keys() const;

  // Sends `front`, then the body (may be nullptr) from `body_at` on. kOk: the peer took all of it;
  // kMore, kWantRead, kWantWrite: what it did not take is kept for SendRest.
  Io Send(absl::string_view front, std::shared_ptr<const std::string> body, size_t body_at);
  Io SendRest();
  bool sending() const { return !unsent_.front.empty() || unsent_.body != nullptr; }
  const std::shared_ptr<const std::string>& unsent_body() const { return unsent_.body; }

  // Says that no more will be sent, and frees the TLS state and the peer's certificates.
  void Finish();
  // Discards what the peer still sends; true once it has ended.
  bool DiscardInput();

  // Its approximate memory, without the unsent body, which others may hold too.
  size_t Footprint() const;

  RequestReader reader;

  // ---- bookkeeping of the server that owns it ----
  uint64_t origin = 0;                                   // of the peer's address (listener.h)
  MonotonicTime message_started = absl::ZeroDuration();  // of a handshake, a request, an answer
  bool lingering = false;   // the last answer was sent; waits only for the peer to end
  bool registered = false;  // known to epoll
  bool keep_alive = false;  // after the answer that is being sent
  bool refused = false;     // there is no room for its request

  // ---- fields of the set that it is in, which other threads read ----
  // When the sweeper may end it, in nanoseconds of the monotonic clock; kNever while it is served;
  // kEnded once it was told to end: whoever serves it next closes it.
  static constexpr int64_t kNever = INT64_MAX;
  static constexpr int64_t kEnded = INT64_MIN;
  std::atomic<int64_t> deadline_ns{kNever};
  std::atomic<int64_t> quiet_since_ns{0};  // when it was served last
  std::atomic<bool> idle{true};            // parked with nothing begun
  std::atomic<bool> yielded{false};        // parked to let others be served, not for its peer
  std::atomic<size_t> weight{0};           // its footprint when it was last weighed
  // Used only by the set, under its lock: the body when weighed, and the weight with its share of
  // it.
  std::shared_ptr<const std::string> weighed_body;
  std::optional<size_t> weight_when_ended;

 private:
  // The part of an answer that the peer has not taken.
  struct Unsent {
    std::string front;
    std::shared_ptr<const std::string> body;
    size_t body_at = 0;
  };

  // Writes until all was taken or `piece`, which it decreases, is used up; removes what was taken
  // from `bytes`.
  Io Write(absl::string_view* bytes, size_t* piece);
  Io WriteBody(const std::string& body, size_t* at, size_t* piece);
  Io Result(int returned);

  const int fd_;
  const std::shared_ptr<const TlsBundle> bundle_;
  ssl_st* ssl_ = nullptr;
  SocketReads reads_;
  bool handshake_done_ = false;
  size_t kept_bytes_ = 0;  // by OpenSSL, from the handshake
  bool broken_ = false;    // after a fatal error nothing more may be sent
  Unsent unsent_;
};

}  // namespace flyball::http
