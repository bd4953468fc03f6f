#include "scaler/triggers/parts/clients.h"

#include <openssl/sha.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/joined_key.h"
#include "base/status_macros.h"
#include "http/client/resolve.h"
#include "http/pem.h"

namespace flyball::scaler {
namespace {

// Idle connections of one client: as many as one namespace's calls to one server at once.
constexpr int kMostIdle = 8;

// A client in use is kept, so that Shutdown reaches it. A use begins under the lock, so that none
// can begin between this check and the removal.
bool InUse(const std::shared_ptr<http::HttpTransport>& client) { return client.use_count() > 1; }

size_t ShareOfBytes(size_t of_others) {
  return (TriggerClients::kMostBytes - std::min(of_others, TriggerClients::kMostBytes)) /
         TriggerClients::kPartOfOneNamespace;
}

// The digest of texts that may be long, and credentials.
std::string Digest(const std::string& text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

// Namespaces have different keys, because requests of two tenants must not follow each other on one
// connection.
std::string KeyOf(absl::string_view ns, const http::TransportOptions& options) {
  std::string key =
      JoinedKey(options.insecure_skip_verify ? "1" : "0", ns, options.url, options.ca_data,
                options.client_cert_data, options.client_key_data, options.token, options.username,
                options.password, options.server_name);
  for (const auto& [name, value] : options.headers) {
    AppendKeyPart(name, &key);
    AppendKeyPart(value, &key);
  }
  return Digest(key);
}

std::string KeyOf(absl::string_view ns, const ExternalAddress& address) {
  std::string key = JoinedKey(address.tls ? "1" : "0", address.skip_verify ? "1" : "0", ns,
                              address.address, address.ca, address.cert, address.key);
  for (const std::string& endpoint : address.endpoints) AppendKeyPart(endpoint, &key);
  return Digest(key);
}

// gRPC reads PEM by itself, in threads that all namespaces share. It gets what is not costly to
// read.
absl::Status UsePlainPem(ExternalAddress& address) {
  const auto use = [](std::string& pem, absl::string_view parameter, const auto& read) {
    if (pem.empty()) return absl::OkStatus();
    absl::StatusOr<std::string> plain = read(pem);
    if (!plain.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat("parameter ", parameter, ": the Secret's value ", plain.status().message()));
    }
    pem = *std::move(plain);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(use(address.ca, "caCert", http::PlainPemCertificates));
  RETURN_IF_ERROR(use(address.cert, "tlsClientCert", http::PlainPemCertificates));
  return use(address.key, "tlsClientKey", http::PlainPemKey);
}

}  // namespace

TriggerClients::TriggerClients(Clock& clock, TriggerClientOptions options)
    : clock_(clock),
      addresses_(std::make_shared<const http::AddressRules>(std::move(options.addresses))),
      dns_(std::move(options.dns)),
      idle_memory_(options.idle_bytes) {}

absl::StatusOr<std::shared_ptr<http::HttpTransport>> TriggerClients::Http(
    absl::string_view ns, const http::TransportOptions& options) {
  const std::string key = KeyOf(ns, options);
  const MonotonicTime now = clock_.MonotonicNow();
  {
    absl::MutexLock lock(&mutex_);
    ForgetUnused(now);
    if (const auto known = http_.find(key); known != http_.end()) {
      known->second.used = now;
      return known->second.client;
    }
  }
  http::TransportOptions own = options;
  own.leave_origin = false;
  own.addresses = addresses_;
  own.dns = dns_;
  own.max_idle_connections = kMostIdle;
  own.idle_memory = idle_memory_.Of(ns);
  ASSIGN_OR_RETURN(std::unique_ptr<http::HttpTransport> made,
                   http::MakeHttpTransport(std::move(own), clock_));
  absl::MutexLock lock(&mutex_);
  Kept& kept = http_[key];
  if (kept.client == nullptr) {  // else another thread was faster
    const size_t bytes =
        options.ca_data.size() + options.client_cert_data.size() + options.client_key_data.size();
    MakeRoom(ns, bytes);
    kept = {.client = std::move(made), .ns = std::string(ns), .used = now, .bytes = bytes};
    if (stop_.IsSet()) kept.client->Shutdown();
  }
  return kept.client;
}

absl::Status TriggerClients::Hinted(const absl::Status& status) {
  if (!absl::IsPermissionDenied(status)) return status;
  return absl::PermissionDeniedError(absl::StrCat(
      status.message(), ", which triggers may not ask (--scaler-trigger-allow-addresses)"));
}

void TriggerClients::ForgetUnused(MonotonicTime now) {
  if (now < next_look_) return;
  next_look_ = now + kUnusedFor / 4;
  std::erase_if(http_, [now](const auto& entry) {
    return !InUse(entry.second.client) && now - entry.second.used >= kUnusedFor;
  });
}

// Removes clients of the namespace until it may keep another one of so many bytes.
void TriggerClients::MakeRoom(absl::string_view ns, size_t bytes) {
  size_t of_others = 0;
  for (const auto& [key, kept] : http_) of_others += kept.ns == ns ? 0 : kept.bytes;
  const size_t share = ShareOfBytes(of_others);
  while (true) {
    size_t clients = 1, of_namespace = bytes;
    auto oldest = http_.end();
    for (auto it = http_.begin(); it != http_.end(); ++it) {
      if (it->second.ns != ns) continue;
      ++clients;
      of_namespace += it->second.bytes;
      if (InUse(it->second.client)) continue;
      if (oldest == http_.end() || it->second.used < oldest->second.used) oldest = it;
    }
    const bool fits = clients <= kMostOfOneNamespace && of_namespace <= share;
    if (fits || oldest == http_.end()) return;
    http_.erase(oldest);
  }
}

void TriggerClients::Shutdown() {
  stop_.Set();
  absl::MutexLock lock(&mutex_);
  for (const auto& [key, kept] : http_) kept.client->Shutdown();
  for (const auto& [key, scaler] : external_) {
    if (const auto used = scaler.client.lock()) used->Shutdown();
  }
}

// Sets the endpoints to the addresses of one family, since gRPC takes only one in a list: the
// family of the address that is to be tried first.
absl::Status TriggerClients::FindEndpoints(ExternalAddress& address, absl::Duration timeout) const {
  ASSIGN_OR_RETURN(
      const std::vector<http::Endpoint> found,
      http::Resolve(
          address.host, address.port, dns_,
          {.deadline = clock_.MonotonicNow() + timeout, .stop = &stop_, .clock = clock_}));
  absl::Status refused;
  std::optional<bool> v4;
  for (const http::Endpoint& endpoint : found) {
    const absl::Status allowed = addresses_->Check(endpoint.address);
    refused.Update(allowed);
    if (!allowed.ok() || v4.value_or(endpoint.address.v4) != endpoint.address.v4) continue;
    v4 = endpoint.address.v4;
    address.endpoints.push_back(endpoint.ToString());
  }
  if (address.endpoints.empty()) return Hinted(refused);
  std::sort(address.endpoints.begin(), address.endpoints.end());  // so that equal lists compare so
  if (address.endpoints.size() > kMostEndpoints) address.endpoints.resize(kMostEndpoints);
  return absl::OkStatus();
}

// Whether the namespace may have another external scaler.
absl::Status TriggerClients::CheckRoom(absl::string_view ns, const Scaler& another) const {
  size_t connections = another.connections, of_namespace = another.bytes, of_others = 0;
  for (const auto& [key, scaler] : external_) {
    connections += scaler.ns == ns ? scaler.connections : 0;
    (scaler.ns == ns ? of_namespace : of_others) += scaler.bytes;
  }
  if (connections > kMostOfOneNamespace) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "triggers of namespace ", ns, " would have ", connections,
        " connections to external scalers, one for each address and credentials, and there may be ",
        kMostOfOneNamespace));
  }
  // The share becomes smaller as others take theirs. One without certificates adds nothing.
  const bool is_first = connections == another.connections;
  if (!is_first && another.bytes > 0 && of_namespace > ShareOfBytes(of_others)) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "triggers of namespace ", ns, " would have ", of_namespace,
        " bytes of certificates and keys for external scalers, and there may be ",
        ShareOfBytes(of_others), "; of a CA file only the CA of that server is needed"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<ExternalScaler>> TriggerClients::External(absl::string_view ns,
                                                                         ExternalAddress address,
                                                                         absl::Duration timeout) {
  RETURN_IF_ERROR(FindEndpoints(address, timeout));
  RETURN_IF_ERROR(UsePlainPem(address));
  absl::MutexLock lock(&mutex_);
  std::erase_if(external_, [](const auto& entry) { return entry.second.client.expired(); });
  const std::string key = KeyOf(ns, address);
  if (const auto known = external_.find(key); known != external_.end()) {
    if (auto client = known->second.client.lock()) return client;
    external_.erase(known);
  }
  Scaler scaler{.client = {},
                .ns = std::string(ns),
                .connections = address.endpoints.size(),
                .bytes = address.ca.size() + address.cert.size() + address.key.size()};
  RETURN_IF_ERROR(CheckRoom(ns, scaler));
  // Making a scaler under the lock is fine, since it does not connect.
  ASSIGN_OR_RETURN(std::shared_ptr<ExternalScaler> made, MakeExternalScaler(address));
  scaler.client = made;
  external_[key] = std::move(scaler);
  if (stop_.IsSet()) made->Shutdown();
  return made;
}

}  // namespace flyball::scaler
