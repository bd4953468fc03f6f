// flyball test: runs unit tests of rule files.
#include <CLI/CLI.hpp>
#include <iostream>
#include <sstream>

#include "cmd/flags/words.h"
#include "cmd/flyball/commands.h"
#include "re2/re2.h"
#include "rule_tests/test_rules.h"
#include "spdlog/spdlog.h"

namespace flyball::cmd {

int RunTest(const Args& args) {
  CLI::App app("Runs unit tests of files.", "flyball test");
  app.require_subcommand(1);
  rule_tests::TestOptions options;
  std::string format = "text";
  CLI::App* const rules = app.add_subcommand(
      "rules", "Send requests to rules over given series and objects; compare PromQL and answers");
  rules->footer(ExitStatuses("a test fails"));
  AddFiles(*rules, options.files, "Test files; - is standard input");
  rules->add_option("--run", options.run, "Run only tests whose name matches this")
      ->type_name("REGEX");
  AddOutput(*rules, format, {"text", "junit", "json", "yaml"});
  if (const auto ended = Parse(app, args)) return *ended;
  if (const RE2 pattern(options.run, RE2::Quiet); !pattern.ok()) {
    std::cerr << "flyball test rules: --run: " << pattern.error() << "\n";
    return kUsageError;
  }
  options.format = format == "junit"  ? rule_tests::TestFormat::kJunit
                   : format == "text" ? rule_tests::TestFormat::kText
                                      : rule_tests::TestFormat::kJson;
  // A failed test tells what the server would log.
  spdlog::set_level(spdlog::level::off);
  std::ostringstream out;
  const int status = rule_tests::TestRules(options, format == "yaml" ? out : std::cout, std::cerr);
  if (format == "yaml") std::cout << JsonAs(format, out.str()) << std::flush;
  return status;
}

}  // namespace flyball::cmd
