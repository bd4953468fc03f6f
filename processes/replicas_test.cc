// Uses real short processes: sh and sleep. The test sets the times of steps, and waits only for
// processes to end.
#include "processes/replicas.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "absl/strings/str_cat.h"

namespace flyball::processes {
namespace {

const absl::Time kWall = absl::FromUnixSeconds(1767225600);

ProcessSetSpec Spec(std::vector<std::string> command, int32_t replicas) {
  ProcessSetSpec spec;
  spec.ns = "default";
  spec.name = "worker";
  spec.command = std::move(command);
  spec.replicas = replicas;
  spec.grace_period = absl::Seconds(10);
  return spec;
}

const std::vector<std::string> kForever = {"sleep", "1000"};

class ReplicasTest : public testing::Test {
 protected:
  static constexpr int kGenerousMs = 30000;

  void Step(Replicas& replicas) { next_ = replicas.Step(now_, kWall + now_); }

  // Calls Step whenever something happens, until `condition` holds.
  void StepUntil(Replicas& replicas, const std::function<bool()>& condition) {
    for (Step(replicas); !condition(); Step(replicas)) {
      std::vector<pollfd> polled;
      replicas.AddPolled(polled);
      ASSERT_GT(poll(polled.data(), polled.size(), kGenerousMs), 0) << "nothing happens";
    }
  }

  MonotonicTime now_ = absl::Seconds(100);
  MonotonicTime next_ = absl::ZeroDuration();
};

bool Runs(pid_t pid) { return kill(pid, 0) == 0; }

TEST_F(ReplicasTest, ThereAreAsManyAsWanted) {
  Replicas replicas(Spec(kForever, 2));
  Step(replicas);
  const std::vector<ReplicaView> view = replicas.View();
  ASSERT_EQ(view.size(), 2u);
  EXPECT_TRUE(view[0].ready && view[1].ready);
  EXPECT_TRUE(Runs(view[0].pid) && Runs(view[1].pid));
  EXPECT_EQ(getpgid(view[1].pid), view[1].pid);
  EXPECT_EQ(next_, absl::InfiniteDuration());
  replicas.Want(Spec(kForever, 3));
  Step(replicas);
  EXPECT_EQ(replicas.View().size(), 3u);
  EXPECT_EQ(replicas.View()[0], view[0]);
}

TEST_F(ReplicasTest, AProcessHasTheLimitOfFilesThatThisOneBeganWith) {
  rlimit at_start = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &at_start), 0);
  const rlimit changed = {at_start.rlim_cur - 1, at_start.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &changed), 0);
  Replicas replicas(Spec(kForever, 1));
  Step(replicas);
  rlimit of_child = {};
  EXPECT_EQ(prlimit(replicas.View()[0].pid, RLIMIT_NOFILE, nullptr, &of_child), 0);
  EXPECT_EQ(of_child.rlim_cur, at_start.rlim_cur);
  setrlimit(RLIMIT_NOFILE, &at_start);
}

TEST_F(ReplicasTest, TheLastOnesGoFirstAndAreAskedTo) {
  Replicas replicas(Spec(kForever, 3));
  Step(replicas);
  const std::vector<ReplicaView> view = replicas.View();
  replicas.Want(Spec(kForever, 1));
  StepUntil(replicas, [&] { return replicas.View().size() == 1; });
  EXPECT_EQ(replicas.View()[0].pid, view[0].pid);
  EXPECT_FALSE(Runs(view[2].pid));
}

TEST_F(ReplicasTest, OneThatDoesNotListenIsKilledAfterTheGracePeriod) {
  // The child opens the other end of a pipe when its trap is set.
  char folder[] = "/tmp/replicas_test_XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string pipe = absl::StrCat(folder, "/pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  ProcessSetSpec spec = Spec(
      {"sh", "-c", absl::StrCat("trap '' TERM; : > ", pipe, "; while :; do sleep 1000; done")}, 1);
  Replicas replicas(spec);
  Step(replicas);
  close(open(pipe.c_str(), O_RDONLY | O_CLOEXEC));
  std::filesystem::remove_all(folder);
  const pid_t pid = replicas.View()[0].pid;
  spec.replicas = 0;
  replicas.Want(spec);
  Step(replicas);
  ASSERT_EQ(replicas.View().size(), 1u);
  EXPECT_TRUE(replicas.View()[0].ending);
  EXPECT_EQ(next_, now_ + absl::Seconds(10));
  now_ = next_;
  StepUntil(replicas, [&] { return replicas.empty(); });
  EXPECT_FALSE(Runs(pid));
}

TEST_F(ReplicasTest, NeverMoreThanWantedWhileOldOnesEnd) {
  Replicas replicas(Spec(kForever, 2));
  Step(replicas);
  const std::vector<ReplicaView> before = replicas.View();
  replicas.Want(Spec({"sleep", "2000"}, 2));
  bool more = false;
  StepUntil(replicas, [&] {
    const std::vector<ReplicaView> view = replicas.View();
    more |= view.size() > 2;
    return view.size() == 2 && !view[0].ending && !view[1].ending;
  });
  EXPECT_FALSE(more);
  EXPECT_NE(replicas.View()[0].incarnation, before[0].incarnation);
  EXPECT_NE(replicas.View()[1].pid, before[1].pid);
}

TEST_F(ReplicasTest, OneThatEndsIsBegunAgainLaterAndLater) {
  Replicas replicas(Spec({"sh", "-c", "exit 3"}, 1));
  absl::Duration pause = absl::Milliseconds(250);
  for (int round = 1; round <= 10; ++round) {
    StepUntil(replicas, [&] { return replicas.View()[0].restarts == round; });
    const ReplicaView view = replicas.View()[0];
    EXPECT_EQ(view.pid, 0);
    EXPECT_FALSE(view.ready);
    EXPECT_EQ(view.problem, "exit status 3");
    EXPECT_EQ(next_ - now_, pause);
    now_ = next_;
    pause = std::min(pause * 2, absl::Minutes(1));
  }
}

TEST_F(ReplicasTest, AProgramThatThereIsNotIsTriedAgain) {
  Replicas replicas(Spec({"/no/such/program"}, 1));
  Step(replicas);
  EXPECT_EQ(replicas.View()[0].pid, 0);
  EXPECT_THAT(replicas.View()[0].problem,
              testing::HasSubstr("/no/such/program: cannot be run: No such file"));
  EXPECT_EQ(next_, now_ + absl::Milliseconds(250));
}

TEST_F(ReplicasTest, WhatAProcessLeavesBehindIsEnded) {
  // It becomes a child of this process, which sees how it ends: init does not wait for its children
  // in every container.
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) GTEST_SKIP() << "the emulator knows no subreapers";
  Replicas replicas(Spec({"sh", "-c", "sleep 1000 & exit 0"}, 1));
  Step(replicas);
  const pid_t group = replicas.View()[0].pid;
  StepUntil(replicas, [&] { return replicas.View()[0].restarts == 1; });
  int status = 0;
  EXPECT_GT(waitpid(-group, &status, 0), 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_F(ReplicasTest, AllAreGoneWithTheirOwner) {
  pid_t pid = 0;
  {
    Replicas replicas(Spec(kForever, 1));
    Step(replicas);
    pid = replicas.View()[0].pid;
    ASSERT_TRUE(Runs(pid));
  }
  EXPECT_FALSE(Runs(pid));
}

// A socket of this test at a free port, in place of one that the process would open.
class Listener {
 public:
  Listener() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { close(fd_); }
  void Listen() const { ASSERT_EQ(listen(fd_, 10), 0); }
  void Answer(const std::string& text) const {
    const int peer = accept(fd_, nullptr, nullptr);
    ASSERT_EQ(write(peer, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    close(peer);
  }
  int port() const { return port_; }

 private:
  const int fd_;
  int port_ = 0;
};

TEST_F(ReplicasTest, ReadyOnceSomethingListens) {
  Listener listener;
  ProcessSetSpec spec = Spec(kForever, 1);
  spec.port = listener.port();
  spec.readiness.check = Readiness::Check::kTcp;
  Replicas replicas(spec);
  Step(replicas);
  EXPECT_FALSE(replicas.View()[0].ready);
  listener.Listen();
  now_ = next_;
  StepUntil(replicas, [&] { return replicas.View()[0].ready; });
  EXPECT_EQ(replicas.View()[0].ready_changed, kWall + now_);
  EXPECT_EQ(next_, now_ + absl::Seconds(5));
}

TEST_F(ReplicasTest, ReadyByAGoodAnswerAndNoLongerByABadOne) {
  Listener listener;
  listener.Listen();
  ProcessSetSpec spec = Spec(kForever, 1);
  spec.port = listener.port();
  spec.readiness = {Readiness::Check::kHttp, "/ready"};
  Replicas replicas(spec);
  Step(replicas);
  EXPECT_FALSE(replicas.View()[0].ready);
  listener.Answer("HTTP/1.1 200 OK\r\n\r\n");
  StepUntil(replicas, [&] { return replicas.View()[0].ready; });
  now_ = next_;
  Step(replicas);
  listener.Answer("HTTP/1.1 503 Unavailable\r\n\r\n");
  StepUntil(replicas, [&] { return !replicas.View()[0].ready; });
  // A process that accepts and answers nothing is not ready either.
  now_ = next_;
  Step(replicas);
  now_ += absl::Seconds(1);
  Step(replicas);
  EXPECT_FALSE(replicas.View()[0].ready);
}

}  // namespace
}  // namespace flyball::processes
