// The command line of `flyball doctor`, and the server's settings that stand in for what it leaves
// out.
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
  std::string name;  // "": no single one
  bool all = false;
  std::string config;
  serve::ServeFlags prometheus;  // of these only the flags about Prometheus
  absl::Duration timeout = absl::Seconds(10);
  std::string output = "text";  // or json, yaml
  DialectFlags dialect;
  std::string help;  // set when --help was asked for
};

// kInvalidArgument names the flag or word.
absl::StatusOr<DoctorFlags> DoctorFlagsFrom(const Args& args);

// The settings of a server that was started with these words; those of a server without flags when
// the words are not flyball's or prometheus-adapter's.
serve::ServeFlags SettingsOf(const std::vector<std::string>& words);

}  // namespace flyball::cmd
