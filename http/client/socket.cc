#include "http/client/socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/openssl_ptr.h"
#include "base/status_macros.h"
#include "http/peer_keys.h"
#include "http/socket_reads.h"

namespace flyball::http {
namespace {

// A body that is no longer is sent in one TLS record with its head.
constexpr size_t kJoined = 16 << 10;

absl::Status Unavailable(absl::string_view why) { return absl::UnavailableError(why); }

void SetOptions(int fd) {
  // With these options a peer that vanished is noticed within 45 s, even on a stream without data.
  // If the system lacks an option, the deadlines remain.
  const auto set = [fd](int level, int option, int value) {
    setsockopt(fd, level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

}  // namespace

// OpenSSL over the socket, which does not block: a step that has to wait says for what.
class Socket::Tls {
 public:
  Tls(SSL* ssl, int fd) : ssl_(ssl), fd_(fd) {
    SSL_set_fd(ssl, fd);
    reads_.Limit(ssl);
  }
  ~Tls() {
    if (usable_) SSL_shutdown(ssl_.get());
  }

  absl::Status Handshake(const Until& until) {
    const auto step = [this] { return SSL_connect(ssl_.get()); };
    int done = 0;
    const absl::Status status = Repeat(step, until, done);
    handshake_bytes_ = BIO_number_read(SSL_get_rbio(ssl_.get()));
    if (!absl::IsUnavailable(status)) return status;
    if (const std::string key = RefusedPeerKey(); !key.empty()) {
      return Unavailable(absl::StrCat("certificate refused: ", key));
    }
    const long verified = SSL_get_verify_result(ssl_.get());
    if (verified != X509_V_OK) {
      return Unavailable(
          absl::StrCat("certificate refused: ", X509_verify_cert_error_string(verified)));
    }
    return Unavailable(absl::StrCat("TLS handshake failed: ", Reason()));
  }

  size_t PeerCertificateBytes() const {
    const STACK_OF(X509)* const chain = SSL_get_peer_cert_chain(ssl_.get());
    size_t bytes = 0;
    for (int i = 0; chain != nullptr && i < sk_X509_num(chain); ++i) {
      bytes += static_cast<size_t>(std::max(i2d_X509(sk_X509_value(chain, i), nullptr), 0));
    }
    const STACK_OF(X509_NAME)* const authorities = SSL_get0_peer_CA_list(ssl_.get());
    for (int i = 0; authorities != nullptr && i < sk_X509_NAME_num(authorities); ++i) {
      constexpr size_t kOverhead = 6;  // even an empty name takes 185 bytes of memory
      const int size = i2d_X509_NAME(sk_X509_NAME_value(authorities, i), nullptr);
      bytes += kOverhead + static_cast<size_t>(std::max(size, 0));
    }
    return bytes;
  }

  size_t OtherPeerBytes() const {
    const unsigned char* ticket = nullptr;
    size_t ticket_bytes = 0;
    if (const SSL_SESSION* const session = SSL_get0_session(ssl_.get()); session != nullptr) {
      SSL_SESSION_get0_ticket(session, &ticket, &ticket_bytes);
    }
    return ticket_bytes + handshake_bytes_ - std::min(handshake_bytes_, PeerCertificateBytes());
  }

  absl::Status Write(absl::string_view data, const Until& until) {
    while (!data.empty()) {
      int sent = 0;
      const int size = static_cast<int>(std::min<size_t>(data.size(), 1 << 20));
      const auto step = [&] { return SSL_write(ssl_.get(), data.data(), size); };
      RETURN_IF_ERROR(Repeat(step, until, sent));
      data.remove_prefix(static_cast<size_t>(sent));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(char* data, size_t size, const Until& until) {
    int got = 0;
    const auto step = [&] {
      return SSL_read(ssl_.get(), data, static_cast<int>(std::min<size_t>(size, 1 << 20)));
    };
    const absl::Status status = Repeat(step, until, got);
    if (status.ok()) return static_cast<size_t>(got);
    // Only TLS's close_notify ends a body properly: an attacker who cuts the connection must not be
    // able to shorten it, and a server that gives up with another alert has not sent all.
    if (ended_) return 0;
    return status;
  }

  bool Quiet() const { return SSL_pending(ssl_.get()) == 0; }

 private:
  // `step` until it has done something (its result, above 0) or failed.
  template <typename Step>
  absl::Status Repeat(Step step, const Until& until, int& done) {
    while (true) {
      ERR_clear_error();
      reads_.Begin();
      done = step();
      usable_ = done > 0;
      if (usable_) return absl::OkStatus();
      switch (SSL_get_error(ssl_.get(), done)) {
        case SSL_ERROR_WANT_READ: RETURN_IF_ERROR(WaitFor(fd_, POLLIN, until)); break;
        case SSL_ERROR_WANT_WRITE: RETURN_IF_ERROR(WaitFor(fd_, POLLOUT, until)); break;
        case SSL_ERROR_ZERO_RETURN: ended_ = true; [[fallthrough]];
        default: return Unavailable("connection lost");
      }
    }
  }

  static std::string Reason() {
    const unsigned long code = ERR_peek_last_error();
    const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
    return reason == nullptr ? "connection closed" : reason;
  }

  SocketReads reads_;
  const SslPtr ssl_;
  const int fd_;
  size_t handshake_bytes_ = 0;  // what the peer has sent for it
  bool usable_ = false;         // no step has failed, and none is under way
  bool ended_ = false;          // the peer has said goodbye
};

namespace {

absl::Status NotConnected(int error) {
  if (error == ECONNREFUSED) return Unavailable("connection refused: nothing listens there");
  return Unavailable(absl::StrCat("no connection: ", std::strerror(error)));
}

}  // namespace

Socket::Socket(int fd) : fd_(fd) {}

Socket::~Socket() {
  // TLS says goodbye while the descriptor is still ours: right after close() its number may belong
  // to another connection, which would get these bytes.
  tls_.reset();
  close(fd_);
}

absl::StatusOr<std::unique_ptr<Socket>> Socket::Connect(const Endpoint& to, const Until& until) {
  sockaddr_storage address;
  const socklen_t length = ToSockaddr(to, address);
  const int fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return Unavailable(absl::StrCat("no socket: ", std::strerror(errno)));
  std::unique_ptr<Socket> made(new Socket(fd));
  SetOptions(fd);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    if (errno != EINPROGRESS && errno != EINTR) return NotConnected(errno);
    RETURN_IF_ERROR(WaitFor(fd, POLLOUT, until));
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    if (error != 0) return NotConnected(error);
  }
  return made;
}

absl::Status Socket::StartTls(const TlsClient& tls, const std::string& name, const Until& until) {
  SSL* const ssl = tls.NewConnection(name);
  if (ssl == nullptr) return Unavailable(absl::StrCat("no TLS connection: ", OpenSslError()));
  tls_ = std::make_unique<Tls>(ssl, fd_);
  return tls_->Handshake(until);
}

absl::Status Socket::WritePlain(absl::string_view head, absl::string_view body,
                                const Until& until) {
  while (!head.empty() || !body.empty()) {
    iovec parts[] = {{const_cast<char*>(head.data()), head.size()},
                     {const_cast<char*>(body.data()), body.size()}};
    msghdr message = {};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const ssize_t sent = sendmsg(fd_, &message, MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
      RETURN_IF_ERROR(WaitFor(fd_, POLLOUT, until));
      continue;
    }
    if (sent <= 0) return Unavailable("connection lost while sending the request");
    const size_t of_head = std::min(head.size(), static_cast<size_t>(sent));
    head.remove_prefix(of_head);
    body.remove_prefix(static_cast<size_t>(sent) - of_head);
  }
  return absl::OkStatus();
}

absl::Status Socket::Write(absl::string_view head, absl::string_view body, const Until& until) {
  if (tls_ == nullptr) return WritePlain(head, body, until);
  absl::Status status;
  if (body.size() <= kJoined) {
    status = tls_->Write(absl::StrCat(head, body), until);
  } else {
    status = tls_->Write(head, until);
    status.Update(tls_->Write(body, until));
  }
  return absl::IsUnavailable(status) ? Unavailable("connection lost while sending the request")
                                     : status;
}

absl::Status Socket::AwaitInput(const Until& until) {
  if (tls_ != nullptr && !tls_->Quiet()) return absl::OkStatus();
  return WaitFor(fd_, POLLIN, until);
}

absl::StatusOr<size_t> Socket::Read(char* data, size_t size, const Until& until) {
  if (tls_ != nullptr) return tls_->Read(data, size, until);
  while (true) {
    const ssize_t got = recv(fd_, data, size, 0);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
      return Unavailable("connection lost");
    }
    RETURN_IF_ERROR(WaitFor(fd_, POLLIN, until));
  }
}

size_t Socket::PeerCertificateBytes() const {
  return tls_ == nullptr ? 0 : tls_->PeerCertificateBytes();
}

size_t Socket::OtherPeerBytes() const { return tls_ == nullptr ? 0 : tls_->OtherPeerBytes(); }

bool Socket::Quiet() const {
  pollfd readable = {.fd = fd_, .events = POLLIN, .revents = 0};
  return poll(&readable, 1, 0) == 0 && (tls_ == nullptr || tls_->Quiet());
}

void Socket::Abort() {
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

}  // namespace flyball::http
