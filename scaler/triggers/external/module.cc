#include "scaler/triggers/external/module.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"

namespace flyball::scaler {
namespace {

std::filesystem::path FolderOfProgram() {
  std::error_code error;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {  // no /proc: what it was started as
    const auto started_as = getauxval(AT_EXECFN);
    if (started_as != 0) program = reinterpret_cast<const char*>(started_as);
  }
  return program.parent_path();
}

absl::StatusOr<const ExternalModule*> Load(const std::string& path) {
  // All symbols now: a module that misses one is refused here, where it can be said.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* why = dlerror();
    return absl::FailedPreconditionError(absl::StrCat(
        "external triggers need gRPC, and ", path, " can't be loaded: ", why ? why : "no reason"));
  }
  const auto* module = static_cast<const ExternalModule*>(dlsym(library, kExternalModuleSymbol));
  if (module == nullptr || std::strcmp(module->interface, FLYBALL_EXTERNAL_INTERFACE) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " is ", module ? absl::StrCat("of flyball ", module->interface) : "no such module",
        ", this program is flyball ", FLYBALL_EXTERNAL_INTERFACE,
        ": install both from one package, and restart after an upgrade"));
  }
  return module;
}

}  // namespace

absl::StatusOr<LoadedExternalModule> LoadExternalModule(absl::Span<const std::string> folders) {
  for (const std::string& folder : folders) {
    const std::string path = absl::StrCat(folder, "/", kExternalModuleFile);
    std::error_code error;
    if (!std::filesystem::exists(path, error)) continue;
    ASSIGN_OR_RETURN(const ExternalModule* module, Load(path));
    return LoadedExternalModule{.path = path, .module = module};
  }
  return absl::NotFoundError(absl::StrCat("external triggers need gRPC, which is in ",
                                          kExternalModuleFile, ": there is none in ",
                                          absl::StrJoin(folders, " or ")));
}

std::vector<std::string> ExternalModuleFolders() {
  const std::filesystem::path folder = FolderOfProgram();
  return {(folder / "lib/flyball").string(),
          (folder / "../lib/flyball").lexically_normal().string()};
}

absl::StatusOr<std::shared_ptr<ExternalScaler>> MakeExternalScaler(const ExternalAddress& address) {
  // Costs microseconds where it is loaded already.
  ASSIGN_OR_RETURN(const LoadedExternalModule loaded, LoadExternalModule(ExternalModuleFolders()));
  return loaded.module->make(address);
}

}  // namespace flyball::scaler
