// What the command lines of the subcommands share: reading, complaints, help.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cmd/flags/args.h"

namespace CLI {
class App;
}

namespace flyball::cmd {

// Reads the words. The status to end with where there is nothing to run, as after --help: what
// there is to say about it has been printed, a complaint with the name of the command.
std::optional<int> Parse(CLI::App& app, const Args& args);

// The end of a help: what 0, 1 and 2 mean; `one` is when 1 is.
std::string ExitStatuses(absl::string_view one);

// FILE… and, as kubectl has it, -f.
void AddFiles(CLI::App& app, std::vector<std::string>& files, const std::string& help);

// -o, in any case; `allowed` begins with the default, which `value` holds.
void AddOutput(CLI::App& app, std::string& value, const std::vector<std::string>& allowed);

// A JSON document for people to read, as yaml if that is the `output`. What is no JSON stays as it
// is.
std::string JsonAs(absl::string_view output, std::string json);

// A flag that takes one of these words, in any case; `value` becomes the word as it stands here.
void AddWord(CLI::App& app, const std::string& flag, std::string& value,
             const std::vector<std::string>& allowed, const std::string& help);

// The one that was probably meant: a slip or two away, or its beginning; "": none.
std::string Nearest(absl::string_view word, const std::vector<std::string>& candidates);

}  // namespace flyball::cmd
