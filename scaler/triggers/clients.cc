#include "scaler/triggers/clients.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace flyball::scaler {
namespace {

// Equal for equal options only; holds credentials, so it never leaves this file.
std::string KeyOf(const kube::TransportOptions& options) {
  std::string key = options.insecure_skip_verify ? "1" : "0";
  const auto add = [&key](absl::string_view part) {
    absl::StrAppend(&key, part.size(), ":", part);
  };
  for (const std::string* part :
       {&options.url, &options.ca_data, &options.client_cert_data, &options.client_key_data,
        &options.token, &options.username, &options.password, &options.server_name}) {
    add(*part);
  }
  for (const auto& [name, value] : options.headers) {
    add(name);
    add(value);
  }
  return key;
}

}  // namespace

absl::StatusOr<std::shared_ptr<kube::HttpTransport>> TriggerClients::Http(
    const kube::TransportOptions& options) {
  const std::string key = KeyOf(options);
  {
    absl::MutexLock lock(&mutex_);
    if (const auto known = http_.find(key); known != http_.end()) {
      if (auto client = known->second.lock()) return client;
    }
  }
  ASSIGN_OR_RETURN(std::unique_ptr<kube::HttpTransport> made, kube::MakeHttpTransport(options));
  std::shared_ptr<kube::HttpTransport> client = std::move(made);
  absl::MutexLock lock(&mutex_);
  std::erase_if(http_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<kube::HttpTransport>& place = http_[key];
  if (auto other = place.lock()) return other;  // another thread was faster
  place = client;
  if (shut_) client->Shutdown();
  return client;
}

void TriggerClients::Shutdown() {
  std::vector<std::shared_ptr<kube::HttpTransport>> http;
  std::vector<std::shared_ptr<ExternalScaler>> external;
  {
    absl::MutexLock lock(&mutex_);
    shut_ = true;
    for (const auto& [key, client] : http_) {
      if (auto used = client.lock()) http.push_back(std::move(used));
    }
    for (const auto& [address, client] : external_) {
      if (auto used = client.lock()) external.push_back(std::move(used));
    }
  }
  for (const auto& client : http) client->Shutdown();
  for (const auto& client : external) client->Shutdown();
}

absl::StatusOr<std::shared_ptr<ExternalScaler>> TriggerClients::External(
    const ExternalAddress& address) {
  absl::MutexLock lock(&mutex_);
  std::erase_if(external_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<ExternalScaler>& place = external_[address];
  if (auto known = place.lock()) return known;
  // Does not connect yet.
  ASSIGN_OR_RETURN(std::shared_ptr<ExternalScaler> made, MakeExternalScaler(address));
  place = made;
  if (shut_) made->Shutdown();
  return made;
}

}  // namespace flyball::scaler
