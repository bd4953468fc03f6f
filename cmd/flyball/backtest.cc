// flyball backtest: what an autoscaler would have done with the load that Prometheus has recorded.
// backtest_subject.h says which autoscaler; the code that simulates it is in backtest/.
#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "backtest/history.h"
#include "backtest/queries.h"
#include "backtest/report.h"
#include "backtest/simulation.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "cmd/flags/cluster_flags.h"
#include "cmd/flags/dialect_flags.h"
#include "cmd/flags/words.h"
#include "cmd/flyball/backtest_subject.h"
#include "cmd/flyball/commands.h"
#include "cmd/flyball/decide_flags.h"
#include "doctor/rule_series.h"
#include "rules/config.h"
#include "serve/connections.h"
#include "serve/go_flags.h"
#include "spdlog/spdlog.h"

namespace flyball::cmd {
namespace {

struct BacktestFlags {
  std::string object;              // hpa/NAME; "": the autoscaler is in `files`
  std::vector<std::string> files;  // with the autoscaler, and a pod for its requests
  std::string config;              // rule file; "": the server's
  std::string from = "1d", to = "0s", step = "15s";
  std::vector<std::string> queries;  // METRIC=PROMQL
  bool all = false;
  std::string output = "text";
  ClusterFlags cluster;
  serve::ServeFlags prometheus;  // only its flags about Prometheus are used
  std::string nan_value;         // "": as the server has it
  scaler::ControllerFlags controller;
  DialectFlags dialect;
};

// The moment that a flag says: "7d" or "-7d" before now, or a time.
absl::StatusOr<absl::Time> MomentOf(absl::string_view flag, absl::string_view text,
                                    absl::Time now) {
  if (const auto ago = rules::ParsePrometheusDuration(absl::StripPrefix(text, "-"))) {
    return now - *ago;
  }
  absl::Time time;
  if (absl::ParseTime(absl::RFC3339_full, text, &time, nullptr)) return time;
  return absl::InvalidArgumentError(absl::StrCat(
      flag, ": expected how long ago, like 7d, or a time like 2026-03-01T12:00:00Z, got ", text));
}

absl::StatusOr<std::map<std::string, std::string>> GivenQueries(const BacktestFlags& flags) {
  std::map<std::string, std::string> out;
  for (const std::string& text : flags.queries) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
    if (parts.second.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--query: expected METRIC=PROMQL, got ", text));
    }
    out.insert(parts);
  }
  return out;
}

absl::StatusOr<std::unique_ptr<adapter::prometheus::Client>> PrometheusFor(
    const BacktestFlags& flags, const BacktestSubject& subject) {
  if (!flags.prometheus.prometheus_urls.empty()) {
    return serve::MakePrometheusSource(flags.prometheus, Clock::System(), nullptr);
  }
  if (subject.near_server) {
    return serve::MakePrometheusSource(subject.rules.server, Clock::System(), nullptr);
  }
  return absl::InvalidArgumentError(
      "name Prometheus by --prometheus-url; `kubectl port-forward` makes it reachable");
}

absl::StatusOr<backtest::BacktestReport> Backtest(const BacktestFlags& flags) {
  const absl::Time now = Clock::System().WallNow();
  backtest::Period period;
  ASSIGN_OR_RETURN(period.begin, MomentOf("--from", flags.from, now));
  ASSIGN_OR_RETURN(period.end, MomentOf("--to", flags.to, now));
  const auto step = rules::ParsePrometheusDuration(flags.step);
  if (!step.has_value()) return absl::InvalidArgumentError("--step: expected a duration like 15s");
  period.step = *step;
  RETURN_IF_ERROR(backtest::CheckPeriod(period));
  ASSIGN_OR_RETURN(const auto given, GivenQueries(flags));
  ASSIGN_OR_RETURN(const BacktestSubject subject,
                   flags.files.empty() ? SubjectOfCluster(flags.object, flags.config, flags.cluster)
                                       : SubjectOfFiles(flags.files, flags.config));
  ASSIGN_OR_RETURN(const auto source, PrometheusFor(flags, subject));
  const rules::CompiledRules& rules = *subject.rules.found.compiled.rules;
  const doctor::Discovered discovered =
      doctor::DiscoverSeries(rules, *source, subject.rules.mapper,
                             {.now = period.end, .max_age = period.end - period.begin});
  RETURN_IF_ERROR(discovered.source);
  const auto queries = backtest::TotalQueries(subject.autoscaler, {.rules = rules,
                                                                   .registry = *discovered.registry,
                                                                   .mapper = *subject.rules.mapper,
                                                                   .given = given});
  const scaler::MathConfig config = MathFor(subject, flags.controller, flags.dialect.choice);
  adapter::ValueGuard values(NanFor(subject, flags.nan_value), Clock::System(), nullptr);
  ASSIGN_OR_RETURN(backtest::BacktestReport report,
                   backtest::BacktestOf({.autoscaler = subject.autoscaler,
                                         .config = config,
                                         .pod = subject.pod,
                                         .schedules = subject.schedules},
                                        queries, period, *source, values));
  report.notes.insert(report.notes.begin(), subject.notes.begin(), subject.notes.end());
  return report;
}

void AddBacktestFlags(CLI::App& app, BacktestFlags& flags) {
  CLI::Option* const object =
      app.add_option("object", flags.object, "Read this, and what it needs, from the cluster")
          ->type_name("hpa/NAME");
  app.add_option(
         "-f,--filename", flags.files,
         "An HPA or an Autoscaler, and a pod for its requests; needs --config, and no cluster is "
         "asked; - is standard input")
      ->excludes(object)
      ->type_name("FILE|-");
  app.add_option("--config", flags.config,
                 "Rule file that says what a metric is made of; by default that of the server")
      ->type_name("FILE");
  app.add_option("--from", flags.from, "Begin this long ago, or at this time; 1d by default")
      ->type_name("DURATION|TIME");
  app.add_option("--to", flags.to, "End this long ago, or at this time; now by default")
      ->type_name("DURATION|TIME");
  app.add_option(
         "--step", flags.step,
         "Time between two decisions; each asks Prometheus once for each metric; 15s by default")
      ->type_name("DURATION");
  app.add_option(
         "--query", flags.queries,
         "Use this query for the total of a metric, instead of the rules' query; repeatable")
      ->type_name("METRIC=PROMQL")
      ->allow_extra_args(false);
  app.add_flag("--all", flags.all, "Print every change");
  AddOutput(app, flags.output, {"text", "json", "yaml"});
  AddClusterFlags(app, flags.cluster, "Address of the API server");
  AddWord(app, "--nan-value", flags.nan_value, {"zero", "drop"},
          "What NaN becomes; by default as for the server, or zero");
  AddDialectFlags(app,
                  "Version of the controller that decides; auto is as for the server: the "
                  "cluster's; with -f the newest",
                  flags.dialect);
  AddControllerFlags(app, "As given to the controller; by default as for the server, or ", "",
                     flags.controller);
  serve::AddPrometheusFlags(serve::GoFlags(app, "Prometheus"), flags.prometheus);
  app.footer(ExitStatuses("there is nothing to ask, or it does not answer"));
}

}  // namespace

int RunBacktest(const Args& args) {
  CLI::App app(
      "Decides again over a past time, with the load that Prometheus recorded: how many replicas "
      "there would have been, and when their number would have changed.",
      "flyball backtest");
  BacktestFlags flags;
  AddBacktestFlags(app, flags);
  if (const auto ended = Parse(app, args)) return *ended;
  if (const auto ended = ReadDialectFlags("backtest", flags.dialect)) return *ended;
  spdlog::set_level(spdlog::level::off);
  const absl::StatusOr<backtest::BacktestReport> report =
      flags.object.empty() && flags.files.empty()
          ? absl::InvalidArgumentError("name an hpa/NAME of the cluster, or give files with -f")
          : Backtest(flags);
  if (!report.ok()) return Fail("backtest", report.status());
  return Print(flags.output == "text" ? backtest::ReportText(*report, flags.all)
                                      : JsonAs(flags.output, backtest::ReportJson(*report)));
}

}  // namespace flyball::cmd
