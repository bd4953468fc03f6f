#include "cmd/flags/doctor_flags.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cmd/flags/words.h"
#include "serve/completion.h"
#include "serve/debug_pages.h"
#include "serve/go_flags.h"

namespace flyball::cmd {
namespace {

// KIND/NAME or NAME.
absl::Status TakeObject(const std::string& object, DoctorFlags& flags) {
  if (object.empty()) return absl::OkStatus();
  if (object.back() == '/') {
    return absl::InvalidArgumentError(absl::StrCat("expected KIND/NAME, got ", object));
  }
  ASSIGN_OR_RETURN(const serve::NamedAutoscaler named, serve::ParseNamedAutoscaler(object));
  if (named.kind.has_value()) {
    flags.kind = *named.kind == scaler::AutoscalerKind::kHpa ? "hpa" : "autoscaler";
  }
  flags.name = named.name;
  if (flags.all) return absl::InvalidArgumentError("name one autoscaler, or ask for --all");
  return absl::OkStatus();
}

absl::Status Check(const DoctorFlags& flags) {
  if (flags.timeout <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError("--timeout: expected more than 0");
  }
  if (flags.prometheus.prometheus_verb != "GET" && flags.prometheus.prometheus_verb != "POST") {
    return absl::InvalidArgumentError("--prometheus-verb: expected GET or POST");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DoctorFlags> DoctorFlagsFrom(const Args& args) {
  DoctorFlags flags;
  std::string object;
  CLI::App app(
      "Checks the whole chain from an autoscaler to its series, and names the remedy of each "
      "break.",
      "flyball doctor");
  app.add_option("object", object,
                 "hpa/NAME, autoscaler/NAME or NAME; without one the cluster and the rules")
      ->type_name("KIND/NAME");
  app.add_flag("-A,--all", flags.all, "Check every autoscaler");
  AddClusterFlags(app, flags,
                  "Address of the API server, as http://127.0.0.1:8001 of `kubectl proxy`");
  app.add_option("--config", flags.config,
                 "Rule file; by default that of the server, from its ConfigMap");
  AddOutput(app, flags.output, {"text", "json", "yaml"});
  AddDialectFlags(app, "Version of the HPA controller; auto asks the API server", flags.dialect);
  serve::GoFlags(app).Duration("timeout", flags.timeout, "limit on each call");
  serve::AddPrometheusFlags(serve::GoFlags(app, "Prometheus"), flags.prometheus);
  app.footer(ExitStatuses("a link of the chain is broken"));
  if (auto listed = serve::ListedWords(app, args)) {
    flags.help = *std::move(listed);
    return flags;
  }
  try {
    app.parse(Args(args.rbegin(), args.rend()));
  } catch (const CLI::CallForHelp&) {
    flags.help = app.help();
    return flags;
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(error.what());
  }
  RETURN_IF_ERROR(TakeObject(object, flags));
  RETURN_IF_ERROR(Check(flags));
  ASSIGN_OR_RETURN(flags.dialect.choice,
                   scaler::ParseDialectChoice(flags.dialect.version, flags.dialect.gates));
  return flags;
}

serve::ServeFlags SettingsOf(const std::vector<std::string>& words) {
  Args args(words);
  // The words before the flags are the program and its command.
  while (!args.empty() && !absl::StartsWith(args.front(), "-")) args.erase(args.begin());
  auto flags = serve::ParseServeFlags(args);
  return flags.ok() ? *std::move(flags) : serve::ServeFlags();
}

}  // namespace flyball::cmd
