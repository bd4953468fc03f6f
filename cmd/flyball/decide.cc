// flyball decide: the replica math on vectors or on files.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>

#include "absl/time/time.h"
#include "cmd/flyball/commands.h"
#include "cmd/flyball/decide_files.h"
#include "scaler/vectors/vectors.h"

namespace flyball::cmd {
namespace {

// Exit statuses: 0 all answered, 1 a line was bad, 2 the command line or a file was.
int DecideVectors(const std::string& path) {
  size_t bad = 0;
  if (path == "-") {
    std::ios::sync_with_stdio(false);
    bad = scaler::AnswerLines(std::cin, std::cout);
  } else {
    std::ifstream in(path);
    if (!in) {
      std::fprintf(stderr, "flyball decide: cannot read %s\n", path.c_str());
      return 2;
    }
    bad = scaler::AnswerLines(in, std::cout);
    if (in.bad()) {  // a folder, among other things
      std::fprintf(stderr, "flyball decide: cannot read %s\n", path.c_str());
      return 2;
    }
  }
  if (bad > 0) std::fprintf(stderr, "flyball decide: %zu bad lines\n", bad);
  return bad > 0 ? 1 : 0;
}

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

// The flags of `decide -f`; the last ones are the controller's own, with its defaults.
void AddFileFlags(CLI::App& app, DecideFilesOptions& options) {
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
  app.add_option_function<std::string>(
         "-o,--output",
         [&options](const std::string& text) {
           const auto output = ParseDecideOutput(text);
           if (!output.has_value()) {
             throw CLI::ValidationError("-o", "expected table, json or yaml, got " + text);
           }
           options.output = *output;
         },
         "With -f: table (for people; the default), json or yaml (the whole trace)")
      ->type_name("FORMAT");
  app.add_option("--horizontal-pod-autoscaler-tolerance", options.config.tolerance,
                 "With -f: as given to the controller; 0.1 by default");
  AddDuration(app, "--horizontal-pod-autoscaler-downscale-stabilization",
              options.config.downscale_stabilization, "The same; 5m by default");
  AddDuration(app, "--horizontal-pod-autoscaler-cpu-initialization-period",
              options.config.cpu_initialization_period, "The same; 5m by default");
  AddDuration(app, "--horizontal-pod-autoscaler-initial-readiness-delay",
              options.config.initial_readiness_delay, "The same; 30s by default");
}

}  // namespace

int RunDecide(const Args& args) {
  CLI::App app("Decides replica counts as the HorizontalPodAutoscaler does.", "flyball decide");
  std::string vectors;
  CLI::Option* from_vectors =
      app.add_option("--vectors", vectors, "Scenarios, one a line; - is standard input")
          ->type_name("FILE|-");
  DecideFilesOptions options;
  app.add_option("-f,--filename", options.files,
                 "An autoscaler, pods, a Deployment or scale, and lists of the metrics APIs, as "
                 "kubectl prints them; any number of files in any order; - is standard input")
      ->type_name("FILE|-")
      ->excludes(from_vectors);
  AddFileFlags(app, options);
  try {
    app.parse(Args(args.rbegin(), args.rend()));
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  if (!vectors.empty()) return DecideVectors(vectors);
  if (!options.files.empty()) return DecideFiles(options);
  std::fprintf(stderr, "flyball decide: give files with -f, or scenarios with --vectors\n");
  return 2;
}

}  // namespace flyball::cmd
