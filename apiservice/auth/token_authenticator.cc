#include "apiservice/auth/token_authenticator.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <exception>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kube/objects/json_members.h"

namespace flyball::apiservice {
namespace {

using Json = nlohmann::json;
using kube::IsTrue;
using kube::MemberOf;
using kube::TextOf;
using kube::TextsOf;

constexpr size_t kMaxTokens = 8192;
constexpr size_t kMaxUserBytes = 4 << 20;
constexpr size_t kMaxTokenBytes = 16 << 10;
constexpr char kPath[] = "/apis/authentication.k8s.io/v1/tokenreviews";

std::string RandomSecret() {
  std::string secret(32, '\0');
  RAND_bytes(reinterpret_cast<unsigned char*>(secret.data()), static_cast<int>(secret.size()));
  return secret;
}

// One CSV line: fields by commas, a field in double quotes may hold commas.
std::vector<std::string> SplitCsv(absl::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back().push_back(c);
    }
  }
  for (std::string& field : fields) absl::StripAsciiWhitespace(&field);
  return fields;
}

// kUnauthenticated: not authenticated; kInvalidArgument: not a TokenReview, or one that reports an
// error.
absl::StatusOr<User> UserFromTokenReview(absl::string_view body) {
  const Json review = Json::parse(body.begin(), body.end(), nullptr, false);
  const Json& status = MemberOf(review, "status");
  if (!status.is_object()) return absl::InvalidArgumentError("the answer is not a TokenReview");
  if (const std::string error = TextOf(status, "error"); !error.empty()) {
    return absl::InvalidArgumentError(error);
  }
  const Json& who = MemberOf(status, "user");
  if (!IsTrue(status, "authenticated") || !who.is_object()) {
    return absl::UnauthenticatedError("the token is not valid");
  }
  User user;
  user.name = TextOf(who, "username");
  user.uid = TextOf(who, "uid");
  user.groups = TextsOf(who, "groups");
  if (const Json& extra = MemberOf(who, "extra"); extra.is_object()) {
    for (const auto& [key, values] : extra.items()) user.extra[key] = TextsOf(extra, key);
  }
  AddAuthenticatedGroup(&user);
  return user;
}

}  // namespace

TokenAuthenticator::TokenAuthenticator(ReviewClient* reviews, Clock* clock, absl::Duration ttl,
                                       int max_waiting)
    : reviews_(reviews),
      clock_(clock),
      ttl_(ttl),
      secret_(RandomSecret()),
      cache_(kMaxTokens, kMaxUserBytes),
      flights_(*clock, "review", max_waiting) {}

std::string TokenAuthenticator::Hash(absl::string_view token) const {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
       reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest, &length);
  return std::string(reinterpret_cast<const char*>(digest), length);
}

absl::Status TokenAuthenticator::SetStaticTokens(absl::string_view csv) {
  auto tokens = std::make_shared<StaticTokens>();
  int number = 0;
  for (const absl::string_view raw : absl::StrSplit(csv, '\n')) {
    ++number;
    const absl::string_view line = absl::StripAsciiWhitespace(raw);
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> fields = SplitCsv(line);
    if (fields.size() < 3 || fields[0].empty() || fields[1].empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": expected token,user,uid[,\"group,group\"]"));
    }
    User user;
    user.name = fields[1];
    user.uid = fields[2];
    if (fields.size() > 3) {
      for (const absl::string_view group : absl::StrSplit(fields[3], ',', absl::SkipEmpty())) {
        user.groups.emplace_back(absl::StripAsciiWhitespace(group));
      }
    }
    AddAuthenticatedGroup(&user);
    (*tokens)[Hash(fields[0])] = std::make_shared<User>(std::move(user));
  }
  static_tokens_.Set(std::move(tokens));
  return absl::OkStatus();
}

TokenAuthenticator::Result TokenAuthenticator::Review(absl::string_view token,
                                                      const std::string& hash) {
  const Json review = {{"kind", "TokenReview"},
                       {"apiVersion", "authentication.k8s.io/v1"},
                       {"spec", {{"token", std::string(token)}}}};
  const absl::StatusOr<std::string> answer =
      reviews_->Post(kPath, review.dump(-1, ' ', false, Json::error_handler_t::replace));
  if (!answer.ok()) {
    return absl::UnauthenticatedError(absl::StrCat("TokenReview: ", answer.status().message()));
  }
  absl::StatusOr<User> user = UserFromTokenReview(*answer);
  const MonotonicTime now = clock_->MonotonicNow();
  if (user.ok()) {
    const size_t bytes = Footprint(*user);
    const Result known = std::make_shared<const User>(*std::move(user));
    cache_.Put(hash, known, bytes, now, now + ttl_);
    return known;
  }
  const Result unknown = absl::UnauthenticatedError(user.status().message());
  if (absl::IsUnauthenticated(user.status())) cache_.Put(hash, unknown, 0, now, now + ttl_);
  return unknown;
}

absl::StatusOr<UserPtr> TokenAuthenticator::Authenticate(absl::string_view token, uint64_t origin) {
  if (token.size() > kMaxTokenBytes) {
    return absl::UnauthenticatedError("the token is longer than any that there are");
  }
  const std::string hash = Hash(token);
  if (const auto known = static_tokens_.Get(); known != nullptr) {
    if (const auto found = known->find(hash); found != known->end()) return found->second;
  }
  if (reviews_ == nullptr) return absl::UnauthenticatedError("the token is not known");
  if (std::optional<Result> cached = cache_.Get(hash, clock_->MonotonicNow())) {
    return *std::move(cached);
  }
  const auto ask = [&]() -> Result {
    // Other callers wait for this answer, so there has to be one even without memory or threads.
    try {
      // Another request's review may have been answered since.
      if (std::optional<Result> cached = cache_.Get(hash, clock_->MonotonicNow())) {
        return *std::move(cached);
      }
      return Review(token, hash);
    } catch (const std::exception& thrown) {
      return absl::UnauthenticatedError(absl::StrCat("TokenReview: ", thrown.what()));
    }
  };
  return flights_.Ask(hash, absl::InfiniteDuration(), ask, absl::StrCat(origin));
}

}  // namespace flyball::apiservice
