// flyball version: the program's version, its libraries, and the modules that it would load.
#include <openssl/crypto.h>
#include <spdlog/version.h>
#include <zlib.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "absl/base/config.h"
#include "absl/status/statusor.h"
#include "base/module_library.h"
#include "base/status_macros.h"
#include "cmd/flags/words.h"
#include "cmd/flyball/commands.h"
#include "scaler/front/module/data_path_server.h"
#include "scaler/triggers/external/module.h"
#include "serve/build_info.h"

namespace flyball::cmd {
namespace {

// Prints the libraries that tell their version.
void PrintLibraries() {
  std::printf(
      "libraries: %s; zlib %s; abseil %d; nlohmann json %d.%d.%d; spdlog %d.%d.%d; CLI11 %s\n",
      OpenSSL_version(OPENSSL_VERSION), zlibVersion(), ABSL_LTS_RELEASE_VERSION,
      NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH,
      SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH, CLI11_VERSION);
}

int PrintModule(const char* what, const absl::StatusOr<std::string>& path) {
  if (!path.ok()) {
    std::cerr << "flyball: " << path.status().message() << "\n";
    return 1;
  }
  std::printf("%s: %s\n", what, path->c_str());
  return 0;
}

absl::StatusOr<std::string> ExternalModulePath() {
  ASSIGN_OR_RETURN(const LoadedModule loaded, scaler::LoadExternalModule(ModuleFolders()));
  return loaded.path;
}

// Loads the modules that the first external trigger and the first http trigger would load; an image
// or a package is checked with this.
int PrintModules() {
  const int external = PrintModule("external triggers", ExternalModulePath());
  const int http = PrintModule("http triggers", front::FrontModulePath(ModuleFolders()));
  return external | http;
}

}  // namespace

int RunVersion(const Args& args) {
  CLI::App app("Prints the version.", "flyball version");
  bool modules = false;
  app.add_flag("--modules", modules,
               "Load the modules of external and http triggers, and say where they are");
  app.footer(ExitStatuses("a module cannot be loaded"));
  if (const auto ended = Parse(app, args)) return *ended;
  const serve::BuildInfo& build = serve::ThisBuild();
  std::printf("flyball %s\n", build.version.c_str());
  std::printf("commit: %s%s%s\n", build.commit.empty() ? "not known" : build.commit.c_str(),
              build.date.empty() ? "" : " of ", build.date.c_str());
  PrintLibraries();
  return modules ? PrintModules() : 0;
}

}  // namespace flyball::cmd
