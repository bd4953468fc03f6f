#include "scaler/front/module/data_path_server.h"

#include "base/module_library.h"
#include "base/status_macros.h"
#include "http/peer_keys.h"

namespace flyball::front {
namespace {

absl::StatusOr<LoadedModule> Load(absl::Span<const std::string> folders) {
  static const ModuleLibrary library = {.file = kFrontModuleFile,
                                        .symbol = kFrontModuleSymbol,
                                        .interface = FLYBALL_FRONT_INTERFACE,
                                        .purpose = "http triggers need gRPC"};
  return LoadModule(library, folders);
}

}  // namespace

absl::StatusOr<std::unique_ptr<DataPathServer>> MakeDataPathServer(
    const DataPathServerOptions& options, const Clock& clock, DataPathEvents& events) {
  ASSIGN_OR_RETURN(const LoadedModule loaded, Load(ModuleFolders()));
  http::CheckPeerKeysOfLaterContexts();
  return static_cast<const FrontModule*>(loaded.module)->make(options, clock, events);
}

absl::StatusOr<std::string> FrontModulePath(absl::Span<const std::string> folders) {
  ASSIGN_OR_RETURN(const LoadedModule loaded, Load(folders));
  return loaded.path;
}

}  // namespace flyball::front
