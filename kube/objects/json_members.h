// Members of nlohmann's JSON objects by name and type, for documents whose shape is not trusted:
// what is missing, null or of another type is empty. Also the text of a time.
//
// Pure. Templates, so that no header includes the library: nlohmann::json and ordered_json alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace flyball::kube {

// A time as the API writes it (metav1.Time): in UTC, of whole seconds.
inline std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

// The member of that name; null if it is absent or `object` is no object.
template <typename Json>
const Json& MemberOf(const Json& object, const std::string& name) {
  static const Json& none = *new Json();
  const auto found = object.find(name);
  return found == object.end() ? none : *found;
}

// "" unless it is a string.
template <typename Json>
std::string TextOf(const Json& object, const std::string& name) {
  const Json& value = MemberOf(object, name);
  return value.is_string() ? value.template get<std::string>() : std::string();
}

// `otherwise` unless it is an RFC 3339 time.
template <typename Json>
absl::Time TimeOf(const Json& object, const std::string& name, absl::Time otherwise) {
  absl::Time time;
  return absl::ParseTime(absl::RFC3339_full, TextOf(object, name), &time, nullptr) ? time
                                                                                   : otherwise;
}

// 0 unless it is a whole number.
template <typename Json>
int64_t NumberOf(const Json& object, const std::string& name) {
  const Json& value = MemberOf(object, name);
  return value.is_number_integer() ? value.template get<int64_t>() : 0;
}

template <typename Json>
bool IsTrue(const Json& object, const std::string& name) {
  return MemberOf(object, name) == true;
}

// An empty array unless it is an array.
template <typename Json>
const Json& ItemsOf(const Json& object, const std::string& name) {
  static const Json& none = *new Json(Json::array());
  const Json& value = MemberOf(object, name);
  return value.is_array() ? value : none;
}

// The strings of an array.
template <typename Json>
std::vector<std::string> TextsOf(const Json& object, const std::string& name) {
  std::vector<std::string> texts;
  for (const Json& item : ItemsOf(object, name)) {
    if (item.is_string()) texts.push_back(item.template get<std::string>());
  }
  return texts;
}

}  // namespace flyball::kube
