#include "cmd/flags/dialect_flags.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"

namespace flyball::cmd {

void AddDialectFlags(CLI::App& app, const std::string& what_for, DialectFlags& flags) {
  app.add_option("--kubernetes-version", flags.version, what_for)->type_name("auto|1.34…1.37");
  app.add_option("--feature-gates", flags.gates,
                 "The controller's gates that are not at the version's default: "
                 "HPAScaleToZero=true,HPAGeneration=false")
      ->type_name("GATE=BOOL,…");
}

std::optional<int> ReadDialectFlags(const char* command, DialectFlags& flags) {
  absl::StatusOr<scaler::DialectChoice> choice =
      scaler::ParseDialectChoice(flags.version, flags.gates);
  if (!choice.ok()) {
    std::fprintf(stderr, "flyball %s: %s\n", command,
                 std::string(choice.status().message()).c_str());
    return 2;
  }
  flags.choice = *std::move(choice);
  if (!flags.choice.other_gates.empty()) {
    std::fprintf(stderr, "flyball %s: --feature-gates: without effect on autoscalers: %s\n",
                 command, absl::StrJoin(flags.choice.other_gates, ", ").c_str());
  }
  return std::nullopt;
}

scaler::DialectChoice OrElse(scaler::DialectChoice choice, const scaler::DialectChoice& server) {
  if (!choice.minor.has_value()) choice.minor = server.minor;
  if (choice.gates.empty()) choice.gates = server.gates;
  return choice;
}

}  // namespace flyball::cmd
