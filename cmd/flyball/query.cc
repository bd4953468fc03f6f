// flyball query: a metric as an autoscaler would get it (query_metric.h), or PromQL over the
// samples of a file (query/).
#include <CLI/CLI.hpp>
#include <cstddef>
#include <iostream>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/read_file.h"
#include "base/status_macros.h"
#include "cmd/flags/cluster_flags.h"
#include "cmd/flags/server_access.h"
#include "cmd/flags/words.h"
#include "cmd/flyball/commands.h"
#include "cmd/flyball/query_metric.h"
#include "promql/dialect.h"
#include "promql/engine/api.h"
#include "query/query.h"

namespace flyball::cmd {
namespace {

constexpr size_t kMaxSampleFileBytes = size_t{2} << 30;
constexpr char kOfFile[] = "Samples of a file";  // a group of flags

void AddFlags(CLI::App& app, query::QueryOptions& options, CLI::Option* file) {
  const auto add = [&](const char* flag, auto& value, const char* help, const char* type) {
    app.add_option(flag, value, help)->type_name(type)->group(kOfFile)->needs(file);
  };
  add("--time", options.time, "At this time; by default that of the newest sample",
      "SECONDS|RFC3339");
  add("--start", options.start, "For a range query: the first moment", "SECONDS|RFC3339");
  add("--end", options.end, "For a range query: the last moment", "SECONDS|RFC3339");
  add("--step", options.step, "For a range query: the time between two moments",
      "SECONDS|DURATION");
  add("--lookback", options.lookback,
      "How old a sample may be and still be the current one; 5m by default", "SECONDS|DURATION");
  app.add_option_function<std::string>(
         "--promql-dialect",
         [&options](const std::string& text) {
           if (text != "2" && text != "3") {
             throw CLI::ValidationError("--promql-dialect", "expected 2 or 3, got " + text);
           }
           options.dialect = text == "2" ? promql::Dialect::k2 : promql::Dialect::k3;
         },
         "Major version of the Prometheus whose PromQL is spoken: 3 (the default) or 2")
      ->type_name("2|3")
      ->group(kOfFile)
      ->needs(file);
}

// Answers PromQL over the samples of a file.
int QueryFile(const std::string& file, const query::QueryOptions& options,
              const std::string& format) {
  const absl::StatusOr<std::string> samples = ReadFileOrStdin(file, kMaxSampleFileBytes);
  const absl::StatusOr<std::string> answer =
      samples.ok() ? query::AnswerQuery(*samples, options) : samples.status();
  if (!answer.ok()) {
    if (options.json) {
      std::cout << promql::ErrorJson(answer.status()) << std::endl;
    } else {
      std::cerr << "flyball query: " << answer.status().message() << std::endl;
    }
    return samples.ok() ? 1 : kUsageError;
  }
  return Print(format == "yaml" ? JsonAs(format, *answer) : *answer);
}

// Asks a running flyball for the rules that make the metric.
absl::StatusOr<std::string> AskForRule(const ClusterFlags& flags, const std::string& metric) {
  ServerFlags server_flags;
  static_cast<ClusterFlags&>(server_flags) = flags;
  server_flags.server.clear();  // it is the API server's address
  ASSIGN_OR_RETURN(ServerAccess server, ServerAccess::Find(server_flags, Clock::System()));
  ASSIGN_OR_RETURN(const std::string page, server.GetFromAny("/debug/rules"));
  return RulesOfMetric(page, metric);
}

absl::StatusOr<std::string> AskCluster(const ClusterFlags& flags, MetricQuestion question) {
  ASSIGN_OR_RETURN(Cluster cluster, ConnectTo(flags, Clock::System()));
  question.ns = cluster.ns;
  ASSIGN_OR_RETURN(const auto server,
                   http::MakeHttpTransport(std::move(cluster.transport), Clock::System()));
  ASSIGN_OR_RETURN(std::string answer, AnswerMetric(*server, question));
  if (!question.rule || question.json) return answer;
  ASSIGN_OR_RETURN(const std::string rule, AskForRule(flags, question.metric));
  return answer + rule;
}

int QueryCluster(const ClusterFlags& flags, MetricQuestion question, const std::string& format) {
  const absl::StatusOr<std::string> answer = AskCluster(flags, std::move(question));
  return answer.ok() ? Print(JsonAs(format, *answer)) : Fail("query", answer.status());
}

}  // namespace

int RunQuery(const Args& args) {
  CLI::App app(
      "Asks for a metric as an autoscaler would (flyball query METRIC -n NAMESPACE), or evaluates "
      "PromQL over the samples of a file (flyball query --file SAMPLES 'EXPR').",
      "flyball query");
  std::string file, format = "table";
  query::QueryOptions options;
  MetricQuestion question;
  ClusterFlags cluster;
  app.add_option("expr", options.expr, "Name of a metric; with --file PromQL")
      ->required()
      ->type_name("METRIC|EXPR");
  CLI::Option* const from_file =
      app.add_option("--file", file,
                     "OpenMetrics with a time stamp on each sample, as for `promtool tsdb "
                     "create-blocks-from openmetrics`; - is standard input")
          ->type_name("FILE|-")
          ->group(kOfFile);
  AddFlags(app, options, from_file);
  AddClusterFlags(app, cluster, "Address of the API server");
  app.add_option("--object", question.object,
                 "Object of a custom metric: RESOURCE/NAME, or RESOURCE for all; pods by default");
  app.add_option("-l,--selector", question.selector, "Selector of the metric's labels");
  app.add_flag("--rule", question.rule,
               "Also name the rule that makes it, which needs the rights of `flyball metrics`");
  AddWord(app, "-o,--output", format, {"table", "text", "json", "yaml"},
          "table or text (for people; the default), or the answer of the metrics API as json or "
          "yaml; with --file `data` of Prometheus's HTTP API, or its error");
  app.footer(ExitStatuses("the query is refused or fails, or there is no such metric"));
  if (const auto ended = Parse(app, args)) return *ended;
  options.json = question.json = format == "json" || format == "yaml";
  if (!file.empty()) return QueryFile(file, options, format);
  question.metric = options.expr;
  return QueryCluster(cluster, std::move(question), format);
}

}  // namespace flyball::cmd
