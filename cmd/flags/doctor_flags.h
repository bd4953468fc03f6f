// The command line of `flyball doctor`, and the server's settings, which replace flags that it
// leaves out.
//
// Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cmd/flags/args.h"
#include "cmd/flags/cluster_flags.h"
#include "cmd/flags/dialect_flags.h"
#include "serve/flags.h"

namespace flyball::cmd {

struct DoctorFlags : ClusterFlags {
  std::string kind;  // "hpa", "autoscaler"; "": either
  std::string name;  // "": not a single autoscaler
  bool all = false;
  std::string config;
  serve::ServeFlags prometheus;  // only its flags about Prometheus are used
  absl::Duration timeout = absl::Seconds(10);
  std::string output = "text";  // or json, yaml
  DialectFlags dialect;
  std::string help;  // set if --help was given
};

// kInvalidArgument: the message names the wrong flag or word.
absl::StatusOr<DoctorFlags> DoctorFlagsFrom(const Args& args);

// The settings of a server that was started with these words. If they are not flags of flyball or
// prometheus-adapter, the settings are those of a server without flags.
serve::ServeFlags SettingsOf(const std::vector<std::string>& words);

}  // namespace flyball::cmd
