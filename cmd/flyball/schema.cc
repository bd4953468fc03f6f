// flyball schema: JSON schemas of the files that people write, for editors and checkers.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "base/status_macros.h"
#include "cmd/flags/words.h"
#include "cmd/flyball/commands.h"
#include "flyball_schemas.h"
#include "scaler/spec/document.h"
#include "scaler/spec/document_json.h"

namespace flyball::cmd {
namespace {

using Json = nlohmann::ordered_json;
using scaler::Node;

// The schema from the custom resource definition.
absl::StatusOr<std::string> AutoscalerSchema() {
  ASSIGN_OR_RETURN(const Node definition, scaler::ParseOneObject(kAutoscalerDefinition));
  const Node* const spec = definition.Find("spec");
  const Node* const versions = spec == nullptr ? nullptr : spec->Find("versions");
  if (versions == nullptr || versions->items.empty()) return absl::InternalError("no versions");
  const Node* const schema = versions->items[0].Find("schema");
  const Node* const wanted = schema == nullptr ? nullptr : schema->Find("openAPIV3Schema");
  if (wanted == nullptr) return absl::InternalError("no schema");
  Json out = {{"$schema", "http://json-schema.org/draft-07/schema#"},
              {"title", "Autoscaler (flyball.dev/v1alpha1)"}};
  out.update(scaler::JsonOf<Json>(*wanted));
  return out.dump(2) + "\n";
}

}  // namespace

int RunSchema(const Args& args) {
  CLI::App app(
      "Prints a JSON schema, for editors: `# yaml-language-server: $schema=FILE` in a file's first "
      "line.",
      "flyball schema");
  app.require_subcommand(1);
  app.footer(ExitStatuses("the output cannot be written"));
  CLI::App* const rules = app.add_subcommand("rules", "Schema of rule files");
  CLI::App* const tests =
      app.add_subcommand("tests", "Schema of the files of `flyball test rules`");
  app.add_subcommand("autoscaler", "Schema of the kind Autoscaler (CRD)");
  if (const auto ended = Parse(app, args)) return *ended;
  const absl::StatusOr<std::string> schema = rules->parsed()   ? std::string(kRulesSchema)
                                             : tests->parsed() ? std::string(kTestsSchema)
                                                               : AutoscalerSchema();
  return schema.ok() ? Print(*schema) : Fail("schema", schema.status());
}

}  // namespace flyball::cmd
