#include "apiservice/auth/authenticator.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/go/url.h"
#include "base/status_macros.h"

namespace flyball::apiservice {
namespace {

// The second word of `Bearer TOKEN`, scheme in any case; "" for anything else.
absl::string_view BearerToken(absl::string_view authorization) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(absl::StripAsciiWhitespace(authorization), absl::MaxSplits(' ', 2));
  if (words.size() < 2 || !absl::EqualsIgnoreCase(words[0], "bearer")) return "";
  return words[1];
}

// The index of a name in kCountedUsers: a label must not have as many values as there are users.
size_t CountedAs(absl::string_view name) {
  constexpr size_t kOther = kCountedUsers.size() - 1;
  constexpr size_t kEmail = kOther - 1;
  for (size_t i = 0; i < kEmail; ++i) {
    if (name == kCountedUsers[i]) return i;
  }
  return absl::StrContains(name, '@') ? kEmail : kOther;
}

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

Authenticator::Authenticator(TokenAuthenticator* tokens, Clock* clock)
    : tokens_(tokens), clock_(clock), trust_(std::make_shared<Trust>()) {}

void Authenticator::SetTrust(Trust trust) { trust_.Set(std::make_shared<Trust>(std::move(trust))); }

// Each of these three answers nullptr to a request without a credential of its kind.

absl::StatusOr<UserPtr> Authenticator::FromFrontProxy(const http::HttpRequest& request,
                                                      const Trust& trust) {
  if (request.peer == nullptr || trust.front_proxy_ca == nullptr) return nullptr;
  const absl::Time now = clock_->WallNow();
  RETURN_IF_ERROR(trust.front_proxy_ca->Verify(*request.peer, now));
  counters_.certificates.Observe(absl::ToDoubleSeconds(request.peer->not_after - now));
  const std::string& name = request.peer->common_name;
  if (!trust.allowed_names.empty() &&
      std::find(trust.allowed_names.begin(), trust.allowed_names.end(), name) ==
          trust.allowed_names.end()) {
    return absl::UnauthenticatedError(
        absl::StrCat("front proxy certificate with CN \"", name, "\" is not in the allowed list"));
  }
  std::optional<User> user = UserFromHeaders(request.headers, trust.headers);
  if (!user.has_value()) return nullptr;
  AddAuthenticatedGroup(&*user);
  return std::make_shared<const User>(*std::move(user));
}

absl::StatusOr<UserPtr> Authenticator::FromClientCertificate(const http::HttpRequest& request,
                                                             const Trust& trust) {
  if (request.peer == nullptr || trust.client_ca == nullptr) return nullptr;
  const absl::Time now = clock_->WallNow();
  RETURN_IF_ERROR(trust.client_ca->Verify(*request.peer, now));
  counters_.certificates.Observe(absl::ToDoubleSeconds(request.peer->not_after - now));
  if (request.peer->common_name.empty()) return nullptr;
  User user;
  user.name = request.peer->common_name;
  user.groups = request.peer->organizations;
  user.extra["authentication.kubernetes.io/credential-id"] = {
      absl::StrCat("X509SHA256=", request.peer->sha256_hex)};
  AddAuthenticatedGroup(&user);
  return std::make_shared<const User>(std::move(user));
}

absl::StatusOr<UserPtr> Authenticator::FromToken(const http::HttpRequest& request) const {
  if (tokens_ == nullptr || !tokens_->enabled()) return nullptr;
  const absl::string_view authorization = request.Header("Authorization");
  const absl::string_view token =
      authorization.empty() ? request.Header(kTokenHeader) : BearerToken(authorization);
  if (token.empty()) return nullptr;
  return tokens_->Authenticate(token, request.origin);
}

UserPtr Authenticator::CountSuccess(UserPtr user) {
  ++counters_.success;
  ++counters_.users[CountedAs(user->name)];
  return user;
}

absl::StatusOr<UserPtr> Authenticator::Authenticate(const http::HttpRequest& request) {
  const std::shared_ptr<const Trust> trust = trust_.Get();
  std::vector<std::string> errors;
  for (int step = 0; step < 3; ++step) {
    absl::StatusOr<UserPtr> user = step == 0   ? FromFrontProxy(request, *trust)
                                   : step == 1 ? FromClientCertificate(request, *trust)
                                               : FromToken(request);
    // Too many requests wait for a review, so it is not known whether the token is valid.
    if (absl::IsResourceExhausted(user.status())) return user;
    if (!user.ok()) {
      errors.emplace_back(user.status().message());
    } else if (*user != nullptr) {
      return CountSuccess(*std::move(user));
    }
  }
  if (errors.empty()) return CountSuccess(AnonymousUser());
  ++counters_.error;
  return absl::UnauthenticatedError(absl::StrJoin(errors, "; "));
}

}  // namespace flyball::apiservice
