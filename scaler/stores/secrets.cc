#include "scaler/stores/secrets.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "kube/objects/json_members.h"
#include "scaler/triggers/parts/secrets.h"

namespace flyball::scaler {
namespace {

constexpr absl::Duration kTimeOfRead = absl::Milliseconds(1000 / SecretReader::kReadsPerSecond);

// `text`: the Secret.
absl::StatusOr<SecretValue> ValueOf(const std::string& text, absl::string_view ns,
                                    const TriggerSpec::SecretKey& key, TriggerSecrets which) {
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

}  // namespace

bool SecretReader::Part::Begin(absl::string_view ns, MonotonicTime now) {
  const absl::MutexLock lock(&mutex);
  MonotonicTime& until = spent[ns].until;
  if (spent.size() > 512) spent.EraseOldest();
  if (until > now) return false;
  until = std::max(until, now - kBurst * kTimeOfRead) + kTimeOfRead;
  return true;
}

void SecretReader::Part::Count(absl::string_view ns, size_t bytes) {
  const absl::MutexLock lock(&mutex);
  if (Spent* of = spent.Find(ns)) of->until += kTimeOfRead * (bytes / kCountedBytes);
}

absl::StatusOr<SecretValue> SecretReader::Read(absl::string_view ns,
                                               const TriggerSpec::SecretKey& key) {
  // A slash is in no name of a namespace or Secret and in no key, so this text is unambiguous.
  const std::string name = absl::StrCat(ns, "/", key.secret, "/", key.key);
  const MonotonicTime now = clock_.MonotonicNow();
  Part& part = parts_[absl::HashOf(ns) % parts_.size()];
  if (auto known = part.kept.Get(name, now)) return *std::move(known);
  if (!part.Begin(ns, now)) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the triggers of namespace ", ns, " have Secrets read more than ", kReadsPerSecond,
        " times a second, where ", kCountedBytes,
        " bytes of a Secret count as one more time; use fewer keys or smaller Secrets"));
  }
  const absl::StatusOr<std::string> text =
      client_.Get(kube::ObjectPath("", "v1", ns, "secrets", key.secret));
  if (text.ok()) part.Count(ns, text->size());
  absl::StatusOr<SecretValue> read =
      text.ok() ? ValueOf(*text, ns, key, which_) : absl::StatusOr<SecretValue>(text.status());
  // A server that is away for a moment may answer the next time.
  if (absl::IsUnavailable(read.status()) || absl::IsDeadlineExceeded(read.status())) return read;
  size_t bytes = sizeof(read) + read.status().message().size();
  if (read.ok()) bytes += read->text.size() + read->allowed_hosts.value_or("").size();
  part.kept.Put(name, read, bytes, now, now + (read.ok() ? kKept : kErrorKept));
  return read;
}

}  // namespace flyball::scaler
