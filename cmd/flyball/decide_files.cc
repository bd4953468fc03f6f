#include "cmd/flyball/decide_files.h"

#include <iostream>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/read_file.h"
#include "base/status_macros.h"
#include "scaler/explain/explain.h"
#include "scaler/explain/given_case.h"
#include "scaler/explain/snapshot.h"

namespace flyball::cmd {
namespace {

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

}  // namespace

int DecideFiles(const DecideFilesOptions& options) {
  absl::StatusOr<scaler::ClusterSnapshot> snapshot = ReadFiles(options.files);
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
    switch (options.output) {
      case DecideFilesOptions::Output::kTable:
        std::cout << (first ? "" : "\n\n") << scaler::ExplainText(given);
        break;
      case DecideFilesOptions::Output::kJson:
        std::cout << scaler::ExplainJson(given);
        break;
      case DecideFilesOptions::Output::kYaml:
        std::cout << scaler::ExplainYaml(given);
        break;
    }
    first = false;
  }
  std::cout.flush();
  return std::cout.good() ? 0 : 1;
}

std::optional<DecideFilesOptions::Output> ParseDecideOutput(const std::string& word) {
  if (word == "table") return DecideFilesOptions::Output::kTable;
  if (word == "json") return DecideFilesOptions::Output::kJson;
  if (word == "yaml") return DecideFilesOptions::Output::kYaml;
  return std::nullopt;
}

}  // namespace flyball::cmd
