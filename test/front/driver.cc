// The server of Envoys by remote control: a test says line by line what the front would say, and
// reads line by line what the front would be told. It decides nothing.
//
//   front_driver ADDRESS:PORT [CERT KEY CA [PEER_NAME]]
//
// In:   cluster NAME VERSION [h2c] [hard] [SECONDS] route NAME VERSION on|off [hard] [SECONDS]
//       endpoints NAME VERSION [ADDRESS…]           listener NAME VERSION PORT
//       hostroute NAME VERSION on|off HOSTS [HEADERS [hard] [SECONDS]]
//       remove KIND NAME      serve      release ID [POD]      refuse ID timeout|full|failed [WORD]
// Out:  listening PORT   envoy NODE returning|new   gone NODE   ack NODE KIND NAME VERSION
//       nack NODE KIND NAME…   request ID NODE NAME   end ID
//       load NODE NAME ACTIVE BEGUN UPSTREAM PENDING UPSTREAM-BEGUN
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "scaler/front/module/data_path_server.h"

namespace flyball::front {
namespace {

constexpr const char* kKinds[] = {"cluster", "endpoints", "route", "listener", "hostroute"};

const char* NameOf(ResourceKind kind) { return kKinds[static_cast<int>(kind)]; }

class Printer : public DataPathEvents {
 public:
  static void Say(const std::string& line) {
    static absl::Mutex mutex(absl::kConstInit);
    absl::MutexLock lock(&mutex);
    std::puts(line.c_str());
    std::fflush(stdout);
  }

 private:
  void OnEnvoy(const NodeId& node, bool returning, absl::Time) override {
    Say(absl::StrCat("envoy ", node, returning ? " returning" : " new"));
  }
  void OnEnvoyGone(const NodeId& node, absl::Time) override { Say(absl::StrCat("gone ", node)); }
  void OnAck(const NodeId& node, ResourceKind kind, const std::string& service, uint64_t version,
             absl::Time) override {
    Say(absl::StrCat("ack ", node, " ", NameOf(kind), " ", service, " ", version));
  }
  void OnNack(const NodeId& node, ResourceKind kind, const std::vector<std::string>& services,
              absl::string_view text, absl::Time) override {
    std::cerr << text << std::endl;
    Say(absl::StrCat("nack ", node, " ", NameOf(kind), " ", absl::StrJoin(services, " ")));
  }
  void OnRequest(RequestId id, const NodeId& node, const std::string& service,
                 absl::Time) override {
    Say(absl::StrCat("request ", id, " ", node, " ", service));
  }
  void OnRequestEnd(RequestId id, absl::Time) override { Say(absl::StrCat("end ", id)); }
  void OnLoad(const NodeId& node, absl::Span<const ServiceLoad> services, absl::Time) override {
    for (const ServiceLoad& load : services) {
      Say(absl::StrCat("load ", node, " ", load.service, " ", load.active, " ", load.begun, " ",
                       load.upstream_active, " ", load.upstream_pending, " ", load.upstream_begun));
    }
  }
};

uint64_t Number(const std::string& text) {
  uint64_t number = 0;
  if (!absl::SimpleAtoi(text, &number)) std::cerr << "no number: " << text << std::endl;
  return number;
}

bool Has(const std::vector<std::string>& words, const char* word) {
  for (const std::string& each : words) {
    if (each == word) return true;
  }
  return false;
}

// The number of seconds at the end, after kind, name and version, if there is one.
absl::Duration TimeLimit(const std::vector<std::string>& words) {
  double seconds = 0;
  const bool has = words.size() > 3 && absl::SimpleAtod(words.back(), &seconds);
  return absl::Seconds(has ? seconds : 0);
}

Resource ResourceOf(const std::vector<std::string>& words) {
  const std::string& service = words[1];
  if (words[0] == "cluster") {
    return ClusterResource{.service = service,
                           .h2c = Has(words, "h2c"),
                           .hard_limit = Has(words, "hard"),
                           .request_timeout = TimeLimit(words)};
  }
  if (words[0] == "endpoints") {
    return EndpointsResource{.service = service, .addresses = {words.begin() + 3, words.end()}};
  }
  if (words[0] == "route") {
    return RouteResource{.service = service,
                         .gated = words[3] == "on",
                         .hard_limit = Has(words, "hard"),
                         .request_timeout = TimeLimit(words)};
  }
  if (words[0] == "hostroute") {
    const auto routes = ReadHostRoutes(words[4], "", words.size() > 5 ? words[5] : "");
    if (!routes.ok()) std::cerr << routes.status() << std::endl;
    return HostRouteResource{.service = service,
                             .routes = routes.value_or(HostRoutes()),
                             .gated = words[3] == "on",
                             .hard_limit = Has(words, "hard"),
                             .request_timeout = TimeLimit(words)};
  }
  return ListenerResource{.service = service, .port = static_cast<uint16_t>(Number(words[3]))};
}

Refusal RefusalOf(const std::vector<std::string>& words) {
  if (words[2] == "timeout") return {.reason = RefusalReason::kActivationTimeout};
  if (words[2] == "full") return {.reason = RefusalReason::kQueueFull};
  return {.reason = RefusalReason::kActivationFailed, .word = words.size() > 3 ? words[3] : ""};
}

void Obey(DataPath& path, const std::vector<std::string>& words) {
  if (words[0] == "serve") {
    path.BeginServing({});
  } else if (words[0] == "release") {
    std::optional<std::string> pod;
    if (words.size() > 2) pod = words[2];
    path.Release(Number(words[1]), pod);
  } else if (words[0] == "refuse") {
    path.Refuse(Number(words[1]), RefusalOf(words));
  } else if (words[0] == "remove") {
    for (int kind = 0; kind < kResourceKinds; ++kind) {
      if (words[1] == kKinds[kind]) path.Remove(static_cast<ResourceKind>(kind), words[2]);
    }
  } else {
    path.Put(ResourceOf(words), Number(words[2]));
  }
}

int Run(const std::vector<std::string>& args) {
  DataPathServerOptions options{
      .listen = args[0], .cert_file = {}, .key_file = {}, .ca_file = {}, .peer_name = {}};
  if (args.size() > 3) {
    options.cert_file = args[1];
    options.key_file = args[2];
    options.ca_file = args[3];
  }
  if (args.size() > 4) options.peer_name = args[4];
  Printer printer;
  const auto server = MakeDataPathServer(options, Clock::System(), printer);
  if (!server.ok()) {
    std::cerr << server.status() << std::endl;
    return 1;
  }
  Printer::Say(absl::StrCat("listening ", (*server)->port()));
  for (std::string line; std::getline(std::cin, line);) {
    Obey(**server, absl::StrSplit(line, ' ', absl::SkipEmpty()));
  }
  return 0;
}

}  // namespace
}  // namespace flyball::front

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  return flyball::front::Run({argv + 1, argv + argc});
}
