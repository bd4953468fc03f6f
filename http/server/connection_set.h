// The connections of a server: their number, the memory that they take together, and the choice of
// those that are ended if it is too much.
//
// Thread-safe. It owns the connections, but a connection is destroyed (Close) only by the thread to
// which an event gave it: to end one, another thread shuts its socket down, and the thread that is
// woken by this closes it.
//
// A new connection is not refused because of old ones that do nothing: if there are too many
// connections, or they take too much memory, those that were served longest ago are ended. First
// come connections that have begun a handshake, a request, or reading an answer and have not
// continued, if they are large or have been quiet for over a second. Last come small ones that were
// served within the last second, first those of an origin that takes more than a quarter of the
// memory; a large one never ends these, but is refused. For memory those that were served within
// the last 50 ms end after these, and only if a quarter more than the limit is taken. Connections
// that are being served stay. To leave room beside them, large requests that are being answered
// take no more than half of the memory. A body that several connections send counts once, and in
// full as long as one of them sends it; only in the choice of connections to end does each have its
// part of it. While long answers are being made, connections leave them what they take beyond a
// part of the limit.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "http/server/connection.h"

namespace flyball::http {

class ConnectionSet {
 public:
  // A connection of at most this many bytes is never refused: an honest request takes no more.
  static constexpr size_t kLight = 64 << 10;

  struct Limits {
    size_t max_connections = 0;
    size_t max_bytes = 0;  // of memory, all together
  };

  // `bytes` and `ended` get the present memory of all and the number of those ended for others;
  // they and the clock outlive the set.
  ConnectionSet(Limits limits, Clock* clock, std::atomic<size_t>* bytes,
                std::atomic<uint64_t>* ended)
      : limits_(limits), clock_(*clock), bytes_(*bytes), ended_for_room_(*ended) {}
  ~ConnectionSet();  // destroys those that are left; no worker serves one any more

  ConnectionSet(const ConnectionSet&) = delete;
  ConnectionSet& operator=(const ConnectionSet&) = delete;

  // Takes the connection after making room. False: too many, all being served; the caller keeps it.
  bool Add(ServerConnection* connection);

  enum class Room {
    kThere,
    kSoon,  // once the connections that were told to end have ended
    kNone,  // no connection could be ended
  };
  // Counts the connection's present memory, and makes room for it. Called by its serving thread. An
  // unsent body lives until the connection is weighed without it.
  Room Weigh(ServerConnection* connection);

  // To be called before its request is answered, by its serving thread, which calls EndAnswer
  // afterwards. False: it is large, and with those being answered it would take too much.
  bool BeginAnswer(const ServerConnection& connection);
  void EndAnswer(const ServerConnection& connection);

  // Counts memory in which an answer is made, until the result is gone, and makes room for it as
  // for a large connection. The set outlives the result.
  std::shared_ptr<const void> CountAnswer(size_t bytes);

  // Destroys it.
  void Close(ServerConnection* connection);

  // Ends those whose deadline is over and, while draining, idle ones. Requests that have arrived
  // may still be answered.
  void EndOverdue(MonotonicTime now, bool draining);
  // Ends some that were served longest ago, to free their file descriptors.
  void EndSomeQuiet();
  // Cuts off all connections.
  void EndAll();

  // Waits until none is left; false: the deadline came first.
  bool AwaitEmpty(MonotonicTime deadline);
  bool empty() const;

 private:
  // Ends those that were served longest ago, until that many connections and bytes are ending.
  // `for_large`: the room is for a large connection, for which not all may be ended.
  void MakeRoom(size_t connections, size_t bytes, bool for_large)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // How many bytes connections may take at present.
  size_t MostBytes() const;
  // Makes room if the bytes that stay are too many.
  void KeepWithinBytes(bool for_large) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Replaces the body that the connection sends; returns the growth of all bodies' bytes, modulo
  // 2^64. Called by its serving thread.
  size_t WeighBody(ServerConnection* connection, std::shared_ptr<const std::string> body);
  // Its weight, including its part of the body that it sends.
  size_t BytesOf(const ServerConnection& connection) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  // Tells it to end, unless a worker has just begun to serve it.
  bool End(ServerConnection* connection) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsEmpty() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return all_.empty(); }

  const Limits limits_;
  Clock& clock_;
  std::atomic<size_t>& bytes_;
  std::atomic<uint64_t>& ended_for_room_;
  std::atomic<size_t> large_answering_{0};  // bytes
  std::atomic<size_t> making_{0};           // bytes of the answers that are being made
  mutable absl::Mutex mutex_;
  absl::flat_hash_set<ServerConnection*> all_ ABSL_GUARDED_BY(mutex_);
  // How many connections send each body.
  absl::flat_hash_map<const std::string*, size_t> senders_ ABSL_GUARDED_BY(mutex_);
  size_t going_ ABSL_GUARDED_BY(mutex_) = 0;        // of those, told to end
  size_t going_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // their bytes at that time
};

}  // namespace flyball::http
