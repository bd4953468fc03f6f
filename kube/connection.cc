#include "kube/connection.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/steady_wait.h"
#include "httplib.h"

namespace flyball::kube {
namespace {

// The library's own limits only have to be beyond ours.
constexpr time_t kLibraryTimeoutSeconds = 24 * 3600;
// How often a connection that was told to end and has not is told again.
constexpr absl::Duration kCutAgain = absl::Milliseconds(20);

absl::Status Unavailable(const std::string& origin, absl::string_view why) {
  return absl::UnavailableError(absl::StrCat(origin, ": ", why));
}

// A socket of plain HTTP as the library reads and writes it: 4 KiB at a time, and before each look
// whether there is something. Here a system call takes what is there, up to the buffer's size, and
// head and body of a request go out together. Waits without a limit: whoever is late is cut.
class SocketStream : public httplib::Stream {
 public:
  explicit SocketStream(socket_t socket) : socket_(socket) {}

  ssize_t read(char* data, size_t size) override {
    if (!Send("")) return -1;
    if (begin_ == end_) {
      if (size >= sizeof buffer_) return Receive(data, size);
      const ssize_t got = Receive(buffer_, sizeof buffer_);
      if (got <= 0) return got;
      begin_ = 0;
      end_ = static_cast<size_t>(got);
    }
    const size_t count = std::min(size, end_ - begin_);
    std::memcpy(data, buffer_ + begin_, count);
    begin_ += count;
    return static_cast<ssize_t>(count);
  }
  // What is short waits for what follows, at the latest until something is read.
  ssize_t write(const char* data, size_t size) override {
    if (to_send_.size() + size <= kHeldBack) {
      to_send_.append(data, size);
    } else if (!Send(absl::string_view(data, size))) {
      return -1;
    }
    return static_cast<ssize_t>(size);
  }

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  // Not known; the library asks on the server's side only.
  void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  socket_t socket() const override { return socket_; }

 private:
  static constexpr size_t kHeldBack = 4096;

  ssize_t Receive(char* data, size_t size) {
    ssize_t got = 0;
    do {
      got = recv(socket_, data, size, 0);
    } while (got < 0 && errno == EINTR);
    return got;
  }
  // What was held back, and `more`.
  bool Send(absl::string_view more) {
    absl::string_view held = to_send_;
    while (!held.empty() || !more.empty()) {
      iovec parts[] = {{const_cast<char*>(held.data()), held.size()},
                       {const_cast<char*>(more.data()), more.size()}};
      msghdr message = {};
      message.msg_iov = parts;
      message.msg_iovlen = 2;
      const ssize_t sent = sendmsg(socket_, &message, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      const size_t of_held = std::min(held.size(), static_cast<size_t>(sent));
      held.remove_prefix(of_held);
      more.remove_prefix(static_cast<size_t>(sent) - of_held);
    }
    to_send_.clear();
    return true;
  }

  const socket_t socket_;
  std::string to_send_;
  size_t begin_ = 0, end_ = 0;  // of what was received and not read yet
  char buffer_[32 << 10];
};

class PlainClient : public httplib::ClientImpl {
 public:
  using httplib::ClientImpl::ClientImpl;

 private:
  bool process_socket(const Socket& socket,
                      std::function<bool(httplib::Stream&)> callback) override {
    SocketStream stream(socket.sock);
    return callback(stream);
  }
};

std::string LastTlsError() {
  const unsigned long code = ERR_peek_last_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "connection closed, or no answer in time" : reason;
}

}  // namespace

Connection::Connection(const Url& origin, std::shared_ptr<const TlsClient> tls,
                       absl::Duration connect_timeout)
    : origin_(origin.Origin()), tls_(std::move(tls)) {
  if (tls_ != nullptr) {
    auto client = std::make_unique<httplib::SSLClient>(origin.host, origin.port);
    // The check is OpenSSL's, set up in the context; the library's own would switch that off.
    client->enable_server_certificate_verification(false);
    tls_->Apply(client->ssl_context(), origin.host, &tls_failure_);
    client_ = std::move(client);
  } else {
    client_ = std::make_unique<PlainClient>(origin.host, origin.port);
  }
  client_->set_keep_alive(true);
  client_->set_follow_location(false);
  client_->set_url_encode(false);
  client_->set_tcp_nodelay(true);
  client_->set_connection_timeout(absl::ToChronoMilliseconds(connect_timeout));
  client_->set_read_timeout(kLibraryTimeoutSeconds);
  client_->set_write_timeout(kLibraryTimeoutSeconds);
  client_->set_socket_options([this](socket_t socket) { Opened(socket); });
}

Connection::~Connection() {
  client_.reset();
  absl::MutexLock lock(&mutex_);
  if (socket_ >= 0) close(socket_);
}

void Connection::Opened(int socket) {
  // A peer that is gone without a word is noticed within 45 s, also by a stream in which nothing
  // comes. Where an option is not known the deadlines remain.
  const auto set = [socket](int level, int option, int value) {
    setsockopt(socket, level, option, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  absl::MutexLock lock(&mutex_);
  if (socket_ >= 0) close(socket_);
  socket_ = fcntl(socket, F_DUPFD_CLOEXEC, 0);
}

void Connection::Cut() {
  absl::MutexLock lock(&mutex_);
  cut_ = true;
  if (socket_ >= 0) shutdown(socket_, SHUT_RDWR);
}

bool Connection::Open() const {
  if (client_->is_socket_open() == 0) return false;
  absl::MutexLock lock(&mutex_);
  return !cut_ && socket_ >= 0;
}

bool Connection::Reusable() const {
  if (client_->is_socket_open() == 0) return false;
  absl::MutexLock lock(&mutex_);
  pollfd readable = {.fd = socket_, .events = POLLIN, .revents = 0};
  return !cut_ && socket_ >= 0 && poll(&readable, 1, 0) == 0;
}

absl::Status Connection::Run(const Exchange& exchange) {
  httplib::Request request;
  request.method = exchange.method;
  request.path = exchange.target;
  // Not request.body, which would be a copy.
  if (!exchange.body.empty()) {
    request.content_length_ = exchange.body.size();
    request.content_provider_ = [&exchange](size_t offset, size_t size, httplib::DataSink& sink) {
      sink.write(exchange.body.data() + offset, size);
      return true;  // what went wrong is known to the sink
    };
  }
  for (const auto& [name, value] : exchange.headers) request.headers.emplace(name, value);

  bool ended_by_us = false;
  bool has_no_body = false;
  request.response_handler = [&](const httplib::Response& response) {
    has_no_body = response.status == 304;
    ended_by_us = !exchange.on_head(response.status,
                                    HeaderList(response.headers.begin(), response.headers.end()));
    // The library would wait for the body that a 304 never has.
    return !ended_by_us && !has_no_body;
  };
  request.content_receiver = [&](const char* data, size_t size, uint64_t, uint64_t) {
    ended_by_us = ended_by_us || !exchange.on_data(absl::string_view(data, size));
    return !ended_by_us;
  };
  httplib::Response response;
  auto error = httplib::Error::Success;
  if (tls_ != nullptr) ERR_clear_error();
  tls_failure_.clear();
  try {
    const bool done = client_->send(request, response, error);
    if (done && (response.status == 204 || exchange.method == "HEAD")) {
      exchange.on_head(response.status,
                       HeaderList(response.headers.begin(), response.headers.end()));
    }
    if (done || ended_by_us || has_no_body) return absl::OkStatus();
  } catch (const std::exception& thrown) {
    return Unavailable(origin_, absl::StrCat("the answer cannot be read: ", thrown.what()));
  }
  return ErrorOf(static_cast<int>(error));
}

absl::Status Connection::ErrorOf(int error) const {
  bool looked_up = false;
  {
    absl::MutexLock lock(&mutex_);
    looked_up = socket_ >= 0;
  }
  switch (static_cast<httplib::Error>(error)) {
    case httplib::Error::Connection:
      return Unavailable(origin_, looked_up ? "connection refused, or no route to it"
                                            : "the name cannot be resolved");
    case httplib::Error::ConnectionTimeout:
      return Unavailable(origin_, "no connection within the time for connecting");
    case httplib::Error::SSLConnection:
    case httplib::Error::SSLServerVerification:
    case httplib::Error::SSLLoadingCerts:
      return Unavailable(origin_, tls_failure_.empty()
                                      ? absl::StrCat("TLS handshake failed: ", LastTlsError())
                                      : absl::StrCat("certificate refused: ", tls_failure_));
    case httplib::Error::Write:
      return Unavailable(origin_, "connection lost while sending the request");
    default:
      return Unavailable(origin_, "connection lost, or the answer is not HTTP");
  }
}

Deadlines::Deadlines() : thread_([this] { Run(); }) {}

Deadlines::~Deadlines() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    changed_ = true;
  }
  thread_.join();
}

void Deadlines::Close() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
  changed_ = true;
}

bool Deadlines::closed() const {
  absl::MutexLock lock(&mutex_);
  return closed_;
}

void Deadlines::Run() {
  absl::MutexLock lock(&mutex_);
  while (!stopping_) {
    changed_ = false;
    const absl::Duration wait = CutOverdue();
    next_look_ = Clock::System().MonotonicNow() + wait;
    AwaitFor(mutex_, absl::Condition(&changed_), wait);
  }
}

absl::Duration Deadlines::CutOverdue() {
  const MonotonicTime now = Clock::System().MonotonicNow();
  absl::Duration wait = absl::InfiniteDuration();
  for (Guard* guard : guards_) {
    if (guard->outcome_ == Outcome::kInTime) {
      if (closed_) guard->outcome_ = Outcome::kClosed;
      if (!closed_ && guard->deadline_ <= now) guard->outcome_ = Outcome::kLate;
    }
    if (guard->outcome_ == Outcome::kInTime) {
      wait = std::min(wait, guard->deadline_ - now);
    } else {
      guard->connection_.Cut();
      wait = std::min(wait, kCutAgain);
    }
  }
  return wait;
}

Deadlines::Guard::Guard(Deadlines& deadlines, Connection& connection, absl::Duration timeout)
    : deadlines_(deadlines),
      connection_(connection),
      deadline_(Clock::System().MonotonicNow() + timeout) {
  absl::MutexLock lock(&deadlines_.mutex_);
  deadlines_.guards_.push_back(this);
  if (deadline_ < deadlines_.next_look_ || deadlines_.closed_) deadlines_.changed_ = true;
}

void Deadlines::Guard::Extend(absl::Duration timeout) {
  const MonotonicTime deadline = Clock::System().MonotonicNow() + timeout;
  absl::MutexLock lock(&deadlines_.mutex_);
  deadline_ = deadline;
}

Deadlines::Outcome Deadlines::Guard::End() {
  // From then on nobody else knows it.
  if (ended_) return outcome_;
  absl::MutexLock lock(&deadlines_.mutex_);
  ended_ = true;
  auto& guards = deadlines_.guards_;
  guards.erase(std::find(guards.begin(), guards.end(), this));
  return outcome_;
}

}  // namespace flyball::kube
