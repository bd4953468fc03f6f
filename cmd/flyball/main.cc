// The program: hands the command line to the subcommand that its first word names.
#include <malloc.h>

#include <algorithm>
#include <thread>

#include "absl/synchronization/mutex.h"
#include "cmd/flyball/commands.h"

int main(int argc, char** argv) {
  // As many heaps as threads can run at once. With the default of eight for each core nearly every
  // thread has its own heap, each with its own unused memory.
  mallopt(M_ARENA_MAX, std::max(4, static_cast<int>(std::thread::hardware_concurrency())));
  // Debian builds abseil so that each lock is entered into a graph of lock orders, which only tests
  // need.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  return flyball::cmd::Main(argc, argv);
}
