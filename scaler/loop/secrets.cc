#include "scaler/loop/secrets.h"

#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace flyball::scaler {

absl::StatusOr<std::string> ReadSecret(kube::ApiClient& client, absl::string_view ns,
                                       const TriggerSpec::SecretKey& key) {
  ASSIGN_OR_RETURN(const std::string text,
                   client.Get(kube::ObjectPath("", "v1", ns, "secrets", key.secret)));
  const nlohmann::json secret = nlohmann::json::parse(text, nullptr, false);
  const auto data = secret.is_object() ? secret.find("data") : secret.end();
  const bool has_data = secret.is_object() && data != secret.end() && data->is_object();
  const auto value = has_data ? data->find(key.key) : secret.end();
  if (!has_data || value == data->end() || !value->is_string()) {
    return absl::NotFoundError(
        absl::StrCat("secret ", ns, "/", key.secret, " has no key ", key.key));
  }
  std::string out;
  if (!absl::Base64Unescape(value->get_ref<const std::string&>(), &out)) {
    return absl::InvalidArgumentError(
        absl::StrCat("key ", key.key, " of secret ", ns, "/", key.secret, " is no base64"));
  }
  return out;
}

}  // namespace flyball::scaler
