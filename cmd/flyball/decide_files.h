// `flyball decide -f FILE…`: what a controller would do with the autoscalers of these files, and
// why.
//
// Reads files, asks the clock once, writes to stdout; complaints go to stderr. What is read and
// decided stands in scaler/explain.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scaler/math/input.h"

namespace flyball::cmd {

struct DecideFilesOptions {
  enum class Output { kTable, kJson, kYaml };

  std::vector<std::string> files;  // "-" is stdin
  std::optional<absl::Time> at;    // absent: now
  Output output = Output::kTable;
  scaler::MathConfig config;  // the controller's flags
};

// The process's exit status: 0, or 2 when a file cannot be read or is wrong, or no autoscaler is
// given.
int DecideFiles(const DecideFilesOptions& options);

// "table", "json", "yaml"; nullopt for anything else.
std::optional<DecideFilesOptions::Output> ParseDecideOutput(const std::string& word);

}  // namespace flyball::cmd
