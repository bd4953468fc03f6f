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

// The controller's own flags, with its defaults; in their help these stand between the two texts.
void AddControllerFlags(CLI::App& app, const std::string& before, const std::string& after,
                        scaler::ControllerFlags& flags);

// Adds the flags. The last ones are the controller's.
void AddDecideFlags(CLI::App& app, DecideFlags& options);

// `server` is the version that `auto` means. Files do not say which version they came from, so that
// for them it is the newest.
scaler::CaseOptions CaseOptionsOf(const DecideFlags& options, absl::Time now,
                                  const scaler::ServerVersion& server = scaler::kNewestServer);

}  // namespace flyball::cmd
