// flyball completion: a script for the shell, which asks the program which words may come next.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "cmd/flags/words.h"
#include "cmd/flyball/commands.h"

namespace flyball::cmd {
namespace {

constexpr char kBash[] = R"(# bash completion for flyball: source <(flyball completion bash)
_flyball() {
  local words current=${COMP_WORDS[COMP_CWORD]}
  words=$("${COMP_WORDS[0]}" __words "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
  # Flags only where one has begun, so that files can be completed elsewhere.
  [[ $current == -* ]] || words=$(grep -v '^-' <<<"$words")
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _flyball flyball
)";

constexpr char kZsh[] = R"(#compdef flyball
# zsh completion for flyball: source <(flyball completion zsh)
_flyball() {
  local -a found
  found=("${(@f)$("${words[1]}" __words "${(@)words[2,CURRENT-1]}" 2>/dev/null)}")
  # Flags only where one has begun, so that files can be completed elsewhere.
  [[ ${words[CURRENT]} == -* ]] || found=("${(@)found:#-*}")
  compadd -a found || _files
}
compdef _flyball flyball
)";

constexpr char kFish[] = R"(# fish completion for flyball: flyball completion fish | source
function __flyball_words
  set -l given (commandline -opc)
  $given[1] __words $given[2..-1] 2>/dev/null
end
complete -c flyball -a '(__flyball_words)'
)";

}  // namespace

int RunCompletion(const Args& args) {
  CLI::App app("Prints a completion script for a shell.", "flyball completion");
  app.require_subcommand(1);
  app.footer(ExitStatuses("the output cannot be written"));
  CLI::App* const bash = app.add_subcommand("bash", "source <(flyball completion bash)");
  CLI::App* const zsh = app.add_subcommand("zsh", "source <(flyball completion zsh)");
  app.add_subcommand("fish", "flyball completion fish | source");
  if (const auto ended = Parse(app, args)) return *ended;
  const char* const script = bash->parsed() ? kBash : zsh->parsed() ? kZsh : kFish;
  return std::fputs(script, stdout) < 0 ? 1 : 0;
}

}  // namespace flyball::cmd
