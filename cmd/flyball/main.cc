// The program: hands the command line to the subcommand that its first word names.
#include "absl/synchronization/mutex.h"
#include "cmd/flyball/commands.h"

int main(int argc, char** argv) {
  // Debian builds the library so that each lock is entered in a graph of lock orders: for the
  // tests.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  return flyball::cmd::Main(argc, argv);
}
