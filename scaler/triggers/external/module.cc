#include "scaler/triggers/external/module.h"

#include "base/module_library.h"
#include "base/status_macros.h"

namespace flyball::scaler {

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
  return loaded.module->make(address);
}

}  // namespace flyball::scaler
