#include "adapter/object_candidates.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace flyball::adapter {
namespace {

// Of a list with the metrics of these objects, each pod with one or two containers.
ListSize SizeOf(const std::vector<kube::ObjectPtr>& objects) {
  constexpr size_t kContainersBytes = 160;
  ListSize size = ListSize::Of(objects);
  size.text_bytes += objects.size() * kContainersBytes;
  for (const kube::ObjectPtr& object : objects) size.AddLabels(object->labels);
  return size;
}

}  // namespace

absl::StatusOr<std::vector<kube::ObjectPtr>> ObjectCandidates(kube::ObjectDirectory& directory,
                                                              kube::ObjectQuery query,
                                                              absl::string_view name,
                                                              const ObjectFilter& filter) {
  if (name.empty()) {
    query.selector = filter.labels;
    ASSIGN_OR_RETURN(std::vector<kube::ObjectPtr> objects, directory.List(query));
    if (filter.others != nullptr) {
      std::erase_if(objects, [&](const kube::ObjectPtr& one) { return !filter.others(*one); });
    }
    if (filter.admit != nullptr) RETURN_IF_ERROR(filter.admit(SizeOf(objects)));
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
