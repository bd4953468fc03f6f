#include "scaler/inputs/resource_list.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace flyball::scaler {

absl::StatusOr<ResourceList> ReadResources(const std::optional<Node>& map, absl::string_view path) {
  ResourceList out;
  if (!map.has_value()) return out;
  if (!map->is_map()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": expected an object, got ", KindName(map->kind)));
  }
  for (const auto& [name, value] : map->members) {
    if (value.is_null()) continue;
    const bool written = value.kind == Node::Kind::kString || value.kind == Node::Kind::kNumber;
    const auto quantity = written ? kube::Quantity::Parse(value.text)
                                  : absl::InvalidArgumentError("expected a quantity like 500m");
    if (!quantity.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, "[", name, "]: ", quantity.status().message()));
    }
    out.emplace_back(name, *quantity);
  }
  return out;
}

}  // namespace flyball::scaler
