#include "http/server/http_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "base/status_macros.h"
#include "base/thread_limit.h"
#include "http/server/connection.h"
#include "http/server/connection_set.h"
#include "http/server/event_workers.h"
#include "http/server/listener.h"
#include "http/server/newcomers.h"
#include "spdlog/spdlog.h"

namespace flyball::http {
namespace {

using Io = ServerConnection::Io;

// What a connection waits for after `result`, which is not kOk or kClosed. After kMore that may be
// there already: then it only waits for its turn.
uint32_t EventsFor(Io result) { return result == Io::kWantRead ? EPOLLIN : EPOLLOUT; }

constexpr int kSweepMs = 1000;
constexpr absl::Duration kLinger = absl::Seconds(1);
constexpr absl::Duration kComplaintEvery = absl::Minutes(1);

// The Date header, made once a second and thread.
const std::string& DateNow(absl::Time now) {
  thread_local int64_t second = -1;
  thread_local std::string text;
  if (const int64_t current = absl::ToUnixSeconds(now); current != second) {
    second = current;
    text = HttpDate(now);
  }
  return text;
}

HttpResponse PlainError(int status, absl::string_view text) {
  HttpResponse response = BodyResponse(status, kPlainText, std::string(text));
  response.close = true;
  return response;
}

// The answer to a request that could not be read.
HttpResponse BadRequest(int status) {
  return PlainError(status, absl::StrFormat("%d %s", status, ReasonPhrase(status)));
}

// The answer to a request for which there is no memory; its user is not known yet.
HttpResponse NoRoom() {
  HttpResponse response = PlainError(429, "Too many requests, please try again later.\n");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace

std::string HttpDate(absl::Time time) {
  return absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", time, absl::UTCTimeZone());
}

class HttpServer::Impl {
 public:
  Impl(ListenOptions options, const TlsCertificates* tls, Clock* clock, Handler handler)
      : options_(std::move(options)),
        tls_(tls),
        clock_(clock),
        handler_(std::move(handler)),
        connections_({.max_connections = ConnectionsPossible(options_.max_connections),
                      .max_bytes = options_.max_connection_bytes},
                     clock, &counters_.connection_bytes, &counters_.ended_for_room),
        workers_(options_.workers, options_.max_workers, &counters_.workers,
                 [this](void* subject) { ServeSubject(subject); }) {}

  ~Impl() {
    Drain(absl::ZeroDuration());
    if (wake_ >= 0) close(wake_);
  }

  absl::Status Start() {
    // OpenSSL writes with write(2): a peer that is gone must be an error, not the process's end.
    struct sigaction current = {};
    if (sigaction(SIGPIPE, nullptr, &current) == 0 && current.sa_handler == SIG_DFL) {
      signal(SIGPIPE, SIG_IGN);
    }
    ASSIGN_OR_RETURN(listener_, Listen(options_));
    port_ = listener_.port;
    wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    absl::Status started = newcomers_.Start();
    started.Update(workers_.Start());
    if (started.ok() && (wake_ < 0 || !workers_.Watch(newcomers_.waiting_fd(), &newcomers_))) {
      started = absl::UnavailableError("no file descriptors left");
    }
    if (started.ok()) {
      absl::StatusOr<std::thread> accepting = MakeThread([this] { AcceptAndSweep(); });
      if (accepting.ok()) accepting_ = *std::move(accepting);
      started.Update(accepting.status());
    }
    if (started.ok()) return absl::OkStatus();
    workers_.Stop();
    close(listener_.fd);
    return started;
  }

  int port() const { return port_; }
  const Counters& counters() const { return counters_; }
  std::shared_ptr<const void> CountAnswer(size_t bytes) { return connections_.CountAnswer(bytes); }

  void Drain(absl::Duration limit) {
    if (!accepting_.joinable()) return;
    draining_ = true;
    Wake();
    {
      absl::MutexLock lock(&mutex_);
      clock_->Await(mutex_, absl::Condition(&listener_closed_), clock_->MonotonicNow() + limit);
    }
    connections_.AwaitEmpty(clock_->MonotonicNow() + limit);
    cut_off_ = true;
    connections_.EndAll();
    Wake();
    accepting_.join();
    workers_.Stop();
  }

 private:
  // ---- accepting ----

  void Wake() {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof(one));
  }

  void AcceptAndSweep() {
    MonotonicTime next_sweep = clock_->MonotonicNow();
    while (true) {
      // Read only once in each round, so that the listener is closed before the last round ends.
      const bool draining = draining_;
      pollfd pollers[3] = {
          {wake_, POLLIN, 0}, {newcomers_.said_fd(), POLLIN, 0}, {listener_.fd, POLLIN, 0}};
      poll(pollers, listener_.fd >= 0 ? 3 : 2, draining ? 20 : kSweepMs);
      if (pollers[0].revents != 0) {
        uint64_t count = 0;
        [[maybe_unused]] const ssize_t got = read(wake_, &count, sizeof(count));
      }
      const bool more = listener_.fd >= 0 && AcceptSome();
      newcomers_.Gather([this](ServerConnection* connection) { GiveUp(connection); });
      if (draining && listener_.fd >= 0 && !more) {
        // Peers that had connected by now were accepted above and are served.
        close(listener_.fd);
        listener_.fd = -1;
        absl::MutexLock lock(&mutex_);
        listener_closed_ = true;
      }
      if (const MonotonicTime now = clock_->MonotonicNow(); draining || now >= next_sweep) {
        connections_.EndOverdue(now, draining);
        workers_.JoinFinished();
        next_sweep = now + absl::Milliseconds(kSweepMs);
      }
      if (draining && (cut_off_ || connections_.empty())) return;
    }
  }

  // Whether there may be more.
  bool AcceptSome() {
    constexpr int kAtOnce = 128;  // after that many, existing connections get their turn
    for (int i = 0; i < kAtOnce; ++i) {
      uint64_t origin = 0;
      const int fd = Accept(listener_.fd, &origin);
      if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
          OutOfDescriptors();
        }
        if (errno == EINTR || errno == ECONNABORTED) continue;
        return false;
      }
      auto connection = std::make_unique<ServerConnection>(fd, tls_->bundle(), options_.request);
      connection->origin = connection->reader.request().origin = origin;
      if (!connections_.Add(connection.get())) {
        ++counters_.refused;
        continue;
      }
      const int on = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
      ++counters_.accepted;
      ++counters_.open;
      BeginNewcomer(connection.release());
    }
    return true;
  }

  void BeginNewcomer(ServerConnection* connection) {
    connections_.Weigh(connection);
    connection->message_started = clock_->MonotonicNow();
    connection->idle = false;
    connection->quiet_since_ns = absl::ToInt64Nanoseconds(connection->message_started);
    connection->deadline_ns =
        absl::ToInt64Nanoseconds(connection->message_started + options_.handshake_timeout);
    if (!newcomers_.Begin(connection)) Close(connection);
  }

  // Ends a connection whose handshake failed.
  void GiveUp(ServerConnection* connection) {
    ++counters_.handshake_errors;
    Close(connection);
  }

  // The connection stays in the kernel's queue, which would wake this thread again at once: it
  // waits a little.
  void OutOfDescriptors() {
    ++counters_.refused;
    const MonotonicTime now = clock_->MonotonicNow();
    // Those that are closed for it make room for a moment, so it may come and go all the time.
    if (now >= next_complaint_) {
      spdlog::warn("no file descriptors left: new connections wait");
      next_complaint_ = now + kComplaintEvery;
    }
    connections_.EndSomeQuiet();
    pollfd poller = {wake_, POLLIN, 0};
    poll(&poller, 1, 100);
  }

  // ---- one connection ----

  // Hands the connection back to the event queue; another thread may have it at once. `limit`:
  // counted from message_started.
  void Park(ServerConnection* connection, uint32_t events, absl::Duration limit) {
    connections_.Weigh(connection);
    const MonotonicTime deadline = connection->message_started + limit;
    connection->idle = connection->handshake_done() && !connection->changing_keys() &&
                       !connection->reader.InMessage() && !connection->sending();
    connection->quiet_since_ns = absl::ToInt64Nanoseconds(clock_->MonotonicNow());
    const bool known = std::exchange(connection->registered, true);
    const int fd = connection->fd();
    // From here on the sweeper may end it, and another thread may serve it once it is awaited.
    connection->deadline_ns = absl::ToInt64Nanoseconds(deadline);
    if (!workers_.Await(fd, connection, events, known)) Close(connection);
  }

  void Close(ServerConnection* connection) {
    connections_.Close(connection);
    --counters_.open;
  }

  // The last answer was sent: waits a little for the peer's end, so that a reset caused by what it
  // is still sending does not overtake the answer.
  void Finish(ServerConnection* connection) {
    connection->Finish();
    connection->lingering = true;
    connection->message_started = clock_->MonotonicNow();
    ServeLingering(connection);
  }

  void ServeSubject(void* subject) {
    if (subject != &newcomers_) Serve(static_cast<ServerConnection*>(subject));
    // After each other connection too, since a probe comes on a new one, and would otherwise wait
    // until each of the others has had its turn.
    ServerConnection* const newcomer = newcomers_.Take();
    if (newcomer != nullptr) Serve(newcomer);
  }

  void Serve(ServerConnection* connection) {
    if (connection->deadline_ns.exchange(ServerConnection::kNever) == ServerConnection::kEnded) {
      Close(connection);  // it had to make room
      return;
    }
    connection->yielded = false;
    if (connection->lingering) return ServeLingering(connection);
    if (!connection->handshake_done() && !AdvanceHandshake(connection)) return;
    if (connection->sending()) {
      if (!Sent(connection, connection->SendRest())) return;
      connections_.Weigh(connection);  // which lets go of the body
    }
    const MonotonicTime turn_ends = clock_->MonotonicNow() + kTurnTime;
    for (int steps = 0, answers = 0;; ++steps, ++answers) {
      while (!connection->refused &&
             connection->reader.state() == RequestReader::State::kNeedMore) {
        if (++steps > kTurn || (steps > 1 && clock_->MonotonicNow() >= turn_ends)) {
          return Yield(connection);
        }
        if (!ReadMore(connection)) return;
      }
      if (steps > kTurn || (answers > 0 && clock_->MonotonicNow() >= turn_ends)) {
        return Yield(connection);
      }
      if (!Sent(connection, Answer(connection))) return;
      // If nothing more has arrived, it waits in the queue, without a read that would find nothing.
      if (connection->reader.state() == RequestReader::State::kNeedMore &&
          !connection->HasBuffered()) {
        ParkForInput(connection, EPOLLIN);
        return;
      }
    }
  }

  // A connection with much to read or to answer goes to the end of the queue now and then, so that
  // the others get their turn.
  void Yield(ServerConnection* connection) {
    const absl::Duration limit =
        connection->handshake_done() ? options_.header_timeout : options_.handshake_timeout;
    connection->yielded = true;
    Park(connection, EPOLLIN | EPOLLOUT, limit);
  }

  void ServeLingering(ServerConnection* connection) {
    if (connection->DiscardInput()) {
      Close(connection);
    } else {
      Park(connection, EPOLLIN, kLinger);
    }
  }

  // False: parked or closed.
  bool AdvanceHandshake(ServerConnection* connection) {
    if (!connection->has_tls()) {
      if (!connection->StartTls()) {
        Close(connection);
        return false;
      }
      // Many simultaneous handshakes are done one after the other, as earlier ones free memory.
      if (!HasRoom(connection)) return false;
    }
    const Io result = connection->Handshake();
    if (result == Io::kOk) return true;
    if (result == Io::kClosed) {
      GiveUp(connection);
    } else {
      Park(connection, EventsFor(result), options_.handshake_timeout);
    }
    return false;
  }

  // False: parked or closed.
  bool ReadMore(ServerConnection* connection) {
    const bool was_in_message = connection->reader.InMessage();
    const Io result = connection->Read();
    if (result == Io::kOk) {
      if (!was_in_message) connection->message_started = clock_->MonotonicNow();
      return connection->reader.BytesHeld() <= kCountedAtOnce || HasRoom(connection);
    }
    if (result == Io::kClosed) {
      connection->Finish();
      Close(connection);
      return false;
    }
    ParkForInput(connection, EventsFor(result));
    return false;
  }

  // Makes room for what the connection has begun. False: it is parked until there is some.
  bool HasRoom(ServerConnection* connection) {
    const ConnectionSet::Room room = connections_.Weigh(connection);
    connection->refused = room == ConnectionSet::Room::kNone;
    if (room != ConnectionSet::Room::kSoon) return true;
    Yield(connection);  // others are closed meanwhile
    return false;
  }

  void ParkForInput(ServerConnection* connection, uint32_t events) {
    const bool in_message = connection->reader.InMessage();
    if (!in_message) connection->message_started = clock_->MonotonicNow();
    Park(connection, events,
         in_message                    ? options_.header_timeout
         : connection->changing_keys() ? options_.handshake_timeout
                                       : options_.idle_timeout);
  }

  // Our own code does not throw. If a library does, for example for lack of memory, only this
  // answer fails.
  HttpResponse Call(const HttpRequest& request) {
    try {
      return handler_(request);
    } catch (const std::exception& error) {
      spdlog::error("serving {} {}: {}", request.method,
                    request.target.substr(0, kShownTargetBytes), error.what());
      HttpResponse response;
      response.status = 500;
      response.close = true;
      return response;
    }
  }

  // Begins to answer the request that was read, or the error.
  Io Answer(ServerConnection* connection) {
    const HttpRequest& request = connection->reader.request();
    HttpResponse response;
    const bool bad = connection->reader.state() == RequestReader::State::kError;
    if (connection->refused || (!bad && !connections_.BeginAnswer(*connection))) {
      ++counters_.refused_requests;
      response = NoRoom();
    } else if (bad) {
      ++counters_.bad_requests;
      response = BadRequest(connection->reader.error_status());
    } else {
      response = Call(request);
      connections_.EndAnswer(*connection);
    }
    connection->keep_alive = !response.close && !draining_ && connection->reader.KeepAlive();
    // The head and the beginning of the body: a record of TLS. Each thread keeps its own, since
    // making so large a block for each answer takes a fifth of the time of short ones.
    thread_local std::string front;
    front.clear();
    AppendHead(response, DateNow(clock_->WallNow()), connection->keep_alive, &front);
    size_t body_at = 0;
    if (request.method == "HEAD" || response.status == 304) response.body = nullptr;
    if (response.body != nullptr) {
      body_at = std::min(response.body->size(), kFrontBytes - std::min(front.size(), kFrontBytes));
      front.append(*response.body, 0, body_at);
      if (body_at == response.body->size()) response.body = nullptr;
    }
    const Io result = connection->Send(front, std::move(response.body), body_at);
    if (result != Io::kOk) connection->message_started = clock_->MonotonicNow();
    return result;
  }

  // After a part of an answer was written. True: all of it, and the connection lives on.
  bool Sent(ServerConnection* connection, Io result) {
    if (result == Io::kClosed) {
      Close(connection);
      return false;
    }
    if (result != Io::kOk) {
      // The kernel takes more than it calls writable, so a peer that reads nothing may stop its
      // answer between two pieces: then the connection waits for the peer, not for its turn.
      pollfd out = {connection->fd(), POLLOUT, 0};
      connection->yielded = result == Io::kMore && poll(&out, 1, 0) == 1;
      Park(connection, EventsFor(result), options_.write_timeout);
      return false;
    }
    if (!connection->keep_alive) {
      Finish(connection);
      return false;
    }
    connection->reader.Next();
    const bool has_next = connection->reader.InMessage() ||
                          connection->reader.state() != RequestReader::State::kNeedMore;
    if (has_next) connection->message_started = clock_->MonotonicNow();
    return true;
  }

  static constexpr int kTurn = 4;  // reads and answers
  // After so much time a second read or answer waits for the next turn: one answer may take as long
  // as ten others, and so may a read of records that change keys.
  static constexpr absl::Duration kTurnTime = absl::Microseconds(200);
  static constexpr size_t kFrontBytes = 16 << 10;
  static constexpr size_t kCountedAtOnce = 16 << 10;  // of a head that is still being read
  static constexpr size_t kShownTargetBytes = 256;

  const ListenOptions options_;
  const TlsCertificates* const tls_;
  Clock* const clock_;
  const Handler handler_;
  Counters counters_;

  Listener listener_;  // this and the next: the accepting thread's own once it runs
  MonotonicTime next_complaint_ = -absl::InfiniteDuration();  // of a lack of descriptors
  int port_ = 0;
  int wake_ = -1;
  std::thread accepting_;
  std::atomic<bool> draining_{false};
  std::atomic<bool> cut_off_{false};

  absl::Mutex mutex_;
  bool listener_closed_ ABSL_GUARDED_BY(mutex_) = false;

  Newcomers newcomers_;
  ConnectionSet connections_;
  EventWorkers workers_;  // last: its threads use what is above
};

HttpServer::HttpServer(ListenOptions options, const TlsCertificates* tls, Clock* clock,
                       Handler handler)
    : impl_(std::make_unique<Impl>(std::move(options), tls, clock, std::move(handler))) {}
HttpServer::~HttpServer() = default;

absl::Status HttpServer::Start() { return impl_->Start(); }
int HttpServer::port() const { return impl_->port(); }
void HttpServer::Drain(absl::Duration limit) { impl_->Drain(limit); }
std::shared_ptr<const void> HttpServer::CountAnswer(size_t bytes) {
  return impl_->CountAnswer(bytes);
}
const HttpServer::Counters& HttpServer::counters() const { return impl_->counters(); }

}  // namespace flyball::http
