#include "scaler/stores/secrets.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kube/objects/json_members.h"
#include "scaler/triggers/parts/secrets.h"

namespace flyball::scaler {

absl::StatusOr<SecretValue> ReadSecret(kube::ApiClient& client, absl::string_view ns,
                                       const TriggerSpec::SecretKey& key, TriggerSecrets which) {
  ASSIGN_OR_RETURN(const std::string text,
                   client.Get(kube::ObjectPath("", "v1", ns, "secrets", key.secret)));
  const nlohmann::json secret = nlohmann::json::parse(text, nullptr, false);
  const nlohmann::json& metadata = kube::MemberOf(secret, "metadata");
  if (which == TriggerSecrets::kReferenced &&
      kube::TextOf(kube::MemberOf(metadata, "labels"), kTriggerSecretLabel) != "true") {
    return absl::PermissionDeniedError(absl::StrCat("secret ", ns, "/", key.secret,
                                                    " has no label ", kTriggerSecretLabel,
                                                    "=true, so triggers may not use it"));
  }
  const nlohmann::json& value = kube::MemberOf(kube::MemberOf(secret, "data"), key.key);
  if (!value.is_string()) {
    return absl::NotFoundError(
        absl::StrCat("secret ", ns, "/", key.secret, " has no key ", key.key));
  }
  SecretValue out;
  const nlohmann::json& hosts =
      kube::MemberOf(kube::MemberOf(metadata, "annotations"), kAllowedHosts);
  if (hosts.is_string()) out.allowed_hosts = hosts.get<std::string>();
  if (!absl::Base64Unescape(value.get_ref<const std::string&>(), &out.text)) {
    return absl::InvalidArgumentError(
        absl::StrCat("key ", key.key, " of secret ", ns, "/", key.secret, " is no base64"));
  }
  if (out.text.size() > kMaxSecretBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("key ", key.key, " of secret ", ns, "/", key.secret, " has ", out.text.size(),
                     " bytes, expected at most ", kMaxSecretBytes,
                     "; of a CA file only the CA of that server is needed"));
  }
  return out;
}

absl::StatusOr<SecretValue> SecretReader::Read(absl::string_view ns,
                                               const TriggerSpec::SecretKey& key) {
  // A slash is in no name of a namespace or Secret and in no key, so this text is unambiguous.
  const std::string name = absl::StrCat(ns, "/", key.secret, "/", key.key);
  const MonotonicTime now = clock_.MonotonicNow();
  auto& kept = parts_[absl::HashOf(ns) % parts_.size()].kept;
  if (auto known = kept.Get(name, now)) return *std::move(known);
  absl::StatusOr<SecretValue> read = ReadSecret(client_, ns, key, which_);
  // A server that is away for a moment may answer the next time.
  if (absl::IsUnavailable(read.status()) || absl::IsDeadlineExceeded(read.status())) return read;
  size_t bytes = sizeof(read) + read.status().message().size();
  if (read.ok()) bytes += read->text.size() + read->allowed_hosts.value_or("").size();
  kept.Put(name, read, bytes, now, now + (read.ok() ? kKept : kErrorKept));
  return read;
}

}  // namespace flyball::scaler
