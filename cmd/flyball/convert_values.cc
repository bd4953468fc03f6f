#include "cmd/flyball/convert_values.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <vector>

#include "absl/strings/str_split.h"
#include "base/read_file.h"
#include "cmd/flags/words.h"
#include "cmd/flyball/commands.h"
#include "cmd/flyball/rule_files.h"
#include "convert/convert_values.h"
#include "flyball_schemas.h"

namespace flyball::cmd {

CLI::App* AddConvertValues(CLI::App& app, ConvertValuesFlags& flags) {
  CLI::App* const values = app.add_subcommand(
      "values",
      "Values of prometheus-adapter's Helm chart into values of ours: nearly all stay as they are, "
      "and comments name the others");
  values->footer(ExitStatuses("the file has no values"));
  values->add_option("FILE,-f,--filename", flags.file, "Values as YAML; - is standard input")
      ->required()
      ->type_name("FILE|-");
  AddValuesPath(*values, flags.path);
  return values;
}

int RunConvertValues(const ConvertValuesFlags& flags) {
  const absl::StatusOr<std::string> text = ReadFileOrStdin(flags.file);
  if (!text.ok()) {
    std::cerr << "flyball convert: " << text.status().message() << "\n";
    return kUsageError;
  }
  std::vector<std::string> path;
  if (!flags.path.empty()) path = absl::StrSplit(flags.path, '.');
  const convert::Conversion conversion = convert::ConvertValues(
      flags.file == "-" ? "stdin" : flags.file, *text, path, kChartValuesSchema);
  for (const std::string& error : conversion.errors) std::cerr << error << "\n";
  if (!conversion.errors.empty()) return 1;
  std::cout << conversion.yaml << std::flush;
  return std::cout.good() ? 0 : 1;
}

}  // namespace flyball::cmd
