// Loads shared libraries of this program when they are first needed, so that servers that do not
// use them do not need memory for them.
//
// Thread-safe. A loaded module stays until the process ends, since threads of its libraries may
// run. A module exports one symbol: a struct whose first member is the text of the interface that
// it was built with, so that a module of another build is refused before anything else of it is
// read.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace flyball {

struct ModuleLibrary {
  std::string file;       // "external_scaler.so"
  std::string symbol;     // of the struct
  std::string interface;  // what the struct's first member must say
  std::string purpose;    // begins the error messages: "external triggers need gRPC"
};

struct LoadedModule {
  std::string path;
  const void* module = nullptr;  // the struct
};

// Loads the module from the first folder that has the file, whether or not that one is valid. Costs
// microseconds if it is already loaded.
//   kNotFound            no folder has it; the message names them
//   kFailedPrecondition  it can't be loaded, or is not of this program
absl::StatusOr<LoadedModule> LoadModule(const ModuleLibrary& library,
                                        absl::Span<const std::string> folders);

// The folders to look in: lib/flyball in the program's folder (in a build, or beside a program that
// was copied), and in the folder above it (where it is installed).
std::vector<std::string> ModuleFolders();

}  // namespace flyball
