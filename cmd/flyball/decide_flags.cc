#include "cmd/flyball/decide_flags.h"

#include <CLI/CLI.hpp>

#include "cmd/flags/words.h"
#include "scaler/spec/dialect.h"

namespace flyball::cmd {
namespace {

void AddDuration(CLI::App& app, const std::string& flag, absl::Duration& value,
                 const std::string& help) {
  app.add_option_function<std::string>(
         flag,
         [flag, &value](const std::string& text) {
           if (!absl::ParseDuration(text, &value)) {
             throw CLI::ValidationError(flag, "expected a duration like 5m, got " + text);
           }
         },
         help)
      ->type_name("DURATION");
}

}  // namespace

void AddControllerFlags(CLI::App& app, const std::string& before, const std::string& after,
                        scaler::ControllerFlags& flags) {
  app.add_option("--horizontal-pod-autoscaler-tolerance", flags.tolerance, before + "0.1" + after);
  AddDuration(app, "--horizontal-pod-autoscaler-downscale-stabilization",
              flags.downscale_stabilization, before + "5m" + after);
  AddDuration(app, "--horizontal-pod-autoscaler-cpu-initialization-period",
              flags.cpu_initialization_period, before + "5m" + after);
  AddDuration(app, "--horizontal-pod-autoscaler-initial-readiness-delay",
              flags.initial_readiness_delay, before + "30s" + after);
}

void AddDecideFlags(CLI::App& app, DecideFlags& options) {
  app.add_option("-f,--filename", options.files,
                 "An autoscaler, pods, a Deployment or scale, and lists of the metrics APIs, as "
                 "kubectl prints them; any number of files in any order; - is standard input")
      ->type_name("FILE|-");
  app.add_option_function<std::string>(
         "--at",
         [&options](const std::string& text) {
           absl::Time time;
           std::string error;
           if (!absl::ParseTime(absl::RFC3339_full, text, &time, &error)) {
             throw CLI::ValidationError("--at",
                                        "expected a time like 2026-03-01T12:00:00Z, got " + text);
           }
           options.at = time;
         },
         "With -f: decide as of this time; now by default")
      ->type_name("TIME");
  AddWord(app, "-o,--output", options.output, {"table", "text", "json", "yaml"},
          "With -f: table (for people; the default, also called text), json or yaml (the whole "
          "trace)");
  AddDialectFlags(app,
                  "Version of the controller that decides; auto is the cluster's, with -f the "
                  "newest, and with --vectors 1.34 if the scenario names none",
                  options.dialect);
  AddControllerFlags(app, "With -f: as given to the controller; ", " by default", options.flags);
}

scaler::CaseOptions CaseOptionsOf(const DecideFlags& options, absl::Time now,
                                  const scaler::ServerVersion& server) {
  scaler::CaseOptions out;
  out.now = options.at.value_or(now);
  out.now_source = options.at.has_value() ? "--at" : "now";
  out.flags = options.flags;
  out.dialect = scaler::DialectOf(options.dialect.choice, server);
  return out;
}

}  // namespace flyball::cmd
