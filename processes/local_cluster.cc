#include "processes/local_cluster.h"

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kube/objects/builtin_resources.h"
#include "scaler/spec/own_spec.h"

namespace flyball::processes {

std::string StatusFileOf(const std::string& folder, const std::string& state_folder) {
  return state_folder.empty() ? absl::StrCat(folder, "/.processes.json")
                              : absl::StrCat(state_folder, "/processes.json");
}

absl::StatusOr<std::unique_ptr<LocalCluster>> LocalCluster::Make(const std::string& folder,
                                                                 Clock& clock,
                                                                 const std::string& state_folder) {
  auto cluster = absl::WrapUnique(new LocalCluster(StatusFileOf(folder, state_folder), clock));
  LocalCluster* const self = cluster.get();
  // Both kinds exist even if the folder has no object of them yet, because the scaler watches them.
  const auto add = [self](absl::string_view plural, absl::string_view kind, bool scale) {
    kube::ResourceInfo info =
        kube::ResourceNamed(scaler::kOwnGroup, scaler::kOwnVersion, plural, kind);
    info.scalable = scale;
    self->server_.AddKind(info, scale);
  };
  add(scaler::kOwnPlural, scaler::kOwnKind, /*scale=*/false);
  add(kProcessSetPlural, kProcessSetKind, /*scale=*/true);
  // Only writes of ProcessSets wake the supervisor, since it then reads all sets, and Leases and
  // statuses are written all the time.
  self->server_.OnWrite([self](absl::string_view path) {
    if (absl::StrContains(path, kProcessSetPlural)) self->supervisor_.Wake();
  });
  ASSIGN_OR_RETURN(self->objects_, FolderObjects::Make(folder, self->server_, clock,
                                                       [self] { self->supervisor_.Wake(); }));
  return cluster;
}

}  // namespace flyball::processes
