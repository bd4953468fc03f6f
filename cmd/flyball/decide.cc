// flyball decide: the replica math on vectors, or what a controller would do with the autoscalers
// of files, and why. What is read and decided stands in scaler/explain and scaler/vectors.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/read_file.h"
#include "base/status_macros.h"
#include "cmd/flyball/commands.h"
#include "scaler/explain/explain.h"
#include "scaler/explain/given_case.h"
#include "scaler/explain/snapshot.h"
#include "scaler/math/input.h"
#include "scaler/vectors/vectors.h"

namespace flyball::cmd {
namespace {

struct DecideFilesOptions {
  std::vector<std::string> files;  // "-" is stdin
  std::optional<absl::Time> at;    // absent: now
  std::string output = "table";    // "json", "yaml"
  scaler::MathConfig config;       // the controller's flags
};

// Exit statuses: 0 all answered, 1 a line was bad, 2 the command line or a file was.
int DecideVectors(const std::string& path) {
  std::ifstream file;
  if (path == "-") {
    std::ios::sync_with_stdio(false);
  } else {
    file.open(path);
  }
  std::istream& in = path == "-" ? std::cin : file;
  const size_t bad = scaler::AnswerLines(in, std::cout);
  if (&in == &file && (!file.is_open() || file.bad())) {  // bad: a folder, among other things
    std::fprintf(stderr, "flyball decide: cannot read %s\n", path.c_str());
    return 2;
  }
  if (bad > 0) std::fprintf(stderr, "flyball decide: %zu bad lines\n", bad);
  return bad > 0 ? 1 : 0;
}

absl::StatusOr<scaler::ClusterSnapshot> ReadFiles(const std::vector<std::string>& paths) {
  scaler::ClusterSnapshot snapshot;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const std::string text, ReadFileOrStdin(path));
    RETURN_IF_ERROR(scaler::AddFile(path == "-" ? "stdin" : path, text, snapshot));
  }
  if (snapshot.autoscalers.empty()) {
    std::string others;
    for (const auto& [kind, count] : snapshot.ignored) {
      absl::StrAppend(&others, others.empty() ? "; found only kinds that play no part: " : ", ",
                      kind);
    }
    return absl::NotFoundError(absl::StrCat("no HorizontalPodAutoscaler in the files", others));
  }
  return snapshot;
}

// Exit statuses: 0; 1 when the output cannot be written; 2 when a file cannot be read or is wrong,
// or no autoscaler is given.
int DecideFiles(const DecideFilesOptions& options) {
  const absl::StatusOr<scaler::ClusterSnapshot> snapshot = ReadFiles(options.files);
  if (!snapshot.ok()) {
    std::cerr << snapshot.status().message() << "\n";
    return 2;
  }
  scaler::CaseOptions case_options;
  case_options.now = options.at.value_or(Clock::System().WallNow());
  case_options.now_source = options.at.has_value() ? "--at" : "now";
  case_options.config = options.config;
  bool first = true;
  for (const scaler::Autoscaler& autoscaler : snapshot->autoscalers) {
    const scaler::GivenCase given = scaler::DecideGiven(*snapshot, autoscaler, case_options);
    if (options.output == "json") {
      std::cout << scaler::ExplainJson(given);
    } else if (options.output == "yaml") {
      std::cout << scaler::ExplainYaml(given);
    } else {
      std::cout << (first ? "" : "\n\n") << scaler::ExplainText(given);
    }
    first = false;
  }
  std::cout.flush();
  return std::cout.good() ? 0 : 1;
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
           if (text != "table" && text != "json" && text != "yaml") {
             throw CLI::ValidationError("-o", "expected table, json or yaml, got " + text);
           }
           options.output = text;
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
  if (const auto ended = Parse(app, args)) return *ended;
  if (!vectors.empty()) return DecideVectors(vectors);
  if (!options.files.empty()) return DecideFiles(options);
  std::fprintf(stderr, "flyball decide: give files with -f, or scenarios with --vectors\n");
  return 2;
}

}  // namespace flyball::cmd
