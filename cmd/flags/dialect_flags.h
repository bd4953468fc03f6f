// The flags --kubernetes-version and --feature-gates of several subcommands.
#pragma once

#include <optional>
#include <string>

#include "scaler/spec/dialect.h"

namespace CLI {
class App;
}

namespace flyball::cmd {

struct DialectFlags {
  std::string version = "auto";
  std::string gates;
  scaler::DialectChoice choice;  // set from both by ReadDialectFlags
};

// `what_for` is the help of --kubernetes-version.
void AddDialectFlags(CLI::App& app, const std::string& what_for, DialectFlags& flags);

// To be called after parsing. If the flags are wrong it prints why, and returns the exit status.
std::optional<int> ReadDialectFlags(const char* command, DialectFlags& flags);

// The choice; what it leaves open is taken from `server`, with which a server was started.
scaler::DialectChoice OrElse(scaler::DialectChoice choice, const scaler::DialectChoice& server);

}  // namespace flyball::cmd
