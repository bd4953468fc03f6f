#include "base/module_library.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"

namespace flyball {
namespace {

std::filesystem::path FolderOfProgram() {
  std::error_code error;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {  // there is no /proc: use the name that the program was started by
    const auto started_as = getauxval(AT_EXECFN);
    if (started_as != 0) program = reinterpret_cast<const char*>(started_as);
  }
  return program.parent_path();
}

absl::StatusOr<const void*> Load(const ModuleLibrary& library, const std::string& path) {
  // All symbols are resolved now, so that a module which lacks one is refused here with an error.
  void* opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (opened == nullptr) {
    const char* why = dlerror();
    return absl::FailedPreconditionError(absl::StrCat(
        library.purpose, ", and ", path, " can't be loaded: ", why ? why : "no reason"));
  }
  const void* module = dlsym(opened, library.symbol.c_str());
  const char* interface = module ? *static_cast<const char* const*>(module) : nullptr;
  if (interface == nullptr || interface != library.interface) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " is ", interface ? absl::StrCat("of flyball ", interface) : "no such module",
        ", this program is flyball ", library.interface,
        ": install both from one package, and restart after an upgrade"));
  }
  return module;
}

}  // namespace

absl::StatusOr<LoadedModule> LoadModule(const ModuleLibrary& library,
                                        absl::Span<const std::string> folders) {
  for (const std::string& folder : folders) {
    const std::string path = absl::StrCat(folder, "/", library.file);
    std::error_code error;
    if (!std::filesystem::exists(path, error)) continue;
    ASSIGN_OR_RETURN(const void* module, Load(library, path));
    return LoadedModule{.path = path, .module = module};
  }
  return absl::NotFoundError(absl::StrCat(library.purpose, ", which is in ", library.file,
                                          ": there is none in ", absl::StrJoin(folders, " or ")));
}

std::vector<std::string> ModuleFolders() {
  const std::filesystem::path folder = FolderOfProgram();
  return {(folder / "lib/flyball").string(),
          (folder / "../lib/flyball").lexically_normal().string()};
}

}  // namespace flyball
