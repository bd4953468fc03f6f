// flyball rules: explains what rules do with a series. The code is in rule_tools/.
#include <CLI/CLI.hpp>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/status_macros.h"
#include "cmd/flags/cluster_flags.h"
#include "cmd/flags/words.h"
#include "cmd/flyball/commands.h"
#include "cmd/flyball/rule_files.h"
#include "cmd/flyball/rules_at_hand.h"
#include "http/client/transport.h"
#include "rule_tools/series_fate.h"
#include "spdlog/spdlog.h"

namespace flyball::cmd {
namespace {

struct ExplainFlags {
  std::string series, file, path;
  std::string output = "text";
  ClusterFlags cluster;
};

absl::StatusOr<RulesAtHand> RulesFor(const ExplainFlags& flags) {
  if (!flags.file.empty()) return RulesOfFile(flags.file, flags.path);
  ASSIGN_OR_RETURN(Cluster cluster, ConnectTo(flags.cluster, Clock::System()));
  const std::string url = cluster.transport.url;
  ASSIGN_OR_RETURN(const auto server,
                   http::MakeHttpTransport(std::move(cluster.transport), Clock::System()));
  return RulesOfCluster(*server, url, Clock::System());
}

int Explain(const ExplainFlags& flags) {
  const auto series = rule_tools::ParseGivenSeries(flags.series);
  if (!series.ok()) return Fail("rules explain", series.status());
  const absl::StatusOr<RulesAtHand> rules = RulesFor(flags);
  if (!rules.ok()) return Fail("rules explain", rules.status());
  const auto verdicts = rule_tools::FateOf(*series, rules->found.config,
                                           *rules->found.compiled.rules, *rules->mapper);
  const int printed =
      Print(flags.output == "text" ? rule_tools::FateText(*series, verdicts)
                                   : JsonAs(flags.output, rule_tools::FateJson(*series, verdicts)));
  return rule_tools::IsOffered(verdicts) ? printed : 1;
}

}  // namespace

int RunRules(const Args& args) {
  CLI::App app("Tells what rules do.", "flyball rules");
  app.require_subcommand(1);
  ExplainFlags flags;
  CLI::App* const explain = app.add_subcommand(
      "explain",
      "Which metric a series becomes, or why it becomes none: what each rule does with it. The "
      "rules are those of the flyball in the cluster, or of a file");
  explain
      ->add_option("series", flags.series,
                   "The series as Prometheus shows it: 'http_requests_total{pod=\"web-1\"}'; with "
                   "its name alone the answer says less")
      ->required()
      ->type_name("SERIES");
  explain
      ->add_option("-f,--filename", flags.file,
                   "Rules of this file: a rule file, a ConfigMap or Helm values; - is standard "
                   "input. No cluster is asked then")
      ->type_name("FILE|-");
  AddValuesPath(*explain, flags.path);
  AddClusterFlags(*explain, flags.cluster, "Address of the API server");
  AddOutput(*explain, flags.output, {"text", "json", "yaml"});
  explain->footer(ExitStatuses("the series is no metric, or the rules cannot be read"));
  if (const auto ended = Parse(app, args)) return *ended;
  spdlog::set_level(spdlog::level::off);
  return Explain(flags);
}

}  // namespace flyball::cmd
