#include "apiservice/net/http_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "apiservice/net/connection.h"
#include "apiservice/net/listener.h"
#include "base/status_macros.h"
#include "base/steady_wait.h"
#include "base/thread_limit.h"
#include "spdlog/spdlog.h"

namespace flyball::apiservice {
namespace {

using Io = Connection::Io;

constexpr int kSweepMs = 1000;
constexpr int kWorkerIdleMs = 10'000;  // then a worker above the minimum ends
constexpr absl::Duration kLinger = absl::Seconds(1);

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

RequestLimits LimitsOf(const ListenOptions& options) {
  return {.max_head_bytes = options.max_header_bytes,
          .max_header_lines = options.max_header_lines,
          .max_body_bytes = options.max_body_bytes};
}

}  // namespace

std::string HttpDate(absl::Time time) {
  return absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", time, absl::UTCTimeZone());
}

class HttpServer::Impl {
 public:
  Impl(ListenOptions options, const TlsCertificates* tls, Clock* clock, Handler handler)
      : options_(std::move(options)),
        limits_(LimitsOf(options_)),
        tls_(tls),
        clock_(clock),
        handler_(std::move(handler)) {}

  ~Impl() {
    Drain(absl::ZeroDuration());
    if (epoll_ >= 0) close(epoll_);
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
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (epoll_ < 0 || wake_ < 0) {
      close(listener_.fd);
      return absl::UnavailableError("cannot make an event queue: no file descriptors left");
    }
    accepting_ = std::thread([this] { AcceptAndSweep(); });
    absl::MutexLock lock(&mutex_);
    for (int i = 0; i < options_.min_workers; ++i) RETURN_IF_ERROR(AddWorker());
    return absl::OkStatus();
  }

  int port() const { return port_; }
  const Counters& counters() const { return counters_; }

  void Drain(absl::Duration limit) {
    if (!accepting_.joinable()) return;
    draining_ = true;
    Wake();
    {
      absl::MutexLock lock(&mutex_);
      const auto none_left = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
        return listener_closed_ && connections_.empty();
      };
      AwaitFor(mutex_, absl::Condition(&none_left), limit);
      cut_off_ = true;
      for (Connection* connection : connections_) shutdown(connection->fd(), SHUT_RDWR);
    }
    Wake();
    accepting_.join();
    StopWorkers();
    absl::MutexLock lock(&mutex_);
    for (Connection* connection : connections_) delete connection;
    connections_.clear();
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
      pollfd pollers[2] = {{wake_, POLLIN, 0}, {listener_.fd, POLLIN, 0}};
      poll(pollers, listener_.fd >= 0 ? 2 : 1, draining_ ? 20 : kSweepMs);
      if (pollers[0].revents != 0) {
        uint64_t count = 0;
        [[maybe_unused]] const ssize_t got = read(wake_, &count, sizeof(count));
      }
      if (listener_.fd >= 0) AcceptAll();
      if (draining_ && listener_.fd >= 0) {
        // Whoever had connected by now was accepted above and is served.
        close(listener_.fd);
        listener_.fd = -1;
        absl::MutexLock lock(&mutex_);
        listener_closed_ = true;
      }
      if (const MonotonicTime now = clock_->MonotonicNow(); draining_ || now >= next_sweep) {
        Sweep(now);
        next_sweep = now + absl::Milliseconds(kSweepMs);
      }
      if (draining_ && IsCutOffOrEmpty()) return;
    }
  }

  bool IsCutOffOrEmpty() {
    absl::MutexLock lock(&mutex_);
    return cut_off_ || connections_.empty();
  }

  void AcceptAll() {
    while (true) {
      const int fd = accept4(listener_.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
          OutOfDescriptors();
        }
        if (errno == EINTR || errno == ECONNABORTED) continue;
        return;
      }
      if (counters_.open >= options_.max_connections) {
        ++counters_.refused;
        close(fd);
        continue;
      }
      const int on = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
      ++counters_.accepted;
      ++counters_.open;
      auto* connection = new Connection(fd, tls_->bundle(), limits_);
      {
        absl::MutexLock lock(&mutex_);
        connections_.insert(connection);
      }
      connection->message_started = clock_->MonotonicNow();
      Park(connection, EPOLLIN, connection->message_started + options_.handshake_timeout);
    }
  }

  // The connection stays in the kernel's queue, which would wake this thread again at once.
  void OutOfDescriptors() {
    ++counters_.refused;
    spdlog::warn("no file descriptors left: new connections wait");
    EndOldestIdle();
    pollfd poller = {wake_, POLLIN, 0};
    poll(&poller, 1, 100);
  }

  void EndOldestIdle() {
    absl::MutexLock lock(&mutex_);
    Connection* oldest = nullptr;
    int64_t oldest_deadline = Connection::kNever;
    for (Connection* connection : connections_) {
      const int64_t deadline = connection->deadline_ns;
      if (connection->idle && deadline < oldest_deadline) {
        oldest = connection;
        oldest_deadline = deadline;
      }
    }
    if (oldest != nullptr) shutdown(oldest->fd(), SHUT_RD);
  }

  // Ends connections by closing their reading side: a worker then sees the end of input, after
  // whatever had arrived, and it alone destroys the connection.
  void Sweep(MonotonicTime now) {
    const int64_t now_ns = absl::ToInt64Nanoseconds(now);
    {
      absl::MutexLock lock(&mutex_);
      for (Connection* connection : connections_) {
        const int64_t deadline = connection->deadline_ns;
        if (deadline <= now_ns ||
            (draining_ && deadline != Connection::kNever && connection->idle)) {
          shutdown(connection->fd(), SHUT_RD);
        }
      }
    }
    JoinFinishedWorkers();
  }

  // ---- workers ----

  absl::Status AddWorker() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const uint64_t id = next_worker_++;
    ASSIGN_OR_RETURN(std::thread worker,
                     UnlessNoThread([&] { return std::thread([this, id] { Work(id); }); }));
    ++counters_.workers;
    workers_[id] = std::move(worker);
    return absl::OkStatus();
  }

  void Work(uint64_t id) {
    while (true) {
      epoll_event event = {};
      idle_workers_.fetch_add(1);
      const int count = epoll_wait(epoll_, &event, 1, kWorkerIdleMs);
      const int idle_before = idle_workers_.fetch_sub(1);
      if (count > 0 && event.data.ptr == nullptr) break;  // stop
      if (count > 0) {
        if (idle_before == 1) StartAnother();
        Serve(static_cast<Connection*>(event.data.ptr));
      } else if (count == 0 && LeaveIfSpare()) {
        break;
      }
    }
    absl::MutexLock lock(&mutex_);
    finished_.push_back(id);
  }

  void StartAnother() {
    absl::MutexLock lock(&mutex_);
    if (stopping_ || counters_.workers >= options_.max_workers) return;
    const absl::Status added = AddWorker();  // else those that there are do it
    if (!added.ok() && !std::exchange(told_of_no_thread_, true)) {
      spdlog::warn("requests wait for the {} threads that there are: {}", counters_.workers.load(),
                   std::string(added.message()));
    }
  }

  bool LeaveIfSpare() {
    absl::MutexLock lock(&mutex_);
    if (stopping_ || counters_.workers <= options_.min_workers) return false;
    --counters_.workers;
    return true;
  }

  void JoinFinishedWorkers() {
    std::vector<std::thread> threads;
    {
      absl::MutexLock lock(&mutex_);
      for (const uint64_t id : std::exchange(finished_, {})) {
        threads.push_back(std::move(workers_.extract(id).mapped()));
      }
    }
    for (std::thread& thread : threads) thread.join();
  }

  void StopWorkers() {
    absl::flat_hash_map<uint64_t, std::thread> threads;
    {
      absl::MutexLock lock(&mutex_);
      stopping_ = true;
      threads = std::exchange(workers_, {});
      finished_.clear();
    }
    // Level-triggered and never read: every worker sees it.
    Wake();
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.ptr = nullptr;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event);
    for (auto& [id, thread] : threads) thread.join();
  }

  // ---- one connection ----

  // Hands the connection back to the event queue; another thread may have it at once.
  void Park(Connection* connection, uint32_t events, MonotonicTime deadline) {
    connection->idle = connection->handshake_done() && !connection->reader.InMessage();
    connection->deadline_ns = absl::ToInt64Nanoseconds(deadline);
    epoll_event event = {};
    event.events = events | EPOLLRDHUP | EPOLLONESHOT;
    event.data.ptr = connection;
    const int operation =
        std::exchange(connection->registered, true) ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(epoll_, operation, connection->fd(), &event) != 0) Close(connection);
  }

  void Close(Connection* connection) {
    {
      absl::MutexLock lock(&mutex_);
      connections_.erase(connection);
    }
    delete connection;
    --counters_.open;
  }

  // The last answer was sent: waits a little for the peer's end, so that a reset caused by what it
  // is still sending does not overtake the answer.
  void Finish(Connection* connection) {
    connection->Finish();
    if (connection->DiscardInput()) {
      Close(connection);
      return;
    }
    connection->lingering = true;
    connection->message_started = clock_->MonotonicNow();
    Park(connection, EPOLLIN, connection->message_started + kLinger);
  }

  void Serve(Connection* connection) {
    connection->deadline_ns = Connection::kNever;
    if (connection->lingering) {
      ServeLingering(connection);
      return;
    }
    if (!connection->handshake_done() && !AdvanceHandshake(connection)) return;
    while (true) {
      while (connection->reader.state() == RequestReader::State::kNeedMore) {
        if (!ReadMore(connection)) return;
      }
      if (!Answer(connection)) return;
      connection->reader.Next();
      if (connection->reader.InMessage()) connection->message_started = clock_->MonotonicNow();
      // What has not arrived yet is waited for in the queue, without a read that finds nothing.
      if (connection->reader.state() == RequestReader::State::kNeedMore &&
          !connection->HasBuffered()) {
        ParkForInput(connection, EPOLLIN);
        return;
      }
    }
  }

  void ServeLingering(Connection* connection) {
    if (connection->DiscardInput()) {
      Close(connection);
    } else {
      Park(connection, EPOLLIN, connection->message_started + kLinger);
    }
  }

  // False: parked or closed.
  bool AdvanceHandshake(Connection* connection) {
    switch (connection->Handshake()) {
      case Io::kOk:
        return true;
      case Io::kClosed:
        ++counters_.handshake_errors;
        Close(connection);
        return false;
      case Io::kWantRead:
        Park(connection, EPOLLIN, connection->message_started + options_.handshake_timeout);
        return false;
      case Io::kWantWrite:
        Park(connection, EPOLLOUT, connection->message_started + options_.handshake_timeout);
        return false;
    }
    return false;
  }

  // False: parked or closed.
  bool ReadMore(Connection* connection) {
    const bool was_in_message = connection->reader.InMessage();
    const Io result = connection->Read();
    if (result == Io::kOk) {
      if (!was_in_message) connection->message_started = clock_->MonotonicNow();
      return true;
    }
    if (result == Io::kClosed) {
      connection->Finish();
      Close(connection);
      return false;
    }
    ParkForInput(connection, result == Io::kWantWrite ? EPOLLOUT : EPOLLIN);
    return false;
  }

  void ParkForInput(Connection* connection, uint32_t events) {
    Park(connection, events,
         connection->reader.InMessage() ? connection->message_started + options_.header_timeout
                                        : clock_->MonotonicNow() + options_.idle_timeout);
  }

  // Nothing that is ours throws; what a library might (no memory left) costs this answer only.
  HttpResponse Call(const HttpRequest& request) {
    try {
      return handler_(request);
    } catch (const std::exception& error) {
      spdlog::error("serving {} {}: {}", request.method, request.target, error.what());
      HttpResponse response;
      response.status = 500;
      response.close = true;
      return response;
    }
  }

  // Answers the request that was read, or the error. False: parked or closed.
  bool Answer(Connection* connection) {
    const HttpRequest& request = connection->reader.request();
    HttpResponse response;
    if (connection->reader.state() == RequestReader::State::kError) {
      ++counters_.bad_requests;
      response.status = connection->reader.error_status();
      response.content_type = "text/plain; charset=utf-8";
      response.body = std::make_shared<std::string>(
          absl::StrFormat("%d %s", response.status, ReasonPhrase(response.status)));
      response.close = true;
    } else {
      response = Call(request);
    }
    const bool keep_alive = !response.close && !draining_ && connection->reader.KeepAlive();
    thread_local std::string bytes;
    bytes.clear();
    AppendResponse(response, DateNow(clock_->WallNow()), keep_alive, request.method == "HEAD",
                   &bytes);
    const bool sent = connection->Write(bytes, options_.write_timeout);
    if (bytes.capacity() > kKeptBufferBytes) std::string().swap(bytes);
    if (!sent) {
      Close(connection);
      return false;
    }
    if (!keep_alive) {
      Finish(connection);
      return false;
    }
    return true;
  }

  static constexpr size_t kKeptBufferBytes = 1 << 20;  // a thread keeps no more than this

  const ListenOptions options_;
  const RequestLimits limits_;
  const TlsCertificates* const tls_;
  Clock* const clock_;
  const Handler handler_;
  Counters counters_;

  Listener listener_;  // the accepting thread's own once it runs
  int port_ = 0;
  int epoll_ = -1;
  int wake_ = -1;
  std::thread accepting_;
  std::atomic<bool> draining_{false};
  std::atomic<int> idle_workers_{0};

  absl::Mutex mutex_;
  bool listener_closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool cut_off_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  absl::flat_hash_set<Connection*> connections_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, std::thread> workers_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint64_t> finished_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_worker_ ABSL_GUARDED_BY(mutex_) = 0;
  bool told_of_no_thread_ ABSL_GUARDED_BY(mutex_) = false;
};

HttpServer::HttpServer(ListenOptions options, const TlsCertificates* tls, Clock* clock,
                       Handler handler)
    : impl_(std::make_unique<Impl>(std::move(options), tls, clock, std::move(handler))) {}
HttpServer::~HttpServer() = default;

absl::Status HttpServer::Start() { return impl_->Start(); }
int HttpServer::port() const { return impl_->port(); }
void HttpServer::Drain(absl::Duration limit) { impl_->Drain(limit); }
const HttpServer::Counters& HttpServer::counters() const { return impl_->counters(); }

}  // namespace flyball::apiservice
