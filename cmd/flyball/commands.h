// The subcommands of the program, one function and one file each.
//
// Each takes the words after its own name and returns the process's exit status. Output goes to
// stdout, complaints and logs to stderr. A subcommand parses its flags, makes one options struct of
// them and calls the floors below.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "cmd/flags/args.h"
#include "cmd/flyball/check_report.h"

namespace CLI {
class App;
}

namespace flyball::cmd {

int Main(int argc, char** argv);

int RunServe(const Args& args);       // serve.cc: the API server; also the default, with
                                      // prometheus-adapter's flags alone
int RunCheck(const Args& args);       // check.cc: check rules FILE…
int RunCompletion(const Args& args);  // completion.cc: completion bash|zsh|fish
int RunConvert(const Args& args);     // convert.cc: convert hpa|scaledobject|ksvc|http FILE…
int RunTest(const Args& args);        // test.cc: test rules FILE…
int RunDecide(const Args& args);      // decide.cc: replica math on files or vectors
int RunDoctor(const Args& args);      // doctor.cc: the chain from an autoscaler to its series
int RunExplain(const Args& args);     // explain.cc: asks a running server why
int RunMetrics(const Args& args);     // metrics.cc: what a running server offers
int RunQuery(const Args& args);       // query.cc: a metric of the cluster, or PromQL over a file
int RunSchema(const Args& args);      // schema.cc: JSON schemas
int RunVersion(const Args& args);     // version.cc

struct CheckOptions {
  std::vector<std::string> files = {};        // "-": standard input
  bool strict = false;                        // warnings fail as well
  bool metricsql = false;                     // what only Prometheus refuses is a warning
  std::vector<std::string> values_path = {};  // see rules::FindRules
  ReportFormat format = ReportFormat::kText;
};

// What `check rules` does, and the exit status. As text, findings go to `err`, one a line as
// `file:line:column: field: message`, and a line for each file that passes to `out`; all else goes
// to `out`.
int CheckRules(const CheckOptions& options, std::ostream& out, std::ostream& err);

}  // namespace flyball::cmd
