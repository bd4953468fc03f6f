// Helpers for reading objects of the API server.
//
// Pure. Templates over nlohmann's JSON, so that no header includes the library.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kube/objects/json_members.h"

namespace flyball::doctor {

// kInvalidArgument "no `what`" if the text is no JSON object.
template <typename Json>
absl::StatusOr<Json> ParseObject(absl::string_view text, absl::string_view what) {
  Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_object()) return absl::InvalidArgumentError(absl::StrCat("no ", what));
  return json;
}

// The condition of that type, of which an object has at most one; null if there is none.
template <typename Json>
const Json& ConditionOf(const Json& object, absl::string_view type) {
  static const Json& none = *new Json();
  for (const Json& condition : kube::ItemsOf(kube::MemberOf(object, "status"), "conditions")) {
    if (kube::TextOf(condition, "type") == type) return condition;
  }
  return none;
}

}  // namespace flyball::doctor
