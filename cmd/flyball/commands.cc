#include "cmd/flyball/commands.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

namespace flyball::cmd {
namespace {

struct Command {
  const char* name;
  const char* summary;
  int (*run)(const Args&);
};

constexpr Command kCommands[] = {
    {"check", "check rule files", RunCheck},
    {"convert", "turn HorizontalPodAutoscalers into autoscalers of our own kind", RunConvert},
    {"decide", "decide replica counts on vectors or files", RunDecide},
    {"doctor", "check the whole chain from an autoscaler to its series", RunDoctor},
    {"explain", "ask a running server why an autoscaler has its count", RunExplain},
    {"query", "evaluate PromQL over the samples of a file", RunQuery},
    {"serve", "serve the metrics APIs; also meant by prometheus-adapter's flags alone", RunServe},
    {"test", "run unit tests of rule files", RunTest},
    {"version", "print the version", RunVersion},
};

void PrintUsage(std::FILE* out) {
  std::fputs("usage: flyball COMMAND [flags]\n\n", out);
  for (const Command& command : kCommands) {
    std::fprintf(out, "  %-8s %s\n", command.name, command.summary);
  }
  std::fputs("\n`flyball COMMAND --help` tells more.\n", out);
}

}  // namespace

std::optional<int> Parse(CLI::App& app, const Args& args) {
  try {
    app.parse(Args(args.rbegin(), args.rend()));  // CLI11 takes words last first
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
}

int Main(int argc, char** argv) {
  const Args words(argv + 1, argv + argc);
  if (words.empty() || words[0] == "help" || words[0] == "--help" || words[0] == "-h") {
    PrintUsage(words.empty() ? stderr : stdout);
    return words.empty() ? 2 : 0;
  }
  for (const Command& command : kCommands) {
    if (words[0] == command.name) return command.run(Args(words.begin() + 1, words.end()));
  }
  // Started as prometheus-adapter is: flags, perhaps behind a word that means nothing.
  for (const std::string& word : words) {
    if (word.rfind("--", 0) == 0) return RunServe(words);
  }
  std::fprintf(stderr, "flyball: unknown command \"%s\"\n\n", words[0].c_str());
  PrintUsage(stderr);
  return kUsageError;
}

}  // namespace flyball::cmd
