// flyball version: the version, and the module that it would load.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

#include "cmd/flyball/commands.h"
#include "scaler/triggers/external/module.h"

namespace flyball::cmd {
namespace {

// Loads what is else loaded by the first external trigger: an image or a package can be checked.
int PrintModules() {
  const auto loaded = scaler::LoadExternalModule(scaler::ExternalModuleFolders());
  if (!loaded.ok()) {
    std::cerr << "flyball: " << loaded.status().message() << "\n";
    return 1;
  }
  std::printf("external triggers: %s\n", loaded->path.c_str());
  return 0;
}

}  // namespace

int RunVersion(const Args& args) {
  CLI::App app("Prints the version.", "flyball version");
  bool modules = false;
  app.add_flag("--modules", modules, "Load the module of external triggers, and say where it is");
  if (const auto ended = Parse(app, args)) return *ended;
  std::printf("flyball %s\n", FLYBALL_VERSION);
  return modules ? PrintModules() : 0;
}

}  // namespace flyball::cmd
