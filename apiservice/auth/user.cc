#include "apiservice/auth/user.h"

#include <algorithm>

namespace flyball::apiservice {

bool User::InGroup(absl::string_view group) const {
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

const UserPtr& AnonymousUser() {
  static const auto* const kUser = new UserPtr(std::make_shared<User>(
      User{std::string(kAnonymousName), "", {std::string(kUnauthenticatedGroup)}, {}}));
  return *kUser;
}

size_t Footprint(const User& user) {
  size_t bytes = sizeof(User) + user.name.size() + user.uid.size();
  const auto add = [&bytes](const std::vector<std::string>& values) {
    for (const std::string& value : values) bytes += sizeof(value) + value.size();
  };
  add(user.groups);
  for (const auto& [key, values] : user.extra) {
    constexpr size_t kNodeBytes = 128;
    bytes += kNodeBytes + key.size();
    add(values);
  }
  return bytes;
}

void AddAuthenticatedGroup(User* user) {
  if (user->name == kAnonymousName) return;
  if (!user->InGroup(kAuthenticatedGroup) && !user->InGroup(kUnauthenticatedGroup)) {
    user->groups.emplace_back(kAuthenticatedGroup);
  }
}

}  // namespace flyball::apiservice
