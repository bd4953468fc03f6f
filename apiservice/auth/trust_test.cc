#include "apiservice/auth/trust.h"

#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/match.h"

namespace flyball::apiservice {
namespace {

TEST(TrustFromFiles, AFileThatIsNoPemIsNamedWithItsFlag) {
  const std::string path = testing::TempDir() + "/no-authority.crt";
  std::ofstream(path) << "not a certificate\n";
  AuthenticationOptions clients, proxies;
  clients.client_ca_file = proxies.request_header.client_ca_file = path;
  const absl::Status of_clients = TrustFromFiles(clients).status();
  EXPECT_EQ(of_clients.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StartsWith(of_clients.message(), "--client-ca-file " + path)) << of_clients;
  const absl::Status of_proxies = TrustFromFiles(proxies).status();
  EXPECT_EQ(of_proxies.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StartsWith(of_proxies.message(), "--requestheader-client-ca-file " + path))
      << of_proxies;
}

}  // namespace
}  // namespace flyball::apiservice
