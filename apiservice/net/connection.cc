#include "apiservice/net/connection.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "apiservice/net/peer_chain.h"

namespace flyball::apiservice {
namespace {

constexpr size_t kReadBytes = 16 * 1024;  // one TLS record

// Waits until the socket takes more; false when the time is over or the peer gone.
bool WaitWritable(int fd, short events, std::chrono::steady_clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      until - std::chrono::steady_clock::now());
  if (left.count() <= 0) return false;
  pollfd poller = {fd, events, 0};
  return poll(&poller, 1, static_cast<int>(left.count())) > 0 &&
         (poller.revents & (POLLERR | POLLNVAL)) == 0;
}

}  // namespace

Connection::Connection(int fd, std::shared_ptr<const TlsBundle> bundle, const RequestLimits& limits)
    : reader(limits), fd_(fd), bundle_(std::move(bundle)), ssl_(NewServerSsl(*bundle_)) {
  if (ssl_ != nullptr) SSL_set_fd(ssl_, fd_);
}

Connection::~Connection() {
  if (ssl_ != nullptr) SSL_free(ssl_);
  close(fd_);
}

Connection::Io Connection::Handshake() {
  if (ssl_ == nullptr) return Io::kClosed;
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_);
  if (result == 1) {
    handshake_done_ = true;
    reader.request().peer = PeerChain::FromConnection(ssl_);
    return Io::kOk;
  }
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ:
      return Io::kWantRead;
    case SSL_ERROR_WANT_WRITE:
      return Io::kWantWrite;
    default:
      broken_ = true;
      ERR_clear_error();
      return Io::kClosed;
  }
}

Connection::Io Connection::Read() {
  std::array<char, kReadBytes> buffer;
  ERR_clear_error();
  const int got = SSL_read(ssl_, buffer.data(), static_cast<int>(buffer.size()));
  if (got > 0) {
    reader.Feed(absl::string_view(buffer.data(), static_cast<size_t>(got)));
    return Io::kOk;
  }
  switch (SSL_get_error(ssl_, got)) {
    case SSL_ERROR_WANT_READ:
      return Io::kWantRead;
    case SSL_ERROR_WANT_WRITE:
      return Io::kWantWrite;
    case SSL_ERROR_ZERO_RETURN:
      return Io::kClosed;
    default:
      broken_ = true;
      ERR_clear_error();
      return Io::kClosed;
  }
}

bool Connection::HasBuffered() const { return SSL_has_pending(ssl_) != 0; }

bool Connection::Write(absl::string_view bytes, absl::Duration timeout) {
  // Real time: this waits on a socket, which a simulated clock does not move.
  const auto until = std::chrono::steady_clock::now() + absl::ToChronoMilliseconds(timeout);
  while (!bytes.empty()) {
    ERR_clear_error();
    const size_t piece = std::min(bytes.size(), size_t{1} << 30);
    const int sent = SSL_write(ssl_, bytes.data(), static_cast<int>(piece));
    if (sent > 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
      continue;
    }
    const int error = SSL_get_error(ssl_, sent);
    const bool wait = error == SSL_ERROR_WANT_WRITE || error == SSL_ERROR_WANT_READ;
    if (!wait || !WaitWritable(fd_, error == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN, until)) {
      broken_ = true;
      ERR_clear_error();
      return false;
    }
  }
  return true;
}

void Connection::Finish() {
  if (handshake_done_ && !broken_) SSL_shutdown(ssl_);
  ERR_clear_error();
  shutdown(fd_, SHUT_WR);
}

bool Connection::DiscardInput() {
  std::array<char, kReadBytes> buffer;
  for (int reads = 0; reads < 64; ++reads) {
    const ssize_t got = recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got == 0) return true;
    if (got < 0) return errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
  }
  return false;
}

}  // namespace flyball::apiservice
