// The user that a request comes from.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace flyball::apiservice {

inline constexpr absl::string_view kAnonymousName = "system:anonymous";
inline constexpr absl::string_view kAuthenticatedGroup = "system:authenticated";
inline constexpr absl::string_view kUnauthenticatedGroup = "system:unauthenticated";
inline constexpr absl::string_view kMastersGroup = "system:masters";

struct User {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;

  bool InGroup(absl::string_view group) const;
  friend bool operator==(const User&, const User&) = default;
};

using UserPtr = std::shared_ptr<const User>;

// system:anonymous in system:unauthenticated.
const UserPtr& AnonymousUser();

// Its approximate memory.
size_t Footprint(const User& user);

// Adds system:authenticated unless the user has that or system:unauthenticated, or is
// system:anonymous, as whom a front proxy may pass on somebody whom it does not know.
void AddAuthenticatedGroup(User* user);

}  // namespace flyball::apiservice
