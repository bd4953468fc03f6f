#include "apiservice/auth/user.h"

#include <algorithm>

namespace flyball::apiservice {

bool User::InGroup(absl::string_view group) const {
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

const UserPtr& AnonymousUser() {
  static const auto* const kUser = new UserPtr(std::make_shared<User>(
      User{"system:anonymous", "", {std::string(kUnauthenticatedGroup)}, {}}));
  return *kUser;
}

void AddAuthenticatedGroup(User* user) {
  if (!user->InGroup(kAuthenticatedGroup) && !user->InGroup(kUnauthenticatedGroup)) {
    user->groups.emplace_back(kAuthenticatedGroup);
  }
}

}  // namespace flyball::apiservice
