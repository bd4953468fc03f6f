#include "http/server/newcomers.h"

#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace flyball::http {
namespace {

// A connection and its peer's end.
struct Pair {
  Pair() {
    int ends[2] = {-1, -1};
    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends);
    connection = std::make_unique<ServerConnection>(ends[0], nullptr, RequestLimits());
    connection->deadline_ns = 1;
    peer = ends[1];
  }
  ~Pair() { close(peer); }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  void Say() const { EXPECT_EQ(write(peer, "x", 1), 1); }

  std::unique_ptr<ServerConnection> connection;
  int peer = -1;
};

class NewcomersTest : public testing::Test {
 protected:
  NewcomersTest() { EXPECT_TRUE(newcomers_.Start().ok()); }
  void Gather() {
    newcomers_.Gather([this](ServerConnection* connection) { given_up_.push_back(connection); });
  }

  Newcomers newcomers_;
  std::vector<ServerConnection*> given_up_;
};

TEST_F(NewcomersTest, TheNewestThatSaidSomethingComesFirst) {
  std::vector<Pair> pairs(4);
  for (Pair& pair : pairs) ASSERT_TRUE(newcomers_.Begin(pair.connection.get()));
  Gather();
  EXPECT_EQ(newcomers_.Take(), nullptr);
  for (const int said : {2, 0, 3}) {
    pairs[static_cast<size_t>(said)].Say();
    Gather();
  }
  EXPECT_EQ(newcomers_.Take(), pairs[3].connection.get());
  EXPECT_EQ(newcomers_.Take(), pairs[0].connection.get());
  EXPECT_EQ(newcomers_.Take(), pairs[2].connection.get());
  EXPECT_EQ(newcomers_.Take(), nullptr);
  EXPECT_TRUE(given_up_.empty());
}

TEST_F(NewcomersTest, OfTooManyTheOldestAreGivenUp) {
  std::vector<Pair> pairs(Newcomers::kMostWaiting + 3);
  for (Pair& pair : pairs) {
    ASSERT_TRUE(newcomers_.Begin(pair.connection.get()));
    pair.Say();
    Gather();
  }
  EXPECT_EQ(given_up_,
            (std::vector<ServerConnection*>{pairs[0].connection.get(), pairs[1].connection.get(),
                                            pairs[2].connection.get()}));
  EXPECT_EQ(newcomers_.Take(), pairs.back().connection.get());
  size_t left = 1;
  while (newcomers_.Take() != nullptr) ++left;
  EXPECT_EQ(left, Newcomers::kMostWaiting);
}

TEST_F(NewcomersTest, ACrowdKeepsNobodyFromElsewhereWaiting) {
  std::vector<Pair> crowd(Newcomers::kMostWaiting);
  Pair honest;
  honest.connection->origin = 1;
  ASSERT_TRUE(newcomers_.Begin(honest.connection.get()));
  honest.Say();
  Gather();
  for (Pair& pair : crowd) {
    ASSERT_TRUE(newcomers_.Begin(pair.connection.get()));
    pair.Say();
    Gather();
  }
  EXPECT_EQ(given_up_, std::vector<ServerConnection*>{crowd[0].connection.get()});
  EXPECT_EQ(newcomers_.Take(), honest.connection.get());
  // And those of the crowd afterwards.
  EXPECT_EQ(newcomers_.Take(), crowd.back().connection.get());
}

TEST_F(NewcomersTest, OriginsTakeTurns) {
  std::vector<Pair> pairs(5);
  for (size_t i = 0; i < pairs.size(); ++i) {
    pairs[i].connection->origin = i < 3 ? 1 : 2;
    ASSERT_TRUE(newcomers_.Begin(pairs[i].connection.get()));
    pairs[i].Say();
    Gather();
  }
  for (const size_t next : {2, 4, 1, 3, 0}) {
    EXPECT_EQ(newcomers_.Take(), pairs[next].connection.get()) << next;
  }
}

TEST_F(NewcomersTest, OriginsWithoutNumberAreGivenUpToo) {
  std::vector<Pair> pairs(Newcomers::kMostWaiting + 3);
  for (size_t i = 0; i < pairs.size(); ++i) {
    pairs[i].connection->origin = i;
    ASSERT_TRUE(newcomers_.Begin(pairs[i].connection.get()));
    pairs[i].Say();
    Gather();
  }
  EXPECT_EQ(given_up_.size(), 3u);
  size_t left = 0;
  while (newcomers_.Take() != nullptr) ++left;
  EXPECT_EQ(left, Newcomers::kMostWaiting);
}

TEST_F(NewcomersTest, WhoIsGoneIsGivenUpInsteadOfThoseThatWait) {
  std::vector<Pair> pairs(Newcomers::kMostWaiting + 1);
  for (Pair& pair : pairs) {
    ASSERT_TRUE(newcomers_.Begin(pair.connection.get()));
    if (&pair == &pairs.front()) {
      pair.Say();
    } else {
      shutdown(pair.peer, SHUT_RDWR);
    }
    Gather();
  }
  EXPECT_EQ(given_up_.size(), Newcomers::kMostWaiting);
  EXPECT_EQ(newcomers_.Take(), pairs.front().connection.get());
}

TEST_F(NewcomersTest, WhoHadToMakeRoomIsGivenUp) {
  Pair pair;
  ASSERT_TRUE(newcomers_.Begin(pair.connection.get()));
  pair.connection->deadline_ns = ServerConnection::kEnded;
  shutdown(pair.connection->fd(), SHUT_RDWR);
  Gather();
  EXPECT_EQ(given_up_, std::vector<ServerConnection*>{pair.connection.get()});
  EXPECT_EQ(newcomers_.Take(), nullptr);
}

}  // namespace
}  // namespace flyball::http
