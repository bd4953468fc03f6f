#include "scaler/triggers/external/module.h"

#include <string_view>

#include "absl/base/call_once.h"
#include "base/status_macros.h"
#include "http/peer_keys.h"
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

absl::StatusOr<LoadedModule> LoadExternalModule(absl::Span<const std::string> folders) {
  static const ModuleLibrary library = {.file = kExternalModuleFile,
                                        .symbol = kExternalModuleSymbol,
                                        .interface = FLYBALL_EXTERNAL_INTERFACE,
                                        .purpose = "external triggers need gRPC"};
  return LoadModule(library, folders);
}

absl::StatusOr<std::shared_ptr<ExternalScaler>> MakeExternalScaler(const ExternalAddress& address) {
  ASSIGN_OR_RETURN(const LoadedModule loaded, LoadExternalModule(ModuleFolders()));
  const auto* const module = static_cast<const ExternalModule*>(loaded.module);
  static absl::once_flag once;
  absl::call_once(once, module->log_to, &Log);
  http::CheckPeerKeysOfLaterContexts();
  return module->make(address);
}

}  // namespace flyball::scaler
