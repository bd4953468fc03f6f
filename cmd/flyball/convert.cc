#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_split.h"
#include "base/read_file.h"
#include "cmd/flags/dialect_flags.h"
#include "cmd/flags/words.h"
#include "cmd/flyball/commands.h"
#include "cmd/flyball/rule_files.h"
#include "convert/convert.h"
#include "flyball_schemas.h"
#include "scaler/spec/document.h"
#include "scaler/spec/document_json.h"

namespace flyball::cmd {
namespace {

using ConvertText = convert::Conversion(absl::string_view file, absl::string_view text,
                                        const convert::ConvertOptions& options);

// The documents as one List in JSON; the remarks are left out, since JSON has no comments.
std::string ListOf(const std::string& yaml) {
  using Json = nlohmann::ordered_json;
  Json list = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", Json::array()}};
  const auto documents = scaler::ParseDocuments(yaml);
  if (documents.ok()) {
    for (const scaler::Node& document : *documents) {
      list["items"].push_back(scaler::JsonOf<Json>(document));
    }
  }
  return list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Prints nothing unless all files could be converted, because people pipe the output into kubectl.
int ConvertFiles(const std::vector<std::string>& files, const convert::ConvertOptions& options,
                 const std::string& output, absl::FunctionRef<ConvertText> convert_text) {
  std::string yaml;
  bool good = true, usable = true;
  for (const std::string& file : files) {
    const absl::StatusOr<std::string> text = ReadFileOrStdin(file);
    if (!text.ok()) {
      Fail("convert", text.status());
      usable = false;
      continue;
    }
    const convert::Conversion conversion =
        convert_text(file == "-" ? "stdin" : file, *text, options);
    for (const std::string& error : conversion.errors) std::cerr << error << "\n";
    good &= conversion.errors.empty();
    usable &= !conversion.nothing;
    yaml += conversion.yaml;
  }
  if (!usable) return kUsageError;
  return good ? Print(output == "json" ? ListOf(yaml) : yaml) : 1;
}

CLI::App* AddKind(CLI::App& app, const char* name, const char* help,
                  convert::ConvertOptions& options, std::vector<std::string>& files,
                  std::string& output) {
  CLI::App* const kind = app.add_subcommand(name, help);
  kind->footer(ExitStatuses("an object cannot be converted"));
  AddWord(*kind, "--mode", options.mode, {"Shadow", "Advise", "Act"},
          "Write this mode into each Autoscaler; without it the mode of the server's flag counts");
  AddOutput(*kind, output, {"yaml", "json"});
  AddFiles(*kind, files, "YAML or JSON, as kubectl prints them; - is standard input");
  return kind;
}

CLI::App* AddValues(CLI::App& app, std::string& file, std::string& path) {
  CLI::App* const values = app.add_subcommand(
      "values",
      "Values of prometheus-adapter's Helm chart into values of ours: nearly all stay as they are, "
      "and comments name the others");
  values->footer(ExitStatuses("the file has no values"));
  values->add_option("FILE,-f,--filename", file, "Values as YAML; - is standard input")
      ->required()
      ->type_name("FILE|-");
  AddValuesPath(*values, path);
  return values;
}

int ConvertValuesFile(const std::string& file, const std::string& path) {
  std::vector<std::string> keys;
  if (!path.empty()) keys = absl::StrSplit(path, '.');
  return ConvertFiles({file}, {}, "yaml",
                      [&](absl::string_view name, absl::string_view text, const auto&) {
                        return convert::ConvertValues(name, text, keys, kChartValuesSchema);
                      });
}

}  // namespace

int RunConvert(const Args& args) {
  CLI::App app("Turns objects of other kinds into Autoscalers (CRD), and Helm values into ours.",
               "flyball convert");
  app.require_subcommand(1);
  convert::ConvertOptions options;
  std::vector<std::string> files;
  std::string output = "yaml";
  CLI::App* const hpa =
      AddKind(app, "hpa", "HorizontalPodAutoscalers (v1, v2) into Autoscalers, as YAML", options,
              files, output);
  AddKind(app, "scaledobject",
          "KEDA's ScaledObjects into Autoscalers, as YAML; a TriggerAuthentication in the same "
          "file is read for the Secrets that it names",
          options, files, output);
  CLI::App* const ksvc =
      AddKind(app, "ksvc",
              "Services of Knative Serving into Deployments, Services and Autoscalers, as YAML",
              options, files, output);
  ksvc->add_flag("--beside", options.beside,
                 "Name the Services NAME-front, since NAME belongs to the Knative Service");
  AddKind(app, "http",
          "HTTPScaledObjects and InterceptorRoutes of KEDA's http-add-on into Autoscalers and the "
          "Services to call, as YAML; Services and ScaledObjects in the same file are read for the "
          "pods' port and the bounds",
          options, files, output);
  std::string values_file, values_path;
  const CLI::App* const values = AddValues(app, values_file, values_path);
  DialectFlags dialect;
  AddDialectFlags(
      *hpa,
      "Refuse what the API server of this version would refuse; auto: what all versions refuse",
      dialect);
  if (const auto ended = Parse(app, args)) return *ended;
  if (values->parsed()) return ConvertValuesFile(values_file, values_path);
  if (const auto ended = ReadDialectFlags("convert", dialect)) return *ended;
  if (dialect.choice.minor.has_value()) options.dialect = scaler::DialectOf(dialect.choice, {});
  static const std::map<std::string, ConvertText*> kinds = {
      {"hpa", convert::ConvertHpas},
      {"scaledobject", convert::ConvertScaledObjects},
      {"ksvc", convert::ConvertKnativeServices},
      {"http", convert::ConvertHttpObjects}};
  return ConvertFiles(files, options, output, kinds.at(app.get_subcommands().front()->get_name()));
}

}  // namespace flyball::cmd
