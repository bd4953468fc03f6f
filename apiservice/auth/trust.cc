#include "apiservice/auth/trust.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "base/read_file.h"
#include "base/status_macros.h"

namespace flyball::apiservice {
namespace {

absl::StatusOr<std::shared_ptr<const CaBundle>> BundleFromFile(const std::string& path,
                                                               absl::string_view flag) {
  const absl::StatusOr<std::string> pem = ReadFile(path);
  if (!pem.ok()) return absl::InvalidArgumentError(absl::StrCat(flag, " ", pem.status().message()));
  absl::StatusOr<std::shared_ptr<const CaBundle>> bundle = CaBundle::FromPem(*pem);
  if (!bundle.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, " ", path, ": ", bundle.status().message()));
  }
  return bundle;
}

// A JSON array of strings in a string.
absl::StatusOr<std::vector<std::string>> ParseList(absl::string_view text) {
  const auto list = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  const bool good = list.is_array() && std::all_of(list.begin(), list.end(), [](const auto& item) {
                      return item.is_string();
                    });
  if (!good) return absl::InvalidArgumentError("expected a JSON array of strings");
  return list.get<std::vector<std::string>>();
}

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
  trust.headers = proxy.headers;
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
  // False: it is broken.
  const auto read = [&](const char* key, const auto& parse, auto* out) {
    const auto found = data.find(key);
    if (found == data.end() || found->second.empty()) return true;
    auto value = parse(found->second);
    if (value.ok()) {
      *out = *std::move(value);
    } else if (problems != nullptr) {
      problems->push_back(absl::StrCat(key, ": ", value.status().message()));
    }
    return value.ok();
  };
  read("client-ca-file", CaBundle::FromPem, &trust.client_ca);
  read("requestheader-client-ca-file", CaBundle::FromPem, &trust.front_proxy_ca);
  // An empty list allows every name. So if the first list that is read is invalid, no front proxy
  // is trusted.
  if (!read("requestheader-allowed-names", ParseList, &trust.allowed_names) &&
      last.front_proxy_ca == nullptr) {
    trust.front_proxy_ca = nullptr;
  }
  read("requestheader-username-headers", ParseList, &trust.headers.username_headers);
  read("requestheader-group-headers", ParseList, &trust.headers.group_headers);
  read("requestheader-uid-headers", ParseList, &trust.headers.uid_headers);
  read("requestheader-extra-headers-prefix", ParseList, &trust.headers.extra_prefixes);
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
