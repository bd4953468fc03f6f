#include "apiservice/auth/trust.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/read_file.h"
#include "base/status_macros.h"

namespace flyball::apiservice {
namespace {

absl::StatusOr<std::shared_ptr<const CaBundle>> BundleFromFile(const std::string& path,
                                                               absl::string_view flag) {
  const absl::StatusOr<std::string> pem = ReadFile(path);
  if (!pem.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(flag, " ", pem.status().message()));
  }
  absl::StatusOr<std::shared_ptr<const CaBundle>> bundle = CaBundle::FromPem(*pem);
  if (!bundle.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, " ", path, ": ", bundle.status().message()));
  }
  return bundle;
}

// A JSON array of strings in a string; nullopt if it is not that.
std::optional<std::vector<std::string>> ParseList(const std::string& text) {
  const auto list = nlohmann::json::parse(text, nullptr, false);
  if (!list.is_array()) return std::nullopt;
  std::vector<std::string> values;
  for (const auto& item : list) {
    if (!item.is_string()) return std::nullopt;
    values.push_back(item.get<std::string>());
  }
  return values;
}

class ConfigMapReader {
 public:
  ConfigMapReader(const std::map<std::string, std::string>& data,
                  std::vector<std::string>* problems)
      : data_(data), problems_(problems) {}

  void Bundle(const char* key, std::shared_ptr<const CaBundle>* out) {
    const auto found = data_.find(key);
    if (found == data_.end() || found->second.empty()) return;
    absl::StatusOr<std::shared_ptr<const CaBundle>> bundle = CaBundle::FromPem(found->second);
    if (bundle.ok()) {
      *out = *std::move(bundle);
    } else {
      Report(key, bundle.status().message());
    }
  }

  // False: it is broken.
  bool List(const char* key, std::vector<std::string>* out) {
    const auto found = data_.find(key);
    if (found == data_.end() || found->second.empty()) return true;
    std::optional<std::vector<std::string>> list = ParseList(found->second);
    if (list.has_value()) {
      *out = *std::move(list);
    } else {
      Report(key, "expected a JSON array of strings");
    }
    return list.has_value();
  }

 private:
  void Report(const char* key, absl::string_view what) {
    if (problems_ != nullptr) problems_->push_back(absl::StrCat(key, ": ", what));
  }

  const std::map<std::string, std::string>& data_;
  std::vector<std::string>* const problems_;
};

}  // namespace

absl::StatusOr<Trust> TrustFromFiles(const AuthenticationOptions& options) {
  Trust trust;
  const RequestHeaderOptions& proxy = options.request_header;
  if (!proxy.client_ca_file.empty()) {
    ASSIGN_OR_RETURN(trust.front_proxy_ca,
                     BundleFromFile(proxy.client_ca_file, "--requestheader-client-ca-file"));
  }
  if (!options.client_ca_file.empty()) {
    ASSIGN_OR_RETURN(trust.client_ca, BundleFromFile(options.client_ca_file, "--client-ca-file"));
  }
  trust.allowed_names = proxy.allowed_names;
  trust.headers = {proxy.username_headers, proxy.group_headers, proxy.uid_headers,
                   proxy.extra_prefixes};
  return trust;
}

std::vector<std::string> TrustFiles(const AuthenticationOptions& options) {
  std::vector<std::string> files;
  if (!options.request_header.client_ca_file.empty()) {
    files.push_back(options.request_header.client_ca_file);
  }
  if (!options.client_ca_file.empty()) files.push_back(options.client_ca_file);
  return files;
}

Trust TrustFromConfigMap(const std::map<std::string, std::string>& data, const Trust& last,
                         std::vector<std::string>* problems) {
  Trust trust = last;
  ConfigMapReader reader(data, problems);
  reader.Bundle("client-ca-file", &trust.client_ca);
  reader.Bundle("requestheader-client-ca-file", &trust.front_proxy_ca);
  // No names are every name, so a broken list must not be the first: there is no front proxy then.
  if (!reader.List("requestheader-allowed-names", &trust.allowed_names) &&
      last.front_proxy_ca == nullptr) {
    trust.front_proxy_ca = nullptr;
  }
  reader.List("requestheader-username-headers", &trust.headers.username_headers);
  reader.List("requestheader-group-headers", &trust.headers.group_headers);
  reader.List("requestheader-uid-headers", &trust.headers.uid_headers);
  reader.List("requestheader-extra-headers-prefix", &trust.headers.extra_prefixes);
  return trust;
}

Trust Combine(const AuthenticationOptions& options, const Trust& files, const Trust& config_map) {
  Trust trust = config_map;
  if (!options.request_header.client_ca_file.empty() || !options.lookup) {
    trust.front_proxy_ca = files.front_proxy_ca;
    trust.allowed_names = files.allowed_names;
    trust.headers = files.headers;
  }
  if (!options.client_ca_file.empty() || !options.lookup) trust.client_ca = files.client_ca;
  return trust;
}

}  // namespace flyball::apiservice
