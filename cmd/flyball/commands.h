// The subcommands of the program, one function and one file each.
//
// Each takes the words after its own name and returns the process's exit status. Output goes to
// stdout, errors and logs to stderr. A subcommand parses its flags into one options struct and
// calls the libraries below.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "cmd/flags/args.h"

namespace CLI {
class App;
}

namespace flyball::cmd {

int Main(int argc, char** argv);

int RunServe(const Args& args);       // serve.cc: the API server; also the default if there
                                      // are only flags, as prometheus-adapter takes them
int RunBacktest(const Args& args);    // backtest.cc: replica math over past load
int RunCheck(const Args& args);       // check.cc: check rules FILE…
int RunCompletion(const Args& args);  // completion.cc: completion bash|zsh|fish
int RunConvert(const Args& args);     // convert.cc: other objects to Autoscalers; Helm values
int RunTest(const Args& args);        // test.cc: test rules FILE…
int RunDecide(const Args& args);      // decide.cc: replica math on files or vectors
int RunDiff(const Args& args);        // the differences between two rule files
int RunDoctor(const Args& args);      // the chain from an autoscaler to its series
int RunExplain(const Args& args);     // explain.cc: asks a running server why
int RunMetrics(const Args& args);     // metrics.cc: what a running server offers
int RunQuery(const Args& args);       // query.cc: a metric of the cluster, or PromQL over a file
int RunRules(const Args& args);       // rules.cc: what rules do with a series
int RunSchema(const Args& args);      // schema.cc: JSON schemas
int RunVersion(const Args& args);     // version.cc

struct CheckOptions {
  std::vector<std::string> files = {};        // "-": standard input
  bool strict = false;                        // a warning fails too
  bool metricsql = false;                     // what only Prometheus refuses is a warning
  std::vector<std::string> values_path = {};  // see rules::FindRules
  std::string format = "text";                // or one of ReportAs
};

// Runs `check rules` and returns the exit status. As text, each finding is a line
// `file:line:column: field: message` in `err`, and each file that passes is a line in `out`;
// reports in other formats go to `out`.
int CheckRules(const CheckOptions& options, std::ostream& out, std::ostream& err);

}  // namespace flyball::cmd
