// flyball backtest: what an autoscaler would have done with the load that Prometheus has recorded.
// The code that simulates it is in backtest/.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
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
#include "base/read_file.h"
#include "base/status_macros.h"
#include "cmd/flags/cluster_flags.h"
#include "cmd/flags/dialect_flags.h"
#include "cmd/flags/words.h"
#include "cmd/flyball/decide_cluster.h"
#include "cmd/flyball/rule_commands.h"
#include "cmd/flyball/rules_at_hand.h"
#include "doctor/rule_series.h"
#include "http/client/transport.h"
#include "rules/config.h"
#include "scaler/explain/snapshot.h"
#include "serve/connections.h"
#include "serve/debug_pages.h"
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
  DialectFlags dialect;
};

// The autoscaler that is simulated, and its rules.
struct Subject {
  scaler::Autoscaler autoscaler;
  scaler::Pod pod;
  RulesAtHand rules;
  bool in_cluster = false;  // this runs in a pod, which can reach the server's Prometheus
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

// Takes the one HPA or Autoscaler of a snapshot.
absl::Status TakeSubject(const scaler::ClusterSnapshot& snapshot, Subject& out) {
  if (snapshot.autoscalers.size() + snapshot.own_autoscalers.size() != 1) {
    return absl::InvalidArgumentError("expected one HorizontalPodAutoscaler or one Autoscaler");
  }
  if (!snapshot.own_autoscalers.empty() && !snapshot.own_autoscalers[0].own.triggers.empty()) {
    return absl::InvalidArgumentError(
        "an Autoscaler with triggers cannot be decided again: what they read is not in Prometheus");
  }
  out.autoscaler = snapshot.autoscalers.empty() ? snapshot.own_autoscalers[0].autoscaler
                                                : snapshot.autoscalers[0];
  if (!snapshot.pods.empty()) out.pod = snapshot.pods[0];
  return absl::OkStatus();
}

absl::StatusOr<Subject> SubjectOfFiles(const BacktestFlags& flags) {
  scaler::ClusterSnapshot snapshot;
  for (const std::string& path : flags.files) {
    const absl::StatusOr<std::string> text = ReadFileOrStdin(path);
    if (!text.ok()) return absl::InvalidArgumentError(text.status().message());
    RETURN_IF_ERROR(scaler::AddFile(path == "-" ? "stdin" : path, *text, snapshot));
  }
  Subject out;
  RETURN_IF_ERROR(TakeSubject(snapshot, out));
  if (flags.config.empty()) return absl::InvalidArgumentError("--filename needs --config");
  ASSIGN_OR_RETURN(out.rules, RulesOfFile(flags.config, ""));
  return out;
}

absl::StatusOr<Subject> SubjectOfCluster(const BacktestFlags& flags) {
  Clock& clock = Clock::System();
  ASSIGN_OR_RETURN(const serve::NamedAutoscaler named, serve::ParseNamedAutoscaler(flags.object));
  if (named.kind == scaler::AutoscalerKind::kOwn || named.name.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected hpa/NAME, got ", flags.object,
                     "; an Autoscaler can be given as a file, with --filename"));
  }
  ASSIGN_OR_RETURN(Cluster cluster, ConnectTo(flags.cluster, clock));
  Subject out;
  out.in_cluster = cluster.inside;
  const std::string url = cluster.transport.url, ns = cluster.ns;
  ASSIGN_OR_RETURN(const auto server, http::MakeHttpTransport(std::move(cluster.transport), clock));
  ASSIGN_OR_RETURN(const ReadSnapshot read, ReadHpa(*server, clock, ns, named.name));
  RETURN_IF_ERROR(TakeSubject(read.snapshot, out));
  if (flags.config.empty()) {
    ASSIGN_OR_RETURN(out.rules, RulesOfCluster(*server, url, clock));
  } else {
    ASSIGN_OR_RETURN(out.rules, RulesOfFile(flags.config, ""));
  }
  return out;
}

absl::StatusOr<std::unique_ptr<adapter::prometheus::Client>> PrometheusFor(
    const BacktestFlags& flags, const Subject& subject) {
  if (!flags.prometheus.prometheus_urls.empty()) {
    return serve::MakePrometheusSource(flags.prometheus, Clock::System(), nullptr);
  }
  if (subject.in_cluster) {
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
  if (!step.has_value()) {
    return absl::InvalidArgumentError("--step: expected a duration like 15s");
  }
  period.step = *step;
  RETURN_IF_ERROR(backtest::CheckPeriod(period));
  ASSIGN_OR_RETURN(const auto given, GivenQueries(flags));
  ASSIGN_OR_RETURN(const Subject subject,
                   flags.files.empty() ? SubjectOfCluster(flags) : SubjectOfFiles(flags));
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
  const scaler::MathConfig config =
      scaler::MathConfigOf({}, scaler::DialectOf(flags.dialect.choice, {}));
  return backtest::BacktestOf(
      {.autoscaler = subject.autoscaler, .config = config, .pod = subject.pod}, queries, period,
      *source);
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
  AddDialectFlags(app, "Version of the controller that decides; auto is the newest", flags.dialect);
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
  if (!report.ok()) {
    std::fprintf(stderr, "flyball backtest: %s\n", std::string(report.status().message()).c_str());
    return absl::IsInvalidArgument(report.status()) ? kUsageError : 1;
  }
  std::cout << (flags.output == "text" ? backtest::ReportText(*report, flags.all)
                                       : JsonAs(flags.output, backtest::ReportJson(*report)))
            << std::flush;
  return std::cout.good() ? 0 : 1;
}

}  // namespace flyball::cmd
