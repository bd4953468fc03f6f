#include "http/server/connection.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "http/server/peer_chain.h"

namespace flyball::http {
namespace {

constexpr size_t kReadBytes = 16 * 1024;  // one TLS record

// Of a socket, for one read of a request. Each record that is read over, since it has no data, may
// change keys, which takes 0.1 ms.
constexpr int kSocketReads = 16;

// Measured allocations of OpenSSL 3.0 for a connection: until the handshake is done, afterwards,
// and in addition while a record is read or written, while keys are changed, and if the peer has
// named certificate authorities.
constexpr size_t kHandshakeBytes = 48 * 1024;
constexpr size_t kTlsBytes = 14 * 1024;
constexpr size_t kRecordBytes = 17 * 1024;
constexpr size_t kKeyChangeBytes = 72 * 1024;
constexpr size_t kAuthoritiesBytes = 47 * kMaxNamedAuthoritiesBytes;

// This much of what a peer sends for its handshake is no certificate, and is in the numbers above.
constexpr size_t kHelloBytes = 2 * 1024;

}  // namespace

ServerConnection::ServerConnection(int fd, std::shared_ptr<const TlsBundle> bundle,
                                   const RequestLimits& limits)
    : reader(limits), fd_(fd), bundle_(std::move(bundle)) {}

ServerConnection::~ServerConnection() {
  SSL_free(ssl_);
  close(fd_);
}

ServerConnection::Io ServerConnection::Result(int returned) {
  switch (SSL_get_error(ssl_, returned)) {
    case SSL_ERROR_WANT_READ: return Io::kWantRead;
    case SSL_ERROR_WANT_WRITE: return Io::kWantWrite;
    case SSL_ERROR_ZERO_RETURN: return Io::kClosed;
    default:
      broken_ = true;
      ERR_clear_error();
      return Io::kClosed;
  }
}

bool ServerConnection::StartTls() {
  ssl_ = NewServerSsl(*bundle_);
  if (ssl_ == nullptr || SSL_set_fd(ssl_, fd_) != 1) return false;
  reads_.Limit(ssl_);
  return true;
}

ServerConnection::Io ServerConnection::Handshake() {
  ERR_clear_error();
  reads_.Begin();
  const int result = SSL_do_handshake(ssl_);
  if (result != 1) return Result(result);
  handshake_done_ = true;
  // Some of what the peer has sent is kept as it came, such as the protocols that it speaks.
  kept_bytes_ = BIO_number_read(SSL_get_rbio(ssl_));
  if (SSL_get0_peer_CA_list(ssl_) != nullptr) kept_bytes_ += kAuthoritiesBytes;
  reader.request().peer = PeerChain::FromConnection(ssl_);
  return Io::kOk;
}

ServerConnection::Io ServerConnection::Read() {
  std::array<char, kReadBytes> buffer;
  ERR_clear_error();
  reads_.Begin(kSocketReads);
  const int got = SSL_read(ssl_, buffer.data(), static_cast<int>(buffer.size()));
  if (got <= 0) return Result(got);
  reader.Feed(absl::string_view(buffer.data(), static_cast<size_t>(got)));
  return Io::kOk;
}

bool ServerConnection::HasBuffered() const { return SSL_has_pending(ssl_) != 0; }

bool ServerConnection::changing_keys() const {
  return handshake_done_ && ssl_ != nullptr && SSL_in_init(ssl_) != 0;
}

ServerConnection::Io ServerConnection::Write(absl::string_view* bytes, size_t* piece) {
  while (!bytes->empty()) {
    if (*piece == 0) return Io::kMore;
    ERR_clear_error();
    // Not shortened to what is left of the piece: a record that the kernel did not take has to be
    // written again with the same length. Mostly one record is written.
    const size_t most = std::min(bytes->size(), kPieceBytes);
    const int sent = SSL_write(ssl_, bytes->data(), static_cast<int>(most));
    if (sent <= 0) return Result(sent);
    bytes->remove_prefix(static_cast<size_t>(sent));
    *piece -= std::min(*piece, static_cast<size_t>(sent));
  }
  return Io::kOk;
}

ServerConnection::Io ServerConnection::WriteBody(const std::string& body, size_t* at,
                                                 size_t* piece) {
  absl::string_view rest = absl::string_view(body).substr(*at);
  const Io result = Write(&rest, piece);
  *at = body.size() - rest.size();
  return result;
}

ServerConnection::Io ServerConnection::Send(absl::string_view front,
                                            std::shared_ptr<const std::string> body,
                                            size_t body_at) {
  size_t piece = kPieceBytes;
  Io result = Write(&front, &piece);
  if (result == Io::kOk && body != nullptr) result = WriteBody(*body, &body_at, &piece);
  const bool rest = result != Io::kOk && result != Io::kClosed;
  if (rest) unsent_ = {std::string(front), std::move(body), body_at};
  return result;
}

ServerConnection::Io ServerConnection::SendRest() {
  size_t piece = kPieceBytes;
  absl::string_view front = unsent_.front;
  Io result = Write(&front, &piece);
  unsent_.front.erase(0, unsent_.front.size() - front.size());
  if (result == Io::kOk && unsent_.body != nullptr) {
    result = WriteBody(*unsent_.body, &unsent_.body_at, &piece);
  }
  if (result == Io::kOk) unsent_ = {};
  return result;
}

void ServerConnection::Finish() {
  if (handshake_done_ && !broken_) SSL_shutdown(ssl_);
  ERR_clear_error();
  SSL_free(ssl_);
  ssl_ = nullptr;
  reader.request().peer.reset();
  shutdown(fd_, SHUT_WR);
}

bool ServerConnection::DiscardInput() {
  std::array<char, kReadBytes> buffer;
  for (int reads = 0; reads < 64; ++reads) {
    const ssize_t got = recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got == 0) return true;
    if (got < 0) return errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
  }
  return false;
}

size_t ServerConnection::Footprint() const {
  size_t bytes = sizeof(ServerConnection) + reader.BytesHeld();
  if (ssl_ == nullptr) return bytes;
  if (handshake_done_) {
    bytes += kTlsBytes + kept_bytes_;
    if (changing_keys()) bytes += kKeyChangeBytes;
  } else {
    // Messages are kept until they are whole, certificates longer.
    const size_t got = BIO_number_read(SSL_get_rbio(ssl_));
    const size_t beyond = got - std::min(got, kHelloBytes);
    bytes += kHandshakeBytes + PeerChain::kMemoryForEachByte * beyond;
  }
  if (HasBuffered()) bytes += kRecordBytes;
  if (const auto& peer = reader.request().peer; peer != nullptr) bytes += peer->footprint;
  if (sending()) bytes += kRecordBytes + unsent_.front.capacity();
  return bytes;
}

}  // namespace flyball::http
