// Makes one key of several texts.
//
// Pure. Two different lists of texts never make the same key, whatever bytes they hold: there is no
// byte that no name contains, since the path of a request may name anything.
#pragma once

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace flyball {

inline void AppendKeyPart(absl::string_view part, std::string* key) {
  absl::StrAppend(key, part.size(), ":", part);
}

template <typename... Parts>
std::string JoinedKey(const Parts&... parts) {
  std::string key;
  (AppendKeyPart(parts, &key), ...);
  return key;
}

}  // namespace flyball
