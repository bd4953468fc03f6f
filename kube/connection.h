// One kept-alive HTTP/1.1 connection, and the thread that cuts connections whose time is over.
//
// Internal to transport.cc. A Connection is used by one thread at a time; Cut may be called from
// any. Errors never name credentials.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/tls_client.h"
#include "kube/transport.h"
#include "kube/url.h"

namespace httplib {
class ClientImpl;
}

namespace flyball::kube {

// One request on a connection.
struct Exchange {
  std::string method;
  std::string target;
  HeaderList headers;
  absl::string_view body;
  // Called once, before the body; false ends the exchange well.
  std::function<bool(int status, HeaderList headers)> on_head;
  // Called with each piece of the body; false ends the exchange well.
  std::function<bool(absl::string_view)> on_data;
};

class Connection {
 public:
  // `tls` is null for plain http. Connects at the first exchange.
  Connection(const Url& origin, std::shared_ptr<const TlsClient> tls,
             absl::Duration connect_timeout);
  ~Connection();

  // kUnavailable with the reason, also after Cut.
  absl::Status Run(const Exchange& exchange);

  // Ends the exchange under way as soon as possible; the connection is of no use afterwards.
  void Cut();

  // Still open, as far as is known here.
  bool Open() const;
  // True if the next exchange can use the open connection: it is open and the peer has sent
  // nothing since the last answer, as it does when it closes.
  bool Reusable() const;

 private:
  void Opened(int socket);
  absl::Status ErrorOf(int error) const;

  const std::string origin_;
  const std::shared_ptr<const TlsClient> tls_;
  std::string tls_failure_;  // set by the certificate check
  std::unique_ptr<httplib::ClientImpl> client_;

  mutable absl::Mutex mutex_;
  bool cut_ ABSL_GUARDED_BY(mutex_) = false;
  // A second descriptor of the open socket: shutting it down ends the library's reads and writes,
  // and unlike the library's own it cannot meanwhile belong to another connection.
  int socket_ ABSL_GUARDED_BY(mutex_) = -1;
};

// Cuts connections at their deadline, and all of them when it is closed.
class Deadlines {
 public:
  enum class Outcome { kInTime, kLate, kClosed };

  Deadlines();
  ~Deadlines();

  // Guards one exchange. `connection` must live until End.
  class Guard {
   public:
    Guard(Deadlines& deadlines, Connection& connection, absl::Duration timeout);
    ~Guard() { End(); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    // Starts the time again: for a stream, after each piece.
    void Extend(absl::Duration timeout);
    // Whether the connection was cut, and why.
    Outcome End();

   private:
    friend class Deadlines;
    Deadlines& deadlines_;
    Connection& connection_;
    bool ended_ = false;
    // Guarded by deadlines_.mutex_.
    MonotonicTime deadline_;
    Outcome outcome_ = Outcome::kInTime;
  };

  // Cuts what is under way and whatever begins from now on.
  void Close();
  bool closed() const;

 private:
  void Run();
  // Cuts what is over; returns the time until the next look.
  absl::Duration CutOverdue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  bool changed_ ABSL_GUARDED_BY(mutex_) = false;  // look again
  std::vector<Guard*> guards_ ABSL_GUARDED_BY(mutex_);
  MonotonicTime next_look_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteDuration();
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace flyball::kube
