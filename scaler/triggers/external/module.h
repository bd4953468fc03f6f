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

// What the symbol is.
struct ExternalModule {
  // Names the version and the content of these two headers. It stays first: all else may differ
  // where this does.
  const char* interface = nullptr;
  std::shared_ptr<ExternalScaler> (*make)(const ExternalAddress& address) = nullptr;
};

struct LoadedExternalModule {
  std::string path;
  const ExternalModule* module = nullptr;
};

// The first folder that has the file decides.
//   kNotFound            none has it; the message names them
//   kFailedPrecondition  it can't be loaded, or is not of this program
absl::StatusOr<LoadedExternalModule> LoadExternalModule(absl::Span<const std::string> folders);

// lib/flyball in the program's folder, and in the one above it: in a build, or next to a copied
// program; and where it is installed.
std::vector<std::string> ExternalModuleFolders();

}  // namespace flyball::scaler
