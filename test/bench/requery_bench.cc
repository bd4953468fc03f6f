// links: adapter
//
// What it costs the asking thread to ask one question again over HTTP on this machine: a query that
// names 1,000 pods, whose answer is the last one at another time, or another answer. Another thread
// answers.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "adapter/prometheus/client.h"
#include "base/clock.h"
#include "benchmark/benchmark.h"
#include "http/client/transport.h"

namespace flyball::adapter::prometheus {
namespace {

constexpr int kPods = 1000;

std::string PodName(int pod) { return absl::StrCat("web-", 1000 + pod / 10, "-x000", pod % 10); }

std::string Question() {
  std::string names;
  for (int pod = 0; pod < kPods; ++pod) absl::StrAppend(&names, pod == 0 ? "" : "|", PodName(pod));
  return absl::StrCat(R"(sum by (pod, container) (container_cpu{namespace="ns-042",pod=~")", names,
                      R"("}))");
}

// All samples at `second`.
std::string Answer(int64_t second, double value) {
  std::string body = R"({"status":"success","data":{"resultType":"vector","result":[)";
  for (int pod = 0; pod < kPods; ++pod) {
    absl::StrAppend(&body, pod == 0 ? "" : ",",
                    R"({"metric":{"container":"main","namespace":"ns-042","pod":")", PodName(pod),
                    R"("},"value":[)", 1700000000 + second, ".123,\"", value, R"("]})");
  }
  body += "]}}";
  return absl::StrCat("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ",
                      body.size(), "\r\n\r\n", body);
}

// Answers one connection after another, by turns with one of two texts.
class Server {
 public:
  explicit Server(bool changing) : answers_{Answer(0, 0.05), Answer(1, changing ? 0.051 : 0.05)} {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_, plain, length) != 0 || listen(listener_, 8) != 0) std::abort();
    getsockname(listener_, plain, &length);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~Server() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  std::string url() const { return absl::StrCat("http://127.0.0.1:", port_); }

 private:
  void Serve() {
    for (int peer; (peer = accept(listener_, nullptr, nullptr)) >= 0; close(peer)) {
      const int on = 1;
      setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      for (size_t turn = 0; ReadRequest(peer); ++turn) {
        absl::string_view left = answers_[turn % 2];
        while (!left.empty()) {
          const ssize_t sent = send(peer, left.data(), left.size(), MSG_NOSIGNAL);
          if (sent <= 0) break;
          left.remove_prefix(static_cast<size_t>(sent));
        }
      }
    }
  }

  static bool ReadRequest(int peer) {
    std::string request;
    size_t whole = std::string::npos;
    while (request.size() < whole) {
      char buffer[32 << 10];
      const ssize_t got = recv(peer, buffer, sizeof buffer, 0);
      if (got <= 0) return false;
      request.append(buffer, static_cast<size_t>(got));
      const size_t head = request.find("\r\n\r\n");
      if (head == std::string::npos || whole != std::string::npos) continue;
      const absl::string_view name = "Content-Length: ";
      const size_t at = request.find(name.data(), 0, name.size()) + name.size();
      size_t length = 0;
      if (!absl::SimpleAtoi(request.substr(at, request.find('\r', at) - at), &length)) return false;
      whole = head + 4 + length;
    }
    return true;
  }

  const std::string answers_[2];
  const int listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int port_ = 0;
  std::thread thread_;
};

void BM_StandingQuery(benchmark::State& state) {
  Server server(state.range(0) != 0);
  {
    std::vector<prometheus::Server> servers(1);
    servers[0].url = SplitServerUrl(server.url());
    http::TransportOptions transport;
    transport.url = server.url();
    servers[0].transport = *http::MakeHttpTransport(transport, Clock::System());
    ClientOptions options;
    options.verb = ClientOptions::Verb::kPost;
    Client client(std::move(servers), options, Clock::System(), nullptr);
    StandingQuery question(Question());
    int64_t read = 0;
    for (auto _ : state) {
      auto got = client.Ask(question, absl::FromUnixMillis(1700000000123), absl::Seconds(10));
      if (!got.ok()) {
        state.SkipWithError(got.status().ToString().c_str());
        break;
      }
      read += got->result != nullptr;
    }
    // All but the first of those that are the same.
    state.counters["read"] = static_cast<double>(read) / static_cast<double>(state.iterations());
  }
}
BENCHMARK(BM_StandingQuery)->ArgName("changing")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace flyball::adapter::prometheus

BENCHMARK_MAIN();
