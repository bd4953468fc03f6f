// Any bytes as what an exec plugin prints: credentials, or an error that shows none of them.
// links: kube_client
#include <cstdint>
#include <cstdlib>

#include "kube/client/exec_plugin.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view printed(reinterpret_cast<const char*>(data), size);
  flyball::http::TransportOptions options;
  const absl::Status taken =
      flyball::kube::TakeCredential(printed, "client.authentication.k8s.io/v1", options);
  const bool some = !options.token.empty() || !options.client_cert_data.empty();
  if (taken.ok() != some) std::abort();
  if (options.client_cert_data.empty() != options.client_key_data.empty()) std::abort();
  if (!taken.ok() && taken.message().empty()) std::abort();
  return 0;
}
