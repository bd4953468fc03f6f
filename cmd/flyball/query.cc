// flyball query: PromQL over the samples of a file. What is answered stands in query.
#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdio>
#include <iostream>
#include <string>

#include "absl/status/statusor.h"
#include "base/read_file.h"
#include "cmd/flyball/commands.h"
#include "promql/dialect.h"
#include "promql/engine/api.h"
#include "query/query.h"

namespace flyball::cmd {
namespace {

constexpr size_t kMaxSampleFileBytes = size_t{2} << 30;

void AddFlags(CLI::App& app, query::QueryOptions& options) {
  app.add_option("expr", options.expr, "PromQL")->required()->type_name("EXPR");
  app.add_option("--time", options.time, "At this time; by default that of the newest sample")
      ->type_name("SECONDS|RFC3339");
  app.add_option("--start", options.start, "For a range query: the first moment")
      ->type_name("SECONDS|RFC3339");
  app.add_option("--end", options.end, "The same: none is after it")->type_name("SECONDS|RFC3339");
  app.add_option("--step", options.step, "The same: from one to the next")
      ->type_name("SECONDS|DURATION");
  app.add_option("--lookback", options.lookback,
                 "How old a sample may be and still be the current one; 5m by default")
      ->type_name("SECONDS|DURATION");
  app.add_option_function<std::string>(
         "--promql-dialect",
         [&options](const std::string& text) {
           if (text != "2" && text != "3") {
             throw CLI::ValidationError("--promql-dialect", "expected 2 or 3, got " + text);
           }
           options.dialect = text == "2" ? promql::Dialect::k2 : promql::Dialect::k3;
         },
         "Which Prometheus answers the same: 3 (the default) or 2")
      ->type_name("2|3");
  app.add_option_function<std::string>(
         "-o,--output",
         [&options](const std::string& text) {
           if (text != "table" && text != "json") {
             throw CLI::ValidationError("-o", "expected table or json, got " + text);
           }
           options.json = text == "json";
         },
         "table (for people; the default) or json (`data` of Prometheus's HTTP API, or its error)")
      ->type_name("FORMAT");
}

}  // namespace

// Exit statuses: 0; 1 when the query is refused or fails, or the file cannot be read or is wrong.
int RunQuery(const Args& args) {
  CLI::App app("Evaluates PromQL over the samples of a file.", "flyball query");
  std::string file;
  app.add_option("--file", file,
                 "OpenMetrics with a time stamp on each sample, as for `promtool tsdb "
                 "create-blocks-from openmetrics`; - is standard input")
      ->required()
      ->type_name("FILE|-");
  query::QueryOptions options;
  AddFlags(app, options);
  if (const auto ended = Parse(app, args)) return *ended;
  const absl::StatusOr<std::string> samples = ReadFileOrStdin(file, kMaxSampleFileBytes);
  const absl::StatusOr<std::string> answer =
      samples.ok() ? query::AnswerQuery(*samples, options) : samples.status();
  if (!answer.ok()) {
    if (options.json) {
      std::cout << promql::ErrorJson(answer.status()) << std::endl;
    } else {
      std::cerr << "flyball query: " << answer.status().message() << std::endl;
    }
    return 1;
  }
  std::cout << *answer << std::flush;
  return std::cout.good() ? 0 : 1;
}

}  // namespace flyball::cmd
