#include "scaler/stores/secrets.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "scaler/triggers/parts/secrets.h"

namespace flyball::scaler {
namespace {

// The text at secret[outer][inner].
std::optional<std::string> TextAt(const nlohmann::json& secret, const std::string& inner,
                                  std::initializer_list<const char*> outer) {
  const nlohmann::json* at = &secret;
  for (const char* name : outer) {
    if (!at->is_object() || !at->contains(name)) return std::nullopt;
    at = &at->at(name);
  }
  if (!at->is_object() || !at->contains(inner) || !at->at(inner).is_string()) return std::nullopt;
  return at->at(inner).get<std::string>();
}

}  // namespace

absl::StatusOr<SecretValue> ReadSecret(kube::ApiClient& client, absl::string_view ns,
                                       const TriggerSpec::SecretKey& key, TriggerSecrets which) {
  ASSIGN_OR_RETURN(const std::string text,
                   client.Get(kube::ObjectPath("", "v1", ns, "secrets", key.secret)));
  const nlohmann::json secret = nlohmann::json::parse(text, nullptr, false);
  if (which == TriggerSecrets::kReferenced &&
      TextAt(secret, kTriggerSecretLabel, {"metadata", "labels"}) != "true") {
    return absl::PermissionDeniedError(absl::StrCat("secret ", ns, "/", key.secret,
                                                    " has no label ", kTriggerSecretLabel,
                                                    "=true, so triggers may not use it"));
  }
  const std::optional<std::string> value = TextAt(secret, key.key, {"data"});
  if (!value.has_value()) {
    return absl::NotFoundError(
        absl::StrCat("secret ", ns, "/", key.secret, " has no key ", key.key));
  }
  SecretValue out{.text = "",
                  .allowed_hosts = TextAt(secret, kAllowedHosts, {"metadata", "annotations"})};
  if (!absl::Base64Unescape(*value, &out.text)) {
    return absl::InvalidArgumentError(
        absl::StrCat("key ", key.key, " of secret ", ns, "/", key.secret, " is no base64"));
  }
  return out;
}

}  // namespace flyball::scaler
