#include "scaler/stores/secrets.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "kube/objects/json_members.h"
#include "scaler/triggers/parts/secrets.h"

namespace flyball::scaler {
namespace {

constexpr size_t kMaxNamespaces = 4096;
constexpr size_t kMaxBytes = 8 << 20;

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

// As installed, Flyball may not read Secrets: says what gives it the right.
absl::Status Hinted(const absl::Status& status) {
  if (!absl::IsPermissionDenied(status)) return status;
  return absl::PermissionDeniedError(absl::StrCat(
      status.message(), "; the chart grants this with scaler.triggerSecrets=referenced"));
}

}  // namespace

SecretReader::Namespace& SecretReader::Of(absl::string_view ns, MonotonicTime now) {
  // A namespace that was not used for so long has no values and may read as often as a new one.
  const auto is_idle = [now](const Namespace& of) {
    return std::max(of.used, of.until) + kBurst * kTimeOfRead <= now;
  };
  while (namespaces_.size() > 0 &&
         (namespaces_.size() >= kMaxNamespaces || is_idle(namespaces_.oldest()))) {
    bytes_ -= namespaces_.oldest().bytes;
    namespaces_.EraseOldest();
  }
  Namespace& of = namespaces_[ns];
  of.used = now;
  return of;
}

std::optional<SecretReader::Answer> SecretReader::Begin(absl::string_view ns,
                                                        absl::string_view name, MonotonicTime now) {
  const absl::MutexLock lock(&mutex_);
  Namespace& of = Of(ns, now);
  if (std::optional<Answer> known = of.kept->Get(name, now)) return known;
  if (of.until > now) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the triggers of namespace ", ns, " have Secrets read more than ", kReadsPerSecond,
        " times a second, where ", kCountedBytes,
        " bytes of a Secret count as one more time; use fewer keys or smaller Secrets"));
  }
  of.until = std::max(of.until, now - kBurst * kTimeOfRead) + kTimeOfRead;
  return std::nullopt;
}

void SecretReader::Keep(absl::string_view ns, absl::string_view name, const Answer& answer,
                        size_t bytes, MonotonicTime now) {
  size_t kept_bytes = sizeof(answer) + answer.status().message().size();
  if (answer.ok()) kept_bytes += answer->text.size() + answer->allowed_hosts.value_or("").size();
  const absl::MutexLock lock(&mutex_);
  Namespace& of = Of(ns, now);
  of.until += kTimeOfRead * (bytes / kCountedBytes);
  of.kept->Put(name, answer, kept_bytes, now, now + (answer.ok() ? kKept : kErrorKept));
  bytes_ -= std::exchange(of.bytes, of.kept->bytes());
  bytes_ += of.bytes;
  while (bytes_ > kMaxBytes) {
    absl::string_view largest;
    size_t most = 0;
    namespaces_.ForEach([&](absl::string_view key, const Namespace& other) {
      if (other.bytes <= most) return;
      largest = key;
      most = other.bytes;
    });
    Namespace& loses = *namespaces_.Find(largest);
    loses.kept = NoAnswers();
    bytes_ -= std::exchange(loses.bytes, 0);
  }
}

absl::StatusOr<SecretValue> SecretReader::Read(absl::string_view ns,
                                               const TriggerSpec::SecretKey& key) {
  // A slash is in no name of a Secret and in no key, so this text is unambiguous.
  const std::string name = absl::StrCat(key.secret, "/", key.key);
  const MonotonicTime now = clock_.MonotonicNow();
  if (std::optional<Answer> known = Begin(ns, name, now)) return *std::move(known);
  const absl::StatusOr<std::string> text =
      client_.Get(kube::ObjectPath("", "v1", ns, "secrets", key.secret));
  Answer read = text.ok() ? ValueOf(*text, ns, key, which_) : Answer(Hinted(text.status()));
  // A server that is away for a moment may answer the next time.
  if (absl::IsUnavailable(read.status()) || absl::IsDeadlineExceeded(read.status())) return read;
  Keep(ns, name, read, text.ok() ? text->size() : 0, now);
  return read;
}

}  // namespace flyball::scaler
