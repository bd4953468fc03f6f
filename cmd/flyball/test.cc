#include <CLI/CLI.hpp>
#include <iostream>

#include "cmd/flyball/commands.h"
#include "rule_tests/test_rules.h"
#include "spdlog/spdlog.h"

namespace flyball::cmd {

int RunTest(const Args& args) {
  CLI::App app("Run unit tests of files", "flyball test");
  app.require_subcommand(1);
  std::vector<std::string> files;
  CLI::App* const rules = app.add_subcommand(
      "rules", "Send requests to rules over given series and objects; compare PromQL and answers");
  rules->add_option("FILE", files, "Test files")->required();
  if (const auto ended = Parse(app, args)) return *ended;
  // What the server would log, the failed test tells.
  spdlog::set_level(spdlog::level::off);
  return rule_tests::TestRules(files, std::cout, std::cerr);
}

}  // namespace flyball::cmd
