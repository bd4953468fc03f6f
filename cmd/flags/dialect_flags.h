// --kubernetes-version and --feature-gates, as several subcommands have them.
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
  scaler::DialectChoice choice;  // of both, by ReadDialectFlags
};

// `what_for` is the help of --kubernetes-version.
void AddDialectFlags(CLI::App& app, const std::string& what_for, DialectFlags& flags);

// To be called once the command line is parsed. A value: they are wrong, which it has said; it is
// the exit status.
std::optional<int> ReadDialectFlags(const char* command, DialectFlags& flags);

}  // namespace flyball::cmd
