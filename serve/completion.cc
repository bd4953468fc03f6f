#include "serve/completion.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"

namespace flyball::serve {

const CLI::App& Innermost(const CLI::App& app, const std::vector<std::string>& args) {
  const CLI::App* found = &app;
  for (const std::string& word : args) {
    for (const CLI::App* below : found->get_subcommands({})) {
      if (below->get_name() == word) {
        found = below;
        break;
      }
    }
  }
  return *found;
}

std::optional<std::string> ListedWords(const CLI::App& app, const std::vector<std::string>& args) {
  if (args.empty() || args.back() != kListWords) return std::nullopt;
  const CLI::App& shown = Innermost(app, args);
  std::string words;
  for (const CLI::Option* option : shown.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) absl::StrAppend(&words, "--", name, "\n");
  }
  for (const CLI::App* below : shown.get_subcommands({})) {
    if (!below->get_name().empty()) absl::StrAppend(&words, below->get_name(), "\n");
  }
  return words;
}

}  // namespace flyball::serve
