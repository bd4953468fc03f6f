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

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace CLI {
class App;
}

namespace flyball::cmd {

using Args = std::vector<std::string>;

inline constexpr int kUsageError = 2;  // the status of words that make no sense

int Main(int argc, char** argv);

// Reads the words. The status to end with where there is nothing to run, as after --help: what
// there is to say about it has been printed.
std::optional<int> Parse(CLI::App& app, const Args& args);

int RunServe(const Args& args);    // serve.cc: the API server; also the default, with
                                   // prometheus-adapter's flags alone
int RunCheck(const Args& args);    // check.cc: check rules FILE…
int RunConvert(const Args& args);  // convert.cc: convert hpa FILE…
int RunTest(const Args& args);     // test.cc: test rules FILE…
int RunDecide(const Args& args);   // decide.cc: replica math on files or vectors
int RunDoctor(const Args& args);   // doctor.cc: the chain from an autoscaler to its series
int RunExplain(const Args& args);  // explain.cc: asks a running server why
int RunQuery(const Args& args);    // query.cc: PromQL over the samples of a file
int RunVersion(const Args& args);  // version.cc

// What `check rules` does with these files, and the exit status: 0, or 1 if one fails. Findings go
// to `err`, one a line as `file:line:column: field: message`; a line for each file that passes to
// `out`. `strict`: warnings fail as well.
int CheckRules(const std::vector<std::string>& files, bool strict, std::ostream& out,
               std::ostream& err);

// What `explain` prints of an answer of /debug/decisions: the newest decision in full, the earlier
// ones in a line each; `all`: every one in full.
//   kNotFound         the server knows none: who answered, and that another replica may
//   kInvalidArgument  the server's complaint, or no answer of this kind
absl::StatusOr<std::string> ExplainAnswer(absl::string_view json, bool all);
// The same of --shadow-report: a line for each object whose decisions were compared, the different
// ones first, then what the last differences were.
absl::StatusOr<std::string> ShadowAnswer(absl::string_view json);

}  // namespace flyball::cmd
