#include "scaler/math/requests/subset.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "base/stable_hash.h"

namespace flyball::scaler {
namespace {

using Places = std::map<uint64_t, std::string>;  // by angle; a member leaves when it is chosen

uint64_t Angle(absl::string_view text) { return StableHash(text) % kSubsetUniverse; }

// Places each member at the hash of its name and the target. If that place is taken, the full hash
// is appended and hashed again.
Places PlaceMembers(const std::vector<std::string>& members, absl::string_view target) {
  Places places;
  for (const std::string& member : members) {
    std::string text = absl::StrCat(member, target);
    uint64_t hash = StableHash(text);
    while (!places.try_emplace(hash % kSubsetUniverse, member).second) {
      absl::StrAppend(&text, absl::Hex(hash));
      hash = StableHash(text);
    }
  }
  return places;
}

}  // namespace

std::vector<std::string> ChooseSubset(std::vector<std::string> members, size_t count,
                                      absl::string_view target) {
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  if (members.size() > kSubsetUniverse) members.resize(kSubsetUniverse);
  if (count >= members.size()) return members;

  Places places = PlaceMembers(members, target);
  uint64_t angle = Angle(absl::StrCat(target, "start-angle-salt"));
  const uint64_t step = Angle(absl::StrCat(target, "step-angle-salt"));
  std::vector<std::string> chosen;
  while (chosen.size() < count) {
    auto next = places.lower_bound(angle);
    if (next == places.end()) next = places.begin();
    chosen.push_back(std::move(next->second));
    places.erase(next);
    angle = (angle + step) % kSubsetUniverse;
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace flyball::scaler
