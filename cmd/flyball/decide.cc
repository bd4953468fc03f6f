// flyball decide: the replica math on vectors or on files.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>

#include "cmd/flyball/commands.h"
#include "scaler/vectors/vectors.h"

namespace flyball::cmd {
namespace {

// Exit statuses: 0 all answered, 1 a line was bad, 2 the command line or a file was.
int DecideVectors(const std::string& path) {
  size_t bad = 0;
  if (path == "-") {
    std::ios::sync_with_stdio(false);
    bad = scaler::AnswerLines(std::cin, std::cout);
  } else {
    std::ifstream in(path);
    if (!in) {
      std::fprintf(stderr, "flyball decide: cannot read %s\n", path.c_str());
      return 2;
    }
    bad = scaler::AnswerLines(in, std::cout);
  }
  if (bad > 0) std::fprintf(stderr, "flyball decide: %zu bad lines\n", bad);
  return bad > 0 ? 1 : 0;
}

}  // namespace

int RunDecide(const Args& args) {
  CLI::App app("Decides replica counts as the HorizontalPodAutoscaler does.", "flyball decide");
  std::string vectors;
  app.add_option("--vectors", vectors, "Scenarios, one a line; - is standard input")
      ->type_name("FILE|-")
      ->required();
  try {
    app.parse(Args(args.rbegin(), args.rend()));
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return DecideVectors(vectors);
}

}  // namespace flyball::cmd
