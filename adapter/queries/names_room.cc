#include "adapter/queries/names_room.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "base/go/url.h"

namespace flyball::adapter {
namespace {

constexpr size_t kSeparator = 3;  // %7C
// A dot in a regular expression that stands in quotes, %5C%5C., and any other character.
constexpr size_t kDot = 7;
constexpr size_t kOther = 3;

}  // namespace

NamesRoom::NamesRoom(size_t max_bytes, MakeQuery make) {
  if (max_bytes == 0) return;
  const absl::StatusOr<std::string> two = make({"a", "b"});
  const absl::StatusOr<std::string> three = make({"a", "b", "c"});
  if (!two.ok() || !three.ok()) return;
  const size_t small = go::QueryEscape(*two).size();
  const size_t larger = go::QueryEscape(*three).size();
  times_ = larger > small ? (larger - small) / (kSeparator + 1) : 0;
  const size_t rest = small - std::min(small, times_ * 2 * (kSeparator + 1));
  bytes_ = max_bytes - std::min(max_bytes, rest);
}

size_t NamesRoom::Of(absl::string_view name) const {
  if (times_ == 0) return 0;
  size_t bytes = kSeparator;
  for (const char c : name) {
    const bool plain = absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
    bytes += plain ? 1 : c == '.' ? kDot : kOther;
  }
  return times_ * bytes;
}

}  // namespace flyball::adapter
