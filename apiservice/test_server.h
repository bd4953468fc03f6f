// A server on a free loopback port for tests, with fake providers and a scripted Kubernetes API.
#pragma once

#include <gtest/gtest.h>
#include <httplib.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "apiservice/api_server.h"
#include "apiservice/test_fakes.h"
#include "http/testing/test_pki.h"

#define C1 "/apis/custom.metrics.k8s.io/v1beta1"
#define C2 "/apis/custom.metrics.k8s.io/v1beta2"
#define E1 "/apis/external.metrics.k8s.io/v1beta1"
#define M1 "/apis/metrics.k8s.io/v1beta1"
#define IN_DEFAULT "/namespaces/default"

namespace flyball::apiservice {

inline std::string NewFolder() {
  std::string path = testing::TempDir() + "flyball-api-XXXXXX";
  return mkdtemp(path.data());
}

// A server on a free loopback port, everybody allowed unless the options say otherwise.
class ApiServerFixture : public testing::Test {
 protected:
  ApiServerFixture() {
    options_.listen.bind_address = "127.0.0.1";
    options_.listen.port = 0;
    options_.tls.cert_dir = folder_;
    options_.authorization.mode = AuthorizationMode::kAll;
    options_.authentication.lookup = false;
  }
  ~ApiServerFixture() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  void StartServer() {
    MakeServer();
    ASSERT_NE(server_, nullptr);
    ASSERT_TRUE(server_->Start().ok());
  }

  void MakeServer() {
    ServerDependencies dependencies(*clock_);
    dependencies.providers = [this] { return adapter::Providers{custom_, external_, resource_}; };
    dependencies.authentication = kube_;
    dependencies.authorization = kube_.get();
    dependencies.checks = checks_;
    dependencies.debug_decisions = debug_decisions_;
    dependencies.more_metrics = more_metrics_;
    dependencies.pages = pages_;
    auto server = ApiServer::Create(options_, std::move(dependencies));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::unique_ptr<httplib::SSLClient> NewClient(const std::string& pair = "") {
    auto client = pair.empty() ? std::make_unique<httplib::SSLClient>("127.0.0.1", server_->port())
                               : std::make_unique<httplib::SSLClient>("127.0.0.1", server_->port(),
                                                                      pair + ".crt", pair + ".key");
    client->enable_server_certificate_verification(false);
    client->set_keep_alive(true);
    client->set_url_encode(false);
    client->set_read_timeout(30);
    return client;
  }

  httplib::Result Get(const std::string& target, const httplib::Headers& headers = {}) {
    return NewClient()->Get(target, headers);
  }

  // The value of a sample of /metrics without labels; -1 if it is not there.
  double Metric(const std::string& name) {
    const auto answer = Get("/metrics");
    for (const absl::string_view line : absl::StrSplit(answer->body, '\n')) {
      double value = 0;
      if (absl::StartsWith(line, name + " ") &&
          absl::SimpleAtod(line.substr(name.size() + 1), &value)) {
        return value;
      }
    }
    return -1;
  }

  const std::string folder_ = NewFolder();
  ServerOptions options_;
  std::shared_ptr<FakeCustomMetrics> custom_ = std::make_shared<FakeCustomMetrics>();
  std::shared_ptr<FakeExternalMetrics> external_ = std::make_shared<FakeExternalMetrics>();
  std::shared_ptr<FakeResourceMetrics> resource_ = std::make_shared<FakeResourceMetrics>();
  std::shared_ptr<FakeKubeApi> kube_ = std::make_shared<FakeKubeApi>();
  std::vector<HealthCheck> checks_;
  DebugPage debug_decisions_;
  std::function<void(std::string&)> more_metrics_;
  std::vector<http::Pages*> pages_;
  SimulatedClock simulated_{absl::Now()};
  Clock* clock_ = &Clock::System();
  std::unique_ptr<ApiServer> server_;
};

}  // namespace flyball::apiservice
