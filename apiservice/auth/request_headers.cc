#include "apiservice/auth/request_headers.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "base/go/url.h"

namespace flyball::apiservice {
namespace {

std::string FirstNonEmpty(const http::Headers& headers, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (const absl::string_view value = http::FindHeader(headers, name); !value.empty()) {
      return std::string(value);
    }
  }
  return "";
}

}  // namespace

std::optional<User> UserFromHeaders(const http::Headers& headers, const RequestHeaderNames& names) {
  User user;
  user.name = FirstNonEmpty(headers, names.username_headers);
  if (user.name.empty()) return std::nullopt;
  user.uid = FirstNonEmpty(headers, names.uid_headers);
  for (const std::string& name : names.group_headers) {
    for (const auto& [key, value] : headers) {
      if (!value.empty() && absl::EqualsIgnoreCase(key, name)) user.groups.push_back(value);
    }
  }
  for (const std::string& prefix : names.extra_prefixes) {
    for (const auto& [key, value] : headers) {
      if (!absl::StartsWithIgnoreCase(key, prefix)) continue;
      const std::string lower = absl::AsciiStrToLower(absl::string_view(key).substr(prefix.size()));
      const bool escaped = go::IsWellEscaped(lower);
      user.extra[escaped ? go::Unescape(lower, false) : lower].push_back(value);
    }
  }
  return user;
}

}  // namespace flyball::apiservice
