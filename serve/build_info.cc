#include "serve/build_info.h"

#include "absl/strings/str_cat.h"
#include "flyball_commit.h"

namespace flyball::serve {

const BuildInfo& ThisBuild() {
  static const auto& info = *new BuildInfo{
      .version = FLYBALL_VERSION, .commit = FLYBALL_COMMIT, .date = FLYBALL_COMMIT_DATE};
  return info;
}

std::string ShownBuild() {
  const BuildInfo& build = ThisBuild();
  return absl::StrCat(build.version, build.commit.empty() ? "" : " (commit ", build.commit,
                      build.commit.empty() ? "" : ")");
}

}  // namespace flyball::serve
