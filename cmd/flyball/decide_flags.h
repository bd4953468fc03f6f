// The command line of `flyball decide -f`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "cmd/flags/dialect_flags.h"
#include "scaler/explain/given_case.h"
#include "scaler/math/math_config.h"

namespace CLI {
class App;
}

namespace flyball::cmd {

struct DecideFlags {
  std::vector<std::string> files;  // "-" is stdin
  std::optional<absl::Time> at;    // absent: now
  std::string output = "table";    // "json", "yaml"
  scaler::ControllerFlags flags;
  DialectFlags dialect;
};

// Adds the controller's own flags, with its defaults; their help is put between the two texts.
void AddControllerFlags(CLI::App& app, const std::string& before, const std::string& after,
                        scaler::ControllerFlags& flags);

// Adds the flags. The last ones are the controller's.
void AddDecideFlags(CLI::App& app, DecideFlags& options);

// `server` is the version that `auto` means. Files do not contain a version, so it is then the
// newest.
scaler::CaseOptions CaseOptionsOf(const DecideFlags& options, absl::Time now,
                                  const scaler::ServerVersion& server = scaler::kNewestServer);

}  // namespace flyball::cmd
