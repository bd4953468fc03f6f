#include <cstdio>

#include "cmd/flyball/commands.h"

namespace flyball::cmd {

int RunVersion(const Args&) {
  std::printf("flyball %s\n", FLYBALL_VERSION);
  return 0;
}

}  // namespace flyball::cmd
