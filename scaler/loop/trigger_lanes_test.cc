// Triggers of several namespaces in the scaler's threads, some of which take very long.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "base/lanes.h"
#include "base/worker_pool.h"
#include "http/testing/fake_dns_server.h"
#include "scaler/triggers/parts/test_clients.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::scaler {
namespace {

// Takes connections and says nothing, or `greeting` to each.
class SilentServer {
 public:
  explicit SilentServer(std::string greeting = "") : greeting_(std::move(greeting)) {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    listen(listener_, 512);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      for (int fd = 0; (fd = accept(listener_, nullptr, nullptr)) >= 0;) {
        accepted_.push_back(fd);
        (void)send(fd, greeting_.data(), greeting_.size(), MSG_NOSIGNAL);
      }
    });
  }
  ~SilentServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
    for (const int fd : accepted_) close(fd);
  }
  int port() const { return port_; }

 private:
  const std::string greeting_;
  int listener_ = -1;
  int port_ = 0;
  std::vector<int> accepted_;
  std::thread thread_;
};

class TriggerLanesTest : public testing::Test {
 protected:
  ~TriggerLanesTest() override {
    clients_->Shutdown();
    lanes_.Stop();
    pool_.Stop();
  }

  void Read(const std::string& ns, const std::string& url, absl::Notification* done = nullptr) {
    TriggerSpec spec;
    spec.type = "metrics-api";
    spec.metadata = {{"url", url}, {"valueLocation", "a"}, {"targetValue", "1"}};
    TriggerContext context;
    context.ns = ns;
    context.clients = clients_;
    Submit(ns, *MakeTrigger(spec, context), done);
  }

  void Submit(const std::string& ns, std::shared_ptr<Trigger> trigger, absl::Notification* done) {
    lanes_.For(ns, trigger->Server())([trigger, done] {
      trigger->Read(absl::UnixEpoch(), absl::Seconds(10));
      if (done != nullptr) done->Notify();
    });
  }

  http::FakeDnsServer dns_;
  std::shared_ptr<TriggerClients> clients_ = LoopbackClients(dns_.Settings());
  WorkerPool pool_{132};
  Lanes lanes_{[this](std::function<void()> task) { pool_.Submit(std::move(task)); },
               {.threads = 128, .of_server = 24}};
};

TEST_F(TriggerLanesTest, OneNamespacesServersDelayNoOther) {
  dns_.Hang();  // for every name
  std::vector<std::unique_ptr<SilentServer>> servers;
  for (int i = 0; i < 12; ++i) {
    // Silent, in the middle of a head, of a body, of a TLS handshake.
    const char* greetings[] = {"", "HTTP/1.1 200 OK\r\nX: ",
                               "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1", "\x16\x03\x03"};
    servers.push_back(std::make_unique<SilentServer>(greetings[i % 4]));
  }
  for (int i = 0; i < 600; ++i) {
    const int port = servers[i % 12]->port();
    Read("tenant", absl::StrCat(i % 4 == 3 ? "https" : "http", "://127.0.0.1:", port));
    Read("tenant", absl::StrCat("http://slow-", i % 50, ".example"));
  }
  // Somebody else's readings, one after the other, of a server that refuses at once.
  const MonotonicTime start = Clock::System().MonotonicNow();
  for (const char* ns : {"a", "b", "c", "a", "b", "c"}) {
    absl::Notification done;
    Read(ns, "http://127.0.0.1:1", &done);
    ASSERT_TRUE(done.WaitForNotificationWithTimeout(absl::Seconds(30)));
  }
  // A reading of the tenant's takes 3 s: behind them these six would take 18.
  EXPECT_LT(Clock::System().MonotonicNow() - start, absl::Seconds(15));
}

TEST_F(TriggerLanesTest, OneNamespacesCountsOfPodsDelayNoOther) {
  const auto counted = std::make_shared<absl::Notification>();
  TriggerSpec spec;
  spec.type = "kubernetes-workload";
  spec.metadata = {{"podSelector", "!a"}, {"value", "1"}};
  TriggerContext context;
  context.count_pods = [counted](absl::string_view ns, const kube::Selector&, bool) {
    if (ns == "tenant") counted->WaitForNotification();
    return int64_t{0};
  };
  context.ns = "tenant";
  for (int i = 0; i < 200; ++i) Submit("tenant", *MakeTrigger(spec, context), nullptr);
  context.ns = "other";
  absl::Notification done;
  Submit("other", *MakeTrigger(spec, context), &done);
  EXPECT_TRUE(done.WaitForNotificationWithTimeout(absl::Seconds(30)));
  counted->Notify();
}

}  // namespace
}  // namespace flyball::scaler
