// The words that may come next on a command line, for the shells' completion.
//
// Pure. They are taken from the very app that parses the command line, so that there is no second
// list.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace flyball::serve {

// As the last word of a command line it asks for the words that may replace it.
inline constexpr char kListWords[] = "--list-words";

// The app or the subcommand of it that the words name.
const CLI::App& Innermost(const CLI::App& app, const std::vector<std::string>& args);

// One a line: the flags, without those that help does not list, and the subcommands of the app, or
// of its subcommand that `args` begins with. nullopt: the last word is not kListWords.
std::optional<std::string> ListedWords(const CLI::App& app, const std::vector<std::string>& args);

}  // namespace flyball::serve
