#include "adapter/object_candidates.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace flyball::adapter {

absl::StatusOr<std::vector<kube::ObjectPtr>> ObjectCandidates(
    kube::ObjectDirectory& directory, const kube::ObjectQuery& query, absl::string_view name,
    const std::function<bool(const kube::ObjectMeta&)>& wanted) {
  if (name.empty()) {
    ASSIGN_OR_RETURN(std::vector<kube::ObjectPtr> objects, directory.List(query));
    if (wanted != nullptr) {
      std::erase_if(objects, [&](const kube::ObjectPtr& one) { return !wanted(*one); });
    }
    return objects;
  }
  ASSIGN_OR_RETURN(kube::ObjectPtr object,
                   directory.Get(query.resource, query.ns, name, query.running_only));
  if (object == nullptr) {
    return absl::NotFoundError(absl::StrCat(query.resource.resource == "pods" ? "pods" : "node",
                                            " \"", name, "\" not found"));
  }
  return std::vector<kube::ObjectPtr>{std::move(object)};
}

}  // namespace flyball::adapter
