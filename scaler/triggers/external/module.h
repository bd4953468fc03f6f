// The module that speaks gRPC: a shared library, loaded when the first external trigger asks its
// server. A process without such triggers never has gRPC in memory (3.5 MiB).
//
// Thread-safe. The module stays loaded until the process ends, since gRPC's threads may run.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/module_library.h"
#include "scaler/triggers/external/external_scaler.h"

namespace flyball::scaler {

inline constexpr char kExternalModuleFile[] = "external_scaler.so";
inline constexpr char kExternalModuleSymbol[] = "flyball_external_module";

// The type of the symbol kExternalModuleSymbol.
struct ExternalModule {
  // The version of the program, with a digest of external_scaler.h and of this header. It must stay
  // the first member: if a module was built from other headers, all that follows may differ.
  const char* interface = nullptr;
  std::shared_ptr<ExternalScaler> (*make)(const ExternalAddress& address) = nullptr;
  // Makes gRPC pass its own error messages to `log`, on any thread, until the process ends. Without
  // it they go to standard error.
  void (*log_to)(void (*log)(absl::string_view message)) = nullptr;
};

// Loads the module as LoadModule does, with the same errors; its struct is an ExternalModule.
absl::StatusOr<LoadedModule> LoadExternalModule(absl::Span<const std::string> folders);

}  // namespace flyball::scaler
