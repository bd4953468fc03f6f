// A server in Python that tests of external triggers ask: test/peers/external_scaler.py, or another
// script that prints its port and obeys the lines that it reads.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

extern char** environ;

namespace flyball::scaler {

// Starts the peer, and ends it in its destructor.
class Peer {
 public:
  explicit Peer(std::vector<std::string> arguments = {},
                const std::string& script = "external_scaler.py") {
    int in[2];
    int out[2];
    EXPECT_EQ(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    std::vector<std::string> words = {"/usr/bin/python3",
                                      absl::StrCat(FLYBALL_SOURCE_DIR "/test/peers/", script)};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    EXPECT_EQ(posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    in_ = in[1];
    out_ = fdopen(out[0], "r");
    const std::string first = Line();
    absl::string_view port = first;
    EXPECT_TRUE(absl::ConsumePrefix(&port, "port ") && absl::SimpleAtoi(port, &port_)) << first;
  }
  ~Peer() {
    close(in_);
    fclose(out_);
    waitpid(pid_, nullptr, 0);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // The peer's answer to one command: `ok`, or the value that the command asks for.
  std::string Tell(std::string command) {
    command += "\n";
    EXPECT_EQ(write(in_, command.data(), command.size()), static_cast<ssize_t>(command.size()));
    return Line();
  }
  void Do(std::string command) { EXPECT_EQ(Tell(std::move(command)), "ok"); }

  std::string address() const { return absl::StrCat("127.0.0.1:", port_); }

 private:
  std::string Line() {
    char line[4096] = "";
    if (fgets(line, sizeof line, out_) == nullptr) return "";
    return std::string(absl::StripSuffix(line, "\n"));
  }

  pid_t pid_ = 0;
  int in_ = -1;
  FILE* out_ = nullptr;
  int port_ = 0;
};

}  // namespace flyball::scaler
