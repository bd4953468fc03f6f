// Shared by the command lines of all subcommands: parsing, error messages, help.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "cmd/flags/args.h"

namespace CLI {
class App;
}

namespace flyball::cmd {

// Parses the words. If there is nothing to run, after --help or an error, it prints the help or the
// error and returns the exit status.
std::optional<int> Parse(CLI::App& app, const Args& args);

// Prints what a command has to say. Returns the exit status: 0, or 1 if it cannot be written.
int Print(absl::string_view text);
// Prints why a command failed. Returns the exit status: that of wrong words or input if the error
// is kInvalidArgument, else 1.
int Fail(absl::string_view command, const absl::Status& why);

// The end of a help text, about the exit statuses 0, 1 and 2; `one` says when it is 1.
std::string ExitStatuses(absl::string_view one);

// Adds FILE… and, like kubectl, -f.
void AddFiles(CLI::App& app, std::vector<std::string>& files, const std::string& help);

// Adds -o, whose value may be in any case; `allowed` begins with the default, which `value` has.
void AddOutput(CLI::App& app, std::string& value, const std::vector<std::string>& allowed);

// The JSON document, indented, or as YAML if `output` is yaml. Text that is no JSON is returned
// unchanged.
std::string JsonAs(absl::string_view output, std::string json);

// Adds a flag that takes one of these words in any case; `value` becomes the word as in `allowed`.
void AddWord(CLI::App& app, const std::string& flag, std::string& value,
             const std::vector<std::string>& allowed, const std::string& help);

// The candidate that was probably meant: it differs in a letter or two, or begins with `word`; "":
// none.
std::string Nearest(absl::string_view word, const std::vector<std::string>& candidates);

}  // namespace flyball::cmd
