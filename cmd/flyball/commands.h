// The subcommands of the program, one function and one file each.
//
// Each takes the words after its own name and returns the process's exit status. Output goes to
// stdout, complaints and logs to stderr. A subcommand parses its flags, makes one options struct of
// them and calls the floors below.
#pragma once

#include <optional>
#include <string>
#include <vector>

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
int RunVersion(const Args& args);  // version.cc

}  // namespace flyball::cmd
