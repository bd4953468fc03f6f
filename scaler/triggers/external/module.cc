#include "scaler/triggers/external/module.h"

#include <string_view>

#include "absl/base/call_once.h"
#include "base/module_library.h"
#include "base/status_macros.h"
#include "spdlog/spdlog.h"

namespace flyball::scaler {
namespace {

// Servers choose a part of these messages, and how many there are.
constexpr size_t kMaxMessageBytes = 500;

void Log(absl::string_view message) {
  const absl::string_view shown = message.substr(0, kMaxMessageBytes);
  spdlog::warn("gRPC: {}", std::string_view(shown.data(), shown.size()));
}

}  // namespace

absl::StatusOr<LoadedExternalModule> LoadExternalModule(absl::Span<const std::string> folders) {
  static const ModuleLibrary library = {.file = kExternalModuleFile,
                                        .symbol = kExternalModuleSymbol,
                                        .interface = FLYBALL_EXTERNAL_INTERFACE,
                                        .purpose = "external triggers need gRPC"};
  ASSIGN_OR_RETURN(const LoadedModule loaded, LoadModule(library, folders));
  return LoadedExternalModule{.path = loaded.path,
                              .module = static_cast<const ExternalModule*>(loaded.module)};
}

std::vector<std::string> ExternalModuleFolders() { return ModuleFolders(); }

absl::StatusOr<std::shared_ptr<ExternalScaler>> MakeExternalScaler(const ExternalAddress& address) {
  ASSIGN_OR_RETURN(const LoadedExternalModule loaded, LoadExternalModule(ExternalModuleFolders()));
  static absl::once_flag once;
  absl::call_once(once, loaded.module->log_to, &Log);
  return loaded.module->make(address);
}

}  // namespace flyball::scaler
