// The module that speaks gRPC: a shared library, loaded when the first external trigger asks its
// server. A process without such triggers never has gRPC in memory (3.5 MiB).
//
// Thread-safe. The module stays loaded until the process ends, since gRPC's threads may run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "scaler/triggers/external/external_scaler.h"

namespace flyball::scaler {

inline constexpr char kExternalModuleFile[] = "external_scaler.so";
inline constexpr char kExternalModuleSymbol[] = "flyball_external_module";

// What the symbol kExternalModuleSymbol names.
struct ExternalModule {
  // The version of the program, with a digest of external_scaler.h and of this header. It must stay
  // the first member: if a module was built from other headers, all that follows may differ.
  const char* interface = nullptr;
  std::shared_ptr<ExternalScaler> (*make)(const ExternalAddress& address) = nullptr;
  // Has each of gRPC's own errors handed to `log`, on any thread, until the process ends. Without
  // it they go to standard error.
  void (*log_to)(void (*log)(absl::string_view message)) = nullptr;
};

struct LoadedExternalModule {
  std::string path;
  const ExternalModule* module = nullptr;
};

// Loads the module from the first folder that has the file; later folders are not tried if it is
// wrong.
//   kNotFound            no folder has it; the message names them
//   kFailedPrecondition  it can't be loaded, or belongs to another version of the program
absl::StatusOr<LoadedExternalModule> LoadExternalModule(absl::Span<const std::string> folders);

// The folders to look in: lib/flyball in the program's folder (in a build, or beside a program that
// was copied), and in the folder above it (where it is installed).
std::vector<std::string> ExternalModuleFolders();

}  // namespace flyball::scaler
