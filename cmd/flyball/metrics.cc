// flyball metrics: the metrics that a running server offers, with the rule of each.
#include <CLI/CLI.hpp>

#include "base/clock.h"
#include "base/status_macros.h"
#include "cmd/flags/server_access.h"
#include "cmd/flags/words.h"
#include "cmd/flyball/commands.h"
#include "cmd/flyball/query_metric.h"
#include "spdlog/spdlog.h"

namespace flyball::cmd {
namespace {

absl::StatusOr<std::string> Metrics(const ServerFlags& flags, const std::string& format) {
  ASSIGN_OR_RETURN(ServerAccess server, ServerAccess::Find(flags, Clock::System()));
  // Every replica has the same rules.
  ASSIGN_OR_RETURN(std::string page, server.GetFromAny("/debug/rules"));
  if (format == "text") return MetricsTable(page);
  return JsonAs(format, std::move(page));
}

}  // namespace

int RunMetrics(const Args& args) {
  CLI::App app("Lists the metrics that a running flyball offers, with the rule that makes each.",
               "flyball metrics");
  ServerFlags flags;
  std::string format = "text";
  AddServerFlags(app, flags);
  AddOutput(app, format, {"text", "json", "yaml"});
  app.footer(ExitStatuses("the server cannot be asked"));
  if (const auto ended = Parse(app, args)) return *ended;
  spdlog::set_level(spdlog::level::off);
  const absl::StatusOr<std::string> shown = Metrics(flags, format);
  return shown.ok() ? Print(*shown) : Fail("metrics", shown.status());
}

}  // namespace flyball::cmd
