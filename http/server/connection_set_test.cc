#include "http/server/connection_set.h"

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "http/server/tls.h"

namespace flyball::http {
namespace {

using Room = ConnectionSet::Room;

constexpr size_t kMaxBytes = 2 << 20;
constexpr size_t kSmall = 10'000;  // of a head, which weighs twice as much
constexpr size_t kLarge = 200'000;

class ConnectionSetTest : public testing::Test {
 protected:
  ~ConnectionSetTest() override {
    for (const int peer : peers_) close(peer);
  }

  // One that is being served, and has sent so much of a head.
  ServerConnection* Make(size_t head) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    peers_.push_back(ends[1]);
    auto* connection = new ServerConnection(ends[0], nullptr, RequestLimits());  // the set's
    connection->reader.Feed("GET / HTTP/1.1\r\nX: " + std::string(head, 'x'));
    EXPECT_TRUE(set_.Add(connection));
    return connection;
  }
  // One that waits for its peer.
  ServerConnection* MakeWaiting(size_t head, bool idle) {
    ServerConnection* connection = Make(head);
    EXPECT_EQ(set_.Weigh(connection), Room::kThere);
    connection->idle = idle;
    connection->quiet_since_ns = absl::ToInt64Nanoseconds(clock_.MonotonicNow());
    connection->deadline_ns = ServerConnection::kNever - 1;
    return connection;
  }
  static bool Ended(const ServerConnection* connection) {
    return connection->deadline_ns == ServerConnection::kEnded;
  }
  // Large ones that are being served, until there is room for none.
  void Fill() { FillUpTo(kMaxBytes); }
  void FillUpTo(size_t bytes) {
    while (bytes_ + 2 * kLarge < bytes) ASSERT_EQ(set_.Weigh(Make(kLarge)), Room::kThere);
  }

  SimulatedClock clock_{absl::UnixEpoch()};
  std::atomic<size_t> bytes_{0};
  std::atomic<uint64_t> ended_{0};
  std::vector<int> peers_;
  ConnectionSet set_{{.max_connections = 100, .max_bytes = kMaxBytes}, &clock_, &bytes_, &ended_};
};

TEST_F(ConnectionSetTest, ALargeOneIsRefusedBeforeSmallNewOnesEnd) {
  const ServerConnection* const begun = MakeWaiting(kSmall, false);
  const ServerConnection* const idle = MakeWaiting(kSmall, true);
  ASSERT_NO_FATAL_FAILURE(Fill());
  ServerConnection* const large = Make(kLarge);
  EXPECT_EQ(set_.Weigh(large), Room::kNone);
  EXPECT_FALSE(Ended(begun));
  EXPECT_FALSE(Ended(idle));
  set_.Close(large);

  // Later they make room, as far as that goes.
  clock_.Advance(absl::Seconds(2));
  EXPECT_EQ(set_.Weigh(Make(kLarge)), Room::kNone);
  EXPECT_TRUE(Ended(begun));
  EXPECT_TRUE(Ended(idle));
}

// As one whose request was refused, and whose peer has not ended it yet.
TEST_F(ConnectionSetTest, ALargeOneThatDoesNothingEndsBeforeSmallOnes) {
  const ServerConnection* const small = MakeWaiting(kSmall, true);
  clock_.Advance(absl::Seconds(2));
  const ServerConnection* const large = MakeWaiting(kLarge, true);
  ASSERT_NO_FATAL_FAILURE(Fill());
  EXPECT_EQ(set_.Weigh(Make(kLarge)), Room::kSoon);
  EXPECT_TRUE(Ended(large));
  EXPECT_FALSE(Ended(small));
}

// Whoever comes gets in, although nobody else can go.
TEST_F(ConnectionSetTest, ForASmallOneSmallNewOnesEndLast) {
  const ServerConnection* const begun = MakeWaiting(kSmall, false);
  ServerConnection* const large = MakeWaiting(kLarge, false);
  large->yielded = true;
  clock_.Advance(absl::Milliseconds(10));
  large->quiet_since_ns = absl::ToInt64Nanoseconds(clock_.MonotonicNow());
  ASSERT_NO_FATAL_FAILURE(Fill());
  while (bytes_ <= kMaxBytes) EXPECT_NE(set_.Weigh(Make(kSmall)), Room::kNone);
  EXPECT_TRUE(Ended(large));
  EXPECT_FALSE(Ended(begun));
  while (bytes_ <= kMaxBytes + 2 * kLarge) EXPECT_NE(set_.Weigh(Make(kSmall)), Room::kNone);
  while (!Ended(begun)) ASSERT_EQ(set_.Weigh(Make(kSmall)), Room::kThere);
}

TEST_F(ConnectionSetTest, SmallNewOnesOfWhoHasManyEndBeforeThoseOfOthers) {
  ServerConnection* const other = MakeWaiting(kSmall, false);
  other->origin = 1;
  clock_.Advance(absl::Milliseconds(10));
  while (bytes_ + 5 * kSmall < kMaxBytes) MakeWaiting(2 * kSmall, true);
  while (ended_ == 0) EXPECT_NE(set_.Weigh(Make(2 * kSmall)), Room::kNone);
  EXPECT_FALSE(Ended(other)) << "although it has been quiet longest";
}

// As a probe that waits for its turn when a long answer takes the memory of all.
TEST_F(ConnectionSetTest, ASmallOneThatWasJustServedIsNotEndedForMemory) {
  const ServerConnection* const quiet = MakeWaiting(kSmall, true);
  clock_.Advance(absl::Milliseconds(60));
  const ServerConnection* const probe = MakeWaiting(kSmall, true);
  ASSERT_NO_FATAL_FAILURE(Fill());
  while (bytes_ <= kMaxBytes + 2 * kLarge) EXPECT_NE(set_.Weigh(Make(kSmall)), Room::kNone);
  EXPECT_TRUE(Ended(quiet));
  EXPECT_FALSE(Ended(probe));
}

// Peers that send a byte now and then are all served so recently.
TEST_F(ConnectionSetTest, SmallOnesThatWereJustServedTakeAQuarterMoreThanTheLimit) {
  while (bytes_ + 5 * kSmall < kMaxBytes) MakeWaiting(2 * kSmall, true);
  while (ended_ == 0 && bytes_ < 2 * kMaxBytes) {
    EXPECT_NE(set_.Weigh(Make(kSmall)), Room::kNone);
  }
  EXPECT_GT(bytes_, kMaxBytes + kMaxBytes / 5);
  EXPECT_LT(bytes_, kMaxBytes + kMaxBytes / 3);
}

// However many hold it beside them, as a cache does for a while.
TEST_F(ConnectionSetTest, ABodyCountsOnceAndWholeAsLongAsOneSendsIt) {
  TlsOptions options;
  options.cert_dir = testing::TempDir();
  const auto certificates = TlsCertificates::Create(options, "127.0.0.1");
  ASSERT_TRUE(certificates.ok()) << certificates.status();
  auto body = std::make_shared<const std::string>(kLarge, 'x');
  const auto make_sending = [&] {
    int ends[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    peers_.push_back(ends[1]);
    auto* connection = new ServerConnection(ends[0], (*certificates)->bundle(), RequestLimits());
    EXPECT_TRUE(set_.Add(connection));
    EXPECT_TRUE(connection->StartTls());
    EXPECT_EQ(connection->Send("", body, 0), ServerConnection::Io::kWantRead);
    EXPECT_EQ(set_.Weigh(connection), Room::kThere);
    return connection;
  };
  ServerConnection* const one = make_sending();
  const size_t with_one = bytes_;
  EXPECT_EQ(with_one, one->Footprint() + kLarge);
  ServerConnection* const other = make_sending();
  EXPECT_EQ(bytes_, with_one + other->Footprint());
  set_.Close(one);
  EXPECT_EQ(bytes_, with_one);
  const std::weak_ptr<const std::string> last = std::exchange(body, nullptr);
  set_.Close(other);
  EXPECT_EQ(bytes_, 0u);
  EXPECT_TRUE(last.expired());
}

TEST_F(ConnectionSetTest, AnswersThatAreMadeTakeTheRoomOfWhatNobodyReads) {
  const ServerConnection* const small = MakeWaiting(kSmall, true);
  const ServerConnection* const first = MakeWaiting(kLarge, false);
  const ServerConnection* const second = MakeWaiting(kLarge, false);
  const ServerConnection* const third = MakeWaiting(kLarge, false);
  const auto little = set_.CountAnswer(kMaxBytes / 10);
  EXPECT_FALSE(Ended(first) || Ended(second) || Ended(third)) << "so much is beside them";
  const auto much = set_.CountAnswer(10 * kMaxBytes);
  EXPECT_TRUE(Ended(first) || Ended(second) || Ended(third));
  EXPECT_FALSE(Ended(first) && Ended(second) && Ended(third)) << "half of the limit is theirs";
  EXPECT_FALSE(Ended(small)) << "it was served within the last second";
}

TEST_F(ConnectionSetTest, OnceAnAnswerIsMadeItsRoomIsThatOfConnections) {
  auto made = set_.CountAnswer(kMaxBytes);
  ASSERT_NO_FATAL_FAILURE(FillUpTo(kMaxBytes / 2));
  ServerConnection* const large = Make(kLarge);
  EXPECT_EQ(set_.Weigh(large), Room::kNone);
  set_.Close(large);
  made = nullptr;
  EXPECT_EQ(set_.Weigh(Make(kLarge)), Room::kThere);
}

// Those that are being answered cannot be ended, so they leave room for others.
TEST_F(ConnectionSetTest, LargeOnesThatAreBeingAnsweredTakeHalf) {
  std::vector<ServerConnection*> answering;
  while (true) {
    ServerConnection* const large = Make(kLarge);
    ASSERT_EQ(set_.Weigh(large), Room::kThere);
    if (!set_.BeginAnswer(*large)) break;
    answering.push_back(large);
  }
  EXPECT_EQ(answering.size(), kMaxBytes / 2 / (2 * kLarge));
  ServerConnection* const small = Make(kSmall);
  ASSERT_EQ(set_.Weigh(small), Room::kThere);
  EXPECT_TRUE(set_.BeginAnswer(*small));
  EXPECT_FALSE(set_.BeginAnswer(*answering[0]));
  set_.EndAnswer(*small);
  for (const ServerConnection* one : answering) set_.EndAnswer(*one);
  EXPECT_TRUE(set_.BeginAnswer(*answering[0]));
}

TEST_F(ConnectionSetTest, OneLargeOneAloneIsAnsweredHoweverLargeItIs) {
  ServerConnection* const large = Make(kMaxBytes * 2 / 5);
  ASSERT_EQ(set_.Weigh(large), Room::kThere);
  ASSERT_GT(large->weight, kMaxBytes / 2);
  EXPECT_TRUE(set_.BeginAnswer(*large));
  ServerConnection* const next = Make(kLarge);
  (void)set_.Weigh(next);
  EXPECT_FALSE(set_.BeginAnswer(*next));
}

}  // namespace
}  // namespace flyball::http
