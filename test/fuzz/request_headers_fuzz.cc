// links: apiservice
// Any header lines of a front proxy: only what the configured names carry reaches the user, and
// nothing in a value is decoded into another group or name.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/str_split.h"
#include "apiservice/auth/authenticator.h"

namespace {

using flyball::http::Headers;

void Require(bool condition) {
  if (!condition) std::abort();
}

bool HasValue(const Headers& headers, const std::string& value) {
  return std::any_of(headers.begin(), headers.end(),
                     [&](const auto& header) { return header.second == value; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  Headers headers;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == absl::string_view::npos) continue;
    headers.emplace_back(std::string(line.substr(0, colon)), std::string(line.substr(colon + 1)));
  }
  const auto user = flyball::apiservice::UserFromHeaders(
      headers, {{"X-Remote-User"}, {"X-Remote-Group"}, {}, {"X-Remote-Extra-"}});
  if (!user.has_value()) return 0;
  Require(!user->name.empty() && HasValue(headers, user->name));
  Require(user->uid.empty());
  for (const std::string& group : user->groups) {
    Require(!group.empty() && HasValue(headers, group));
  }
  for (const auto& [key, values] : user->extra) {
    for (const std::string& value : values) Require(HasValue(headers, value));
  }
  return 0;
}
