#include "cmd/flyball/commands.h"

#include <cstdio>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cmd/flags/words.h"
#include "serve/completion.h"

namespace flyball::cmd {
namespace {

struct Command {
  const char* name;
  const char* summary;
  int (*run)(const Args&);
};

constexpr Command kCommands[] = {
    {"backtest", "decide again over a past time, with the load that Prometheus recorded",
     RunBacktest},
    {"check", "check rule files, ConfigMaps and Helm values with rules", RunCheck},
    {"completion", "print a completion script for bash, zsh or fish", RunCompletion},
    {"convert",
     "turn HPAs, KEDA's and Knative's objects into Autoscalers (CRD), and Helm values into ours",
     RunConvert},
    {"decide", "decide the replica count of an HPA in a cluster, in files or in vectors",
     RunDecide},
    {"diff", "show the differences between two rule files", RunDiff},
    {"doctor", "check the whole chain from an autoscaler to its series", RunDoctor},
    {"explain", "ask a running server why an autoscaler has its count", RunExplain},
    {"metrics", "list what a running server offers, and by which rule", RunMetrics},
    {"query",
     "ask for a metric as an autoscaler does, or evaluate PromQL over the samples of a file",
     RunQuery},
    {"rules", "show which metric a series becomes, or why it becomes none", RunRules},
    {"schema", "print a JSON schema of rule files, test files or autoscalers", RunSchema},
    {"serve",
     "serve the metrics APIs, and scale; the default when only flags are given, as "
     "prometheus-adapter has it",
     RunServe},
    {"test", "run unit tests of rule files", RunTest},
    {"version", "print the version", RunVersion},
};

void PrintUsage(std::FILE* out) {
  std::fputs("usage: flyball COMMAND [flags]\n\n", out);
  for (const Command& command : kCommands) {
    std::fprintf(out, "  %-11s %s\n", command.name, command.summary);
  }
  std::fputs(
      "\n`flyball COMMAND --help` tells more.\n\n"
      "Exit status: 0 if all is well, 1 if the check found problems, 2 for a wrong command line "
      "or input\n"
      "that cannot be read; serve: 255 when it cannot start.\n",
      out);
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  return names;
}

const Command* Find(const std::string& name) {
  for (const Command& command : kCommands) {
    if (name == command.name) return &command;
  }
  return nullptr;
}

// Prints the words that the shell may offer after these words.
int ListWords(const Args& words) {
  if (words.empty()) {
    for (const std::string& name : Names()) std::printf("%s\n", name.c_str());
    return 0;
  }
  const Command* const command = Find(words[0]);
  if (command == nullptr) return 0;
  Args args(words.begin() + 1, words.end());
  args.emplace_back(serve::kListWords);
  return command->run(args);
}

bool IsFlag(const std::string& word) { return absl::StartsWith(word, "-"); }

}  // namespace

int Main(int argc, char** argv) {
  const Args words(argv + 1, argv + argc);
  if (words.empty() || words[0] == "help" || words[0] == "--help" || words[0] == "-h") {
    PrintUsage(words.empty() ? stderr : stdout);
    return words.empty() ? kUsageError : 0;
  }
  if (words[0] == "--version" || (words[0] == "-v" && words.size() == 1)) return RunVersion({});
  if (words[0] == "__words") return ListWords(Args(words.begin() + 1, words.end()));
  if (const Command* command = Find(words[0])) {
    return command->run(Args(words.begin() + 1, words.end()));
  }
  // Started like prometheus-adapter: with flags, perhaps after a word without meaning, which is a
  // path in its images. A word with only --help or --version counts as a misspelt command.
  const bool flags = absl::c_any_of(words, [](const auto& word) {
    return IsFlag(word) && word != "--help" && word != "-h" && word != "--version";
  });
  const std::string nearest = IsFlag(words[0]) ? "" : Nearest(words[0], Names());
  if ((flags && nearest.empty()) || words[0][0] == '/') return RunServe(words);
  std::fprintf(stderr, "flyball: unknown command \"%s\"%s\n\n", words[0].c_str(),
               nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?").c_str());
  PrintUsage(stderr);
  return kUsageError;
}

}  // namespace flyball::cmd
