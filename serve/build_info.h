// The version of this program: for the log, /version, /metrics and `flyball version`.
#pragma once

#include <string>

namespace flyball::serve {

struct BuildInfo {
  std::string version;  // "0.1.0"
  std::string commit;   // "" if it was built without a repository; "…-dirty": of changed files
  std::string date;     // of the commit, RFC 3339; "" likewise
};

const BuildInfo& ThisBuild();

// "0.1.0 (commit 1234567890ab)".
std::string ShownBuild();

}  // namespace flyball::serve
