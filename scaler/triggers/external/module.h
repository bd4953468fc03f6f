// The module that speaks gRPC: a shared library of its own, loaded when the first external trigger
// asks. A server without such triggers never has gRPC in memory (3.5 MiB).
//
// Thread-safe. What is loaded stays until the process ends, as gRPC's threads may run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "scaler/triggers/external/external_scaler.h"

namespace flyball::scaler {

inline constexpr char kExternalModuleFile[] = "external_scaler.so";
inline constexpr char kExternalModuleSymbol[] = "flyball_external_module";

// What the symbol kExternalModuleSymbol names.
struct ExternalModule {
  // The version of the program, with a digest of external_scaler.h and of this header. It stays the
  // first member: in a module that was built from other headers all that follows may differ.
  const char* interface = nullptr;
  std::shared_ptr<ExternalScaler> (*make)(const ExternalAddress& address) = nullptr;
};

struct LoadedExternalModule {
  std::string path;
  const ExternalModule* module = nullptr;
};

// Loads the module from the first folder that has the file, whether or not that one is good.
//   kNotFound            no folder has it; the message names them
//   kFailedPrecondition  it can't be loaded, or is not of this program
absl::StatusOr<LoadedExternalModule> LoadExternalModule(absl::Span<const std::string> folders);

// The folders to look in: lib/flyball in the program's folder (in a build, or beside a program that
// was copied), and in the folder above it (where it is installed).
std::vector<std::string> ExternalModuleFolders();

}  // namespace flyball::scaler
