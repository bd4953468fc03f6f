// The program: hands the command line to the subcommand that its first word names.
#include <malloc.h>

#include <algorithm>
#include <thread>

#include "absl/synchronization/mutex.h"
#include "cmd/flyball/commands.h"

int main(int argc, char** argv) {
  // As many heaps as threads can run at once. The default of eight for each core gives nearly each
  // thread its own, with what that one happened to leave in it.
  mallopt(M_ARENA_MAX, std::max(4, static_cast<int>(std::thread::hardware_concurrency())));
  // Debian builds the library so that each lock is entered in a graph of lock orders: for the
  // tests.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  return flyball::cmd::Main(argc, argv);
}
