#include "http/server/connection_set.h"

#include <sys/socket.h>

#include <algorithm>
#include <tuple>

namespace flyball::http {
namespace {

// Room is made for several connections at once, so that not every new one causes a search through
// all.
constexpr size_t kBatch = 64;

// How long a handshake, or a request that comes in pieces, may pause, and for how long a small
// connection is spared.
constexpr absl::Duration kGrace = absl::Seconds(1);

// A small one that was served so recently, as a probe, is not ended for memory: a long answer may
// need that of all others at once. But peers that send a byte now and then are all served so
// recently, so they may take no more than this part of the memory beyond the limit.
constexpr absl::Duration kJustServed = absl::Milliseconds(50);
constexpr size_t kPartOfJustServed = 4;

// If one origin takes more than this part of the memory, its small connections are not spared as
// others are: a probe waits for its turn as they do, but longest since it was last served.
constexpr size_t kPartOfMany = 4;

// Ending a connection that takes less than this frees too little.
constexpr size_t kWorthIt = 4 << 10;

// The order in which connections are ended.
enum class Kind {
  kStopped,
  kOther,
  kSmallAndNewOfMany,
  kSmallAndNew,
  kJustServedOfMany,
  kJustServed,
};

Kind KindOfSmallAndNew(bool just_served, bool of_many) {
  if (just_served) return of_many ? Kind::kJustServedOfMany : Kind::kJustServed;
  return of_many ? Kind::kSmallAndNewOfMany : Kind::kSmallAndNew;
}

struct Quiet {
  Kind kind;
  int64_t since_ns;
  ServerConnection* connection;
  bool operator<(const Quiet& other) const {
    return std::tie(kind, since_ns) < std::tie(other.kind, other.since_ns);
  }
};

// The bytes that count while a large connection is being answered.
size_t LargeBytes(const ServerConnection& connection) {
  const size_t weight = connection.weight;
  return weight > ConnectionSet::kLight ? weight : 0;
}

}  // namespace

ConnectionSet::~ConnectionSet() {
  absl::MutexLock lock(&mutex_);
  for (ServerConnection* connection : all_) delete connection;
}

bool ConnectionSet::Add(ServerConnection* connection) {
  absl::MutexLock lock(&mutex_);
  const size_t staying = all_.size() - going_;
  if (staying >= limits_.max_connections) MakeRoom(limits_.max_connections / kBatch + 1, 0, false);
  if (all_.size() - going_ >= limits_.max_connections) return false;
  all_.insert(connection);
  return true;
}

ConnectionSet::Room ConnectionSet::Weigh(ServerConnection* connection) {
  const size_t now = connection->Footprint();
  const size_t before = connection->weight.exchange(now);
  const size_t grown = now - before + WeighBody(connection, connection->unsent_body());
  if (grown == 0) return Room::kThere;
  const size_t all = bytes_.fetch_add(grown) + grown;
  const size_t most = MostBytes();
  if (all <= most || static_cast<ptrdiff_t>(grown) < 0) return Room::kThere;
  absl::MutexLock lock(&mutex_);
  const bool large = BytesOf(*connection) > kLight;
  KeepWithinBytes(large);
  if (bytes_ <= most) return Room::kThere;
  if (bytes_ <= most + going_bytes_) return Room::kSoon;
  return large ? Room::kNone : Room::kThere;
}

size_t ConnectionSet::WeighBody(ServerConnection* connection,
                                std::shared_ptr<const std::string> body) {
  // No other thread changes it.
  if (body == connection->weighed_body) return 0;
  absl::MutexLock lock(&mutex_);
  size_t grown = 0;
  if (body != nullptr && ++senders_[body.get()] == 1) grown += body->size();
  body.swap(connection->weighed_body);
  if (const auto before = senders_.find(body.get()); before != senders_.end()) {
    if (--before->second == 0) {
      senders_.erase(before);
      grown -= body->size();
    }
  }
  return grown;
}

size_t ConnectionSet::BytesOf(const ServerConnection& connection) const {
  const auto& body = connection.weighed_body;
  return connection.weight + (body == nullptr ? 0 : body->size() / senders_.at(body.get()));
}

bool ConnectionSet::BeginAnswer(const ServerConnection& connection) {
  const size_t bytes = LargeBytes(connection);
  const size_t others = large_answering_.fetch_add(bytes);
  // One alone is answered however large it is.
  if (bytes == 0 || others == 0 || others + bytes <= limits_.max_bytes / 2) return true;
  large_answering_ -= bytes;
  return false;
}

void ConnectionSet::EndAnswer(const ServerConnection& connection) {
  large_answering_ -= LargeBytes(connection);
}

std::shared_ptr<const void> ConnectionSet::CountAnswer(size_t bytes) {
  making_ += bytes;
  std::shared_ptr<const void> counted(this, [this, bytes](const void*) { making_ -= bytes; });
  if (bytes_ <= MostBytes()) return counted;
  absl::MutexLock lock(&mutex_);
  KeepWithinBytes(/*for_large=*/true);
  return counted;
}

void ConnectionSet::Close(ServerConnection* connection) {
  {
    absl::MutexLock lock(&mutex_);
    all_.erase(connection);
    if (connection->weight_when_ended.has_value()) --going_;
  }
  const size_t weight = connection->weight - WeighBody(connection, nullptr);
  const size_t going = connection->weight_when_ended.value_or(0);
  delete connection;
  // Both change under one lock: otherwise a connection could be ended for room that is free
  // already.
  absl::MutexLock lock(&mutex_);
  going_bytes_ -= going;
  bytes_ -= weight;
}

bool ConnectionSet::End(ServerConnection* connection) {
  int64_t deadline = connection->deadline_ns;
  if (deadline == ServerConnection::kNever || deadline == ServerConnection::kEnded ||
      !connection->deadline_ns.compare_exchange_strong(deadline, ServerConnection::kEnded)) {
    return false;
  }
  connection->weight_when_ended = BytesOf(*connection);
  ++going_;
  going_bytes_ += *connection->weight_when_ended;
  ++ended_for_room_;
  shutdown(connection->fd(), SHUT_RDWR);
  return true;
}

size_t ConnectionSet::MostBytes() const {
  const size_t making = making_;
  const size_t beside = std::min(making, limits_.max_bytes / 10);
  return limits_.max_bytes - std::min(making - beside, limits_.max_bytes / 2);
}

void ConnectionSet::KeepWithinBytes(bool for_large) {
  const size_t bytes = bytes_;  // which others change meanwhile
  const size_t wanted = MostBytes() + going_bytes_;
  if (bytes > wanted) MakeRoom(0, bytes - wanted + limits_.max_bytes / kBatch, for_large);
}

void ConnectionSet::MakeRoom(size_t connections, size_t bytes, bool for_large) {
  const MonotonicTime now = clock_.MonotonicNow();
  const int64_t graced_ns = absl::ToInt64Nanoseconds(now - kGrace);
  const int64_t just_served_ns = absl::ToInt64Nanoseconds(now - kJustServed);
  std::vector<Quiet> quiet;
  absl::flat_hash_map<uint64_t, size_t> bytes_of;  // by origin
  for (const ServerConnection* connection : all_) {
    bytes_of[connection->origin] += BytesOf(*connection);
  }
  for (ServerConnection* connection : all_) {
    if (connection->deadline_ns == ServerConnection::kNever) continue;
    const size_t takes = BytesOf(*connection);
    // A small one may be waiting for a worker, in the queue behind many others.
    if (bytes > 0 && takes < kWorthIt) continue;
    const int64_t since_ns = connection->quiet_since_ns;
    const bool small = takes <= kLight;
    const bool small_and_new = small && since_ns >= graced_ns;
    if (small_and_new && for_large) continue;
    const bool stopped = !small_and_new && !connection->yielded && (!connection->idle || !small);
    const bool of_many = bytes_of[connection->origin] > limits_.max_bytes / kPartOfMany;
    const bool just_served = bytes > 0 && since_ns > just_served_ns;
    const Kind kind = small_and_new ? KindOfSmallAndNew(just_served, of_many)
                      : stopped     ? Kind::kStopped
                                    : Kind::kOther;
    quiet.push_back({kind, since_ns, connection});
  }
  std::sort(quiet.begin(), quiet.end());
  for (const Quiet& one : quiet) {
    const bool just_served = one.kind >= Kind::kJustServedOfMany;
    const size_t beyond = just_served ? limits_.max_bytes / kPartOfJustServed : 0;
    if (connections == 0 && bytes <= beyond) return;
    if (!End(one.connection)) continue;
    bytes -= std::min(*one.connection->weight_when_ended, bytes);
    connections -= std::min<size_t>(1, connections);
  }
}

void ConnectionSet::EndOverdue(MonotonicTime now, bool draining) {
  const int64_t now_ns = absl::ToInt64Nanoseconds(now);
  absl::MutexLock lock(&mutex_);
  for (ServerConnection* connection : all_) {
    const int64_t deadline = connection->deadline_ns;
    const bool over = deadline <= now_ns;
    if (!over && !(draining && deadline != ServerConnection::kNever && connection->idle)) continue;
    // Of an idle connection only the reading side is shut: the thread that this wakes reads what
    // had arrived and then sees the end of input. A peer that does not read its answer would not
    // notice that, so then both sides are shut.
    shutdown(connection->fd(), over && !connection->idle ? SHUT_RDWR : SHUT_RD);
  }
}

void ConnectionSet::EndSomeQuiet() {
  absl::MutexLock lock(&mutex_);
  MakeRoom(kBatch, 0, false);
}

void ConnectionSet::EndAll() {
  absl::MutexLock lock(&mutex_);
  for (ServerConnection* connection : all_) shutdown(connection->fd(), SHUT_RDWR);
}

bool ConnectionSet::AwaitEmpty(MonotonicTime deadline) {
  absl::MutexLock lock(&mutex_);
  return clock_.Await(mutex_, absl::Condition(this, &ConnectionSet::IsEmpty), deadline);
}

bool ConnectionSet::empty() const {
  absl::MutexLock lock(&mutex_);
  return all_.empty();
}

}  // namespace flyball::http
