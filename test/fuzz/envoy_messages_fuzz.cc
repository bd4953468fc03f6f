// links: scaler_front_envoy
//
// Messages of an Envoy of any bytes, between changes of the resources that it is to have: a stream
// never sends what was not asked for, nor goes on for ever, and takes for accepted only what it
// sent or was said to be there from before. Reports of load have finite numbers that are not
// negative, each service once.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "scaler/front/envoy/answers.h"
#include "scaler/front/envoy/delta_stream.h"
#include "scaler/front/envoy/load_report.h"
#include "scaler/front/envoy/names.h"

namespace {

using namespace flyball;         // NOLINT
using namespace flyball::front;  // NOLINT

constexpr const char* kServices[] = {"a/a", "a/b", "b/a.v2", "b/c"};

void Require(bool holds) {
  if (!holds) std::abort();
}

Resource ResourceOf(uint8_t choice) {
  const std::string service = kServices[choice & 3];
  const bool flag = choice & 16;
  if ((choice & 96) == 96) {
    HostRouteResource route{.service = service, .routes = {}, .gated = flag};
    route.routes.places = {{kServices[choice >> 2 & 3], "/"}};
    return route;
  }
  switch (choice >> 2 & 3) {
    case 0: return ClusterResource{.service = service, .h2c = flag};
    case 1: return EndpointsResource{.service = service};
    case 2: return RouteResource{.service = service, .gated = flag};
    default: return ListenerResource{.service = service, .port = choice};
  }
}

class World {
 public:
  void Change(uint8_t choice) {
    Resource resource = ResourceOf(choice);
    const ResourceKind kind = KindOf(resource);
    const std::string service = ServiceOf(resource);
    if (choice & 128) {
      table_.Remove(kind, service);
    } else {
      table_.Put(std::move(resource), ++version_);
    }
    stream_.OnChange(kind, service);
  }

  void Hear(const std::string& bytes) {
    envoy::DeltaDiscoveryRequest request;
    if (!request.ParseFromString(bytes)) return;
    const DeltaStream::Verdict verdict = stream_.OnRequest(request);
    for (const auto& [service, version] : verdict.accepted) Require(version <= version_);
    if (verdict.accepted.empty() && verdict.refused.empty()) return;
    Require(!request.response_nonce().empty() || !request.initial_resource_versions().empty());
  }

  void Send() {
    int sent = 0;
    while (const auto message = stream_.Next()) {
      Require(++sent <= kResourceKinds * DeltaStream::kMaxUnanswered);
      Require(KindOfTypeUrl(message->type_url()).has_value());
      Require(message->resources_size() + message->removed_resources_size() > 0);
      std::set<std::string> names;
      for (const auto& resource : message->resources()) {
        if (resource.name() == kHostsListener) continue;
        Require(names.insert(resource.name()).second);
        Require(table_.Find(*KindOfTypeUrl(message->type_url()), resource.name()) != nullptr);
      }
    }
  }

 private:
  ResourceTable table_;
  DeltaStream stream_{table_};
  uint64_t version_ = 0;
};

void CheckLoad(const std::string& bytes) {
  envoy::StreamMetricsMessage report;
  if (!report.ParseFromString(bytes)) return;
  std::string last;
  for (const ServiceLoad& load : LoadOf(report)) {
    Require(load.service > last);
    last = load.service;
    for (const double value : {load.active, load.begun, load.upstream_active}) {
      Require(value >= 0 && !std::isnan(value));
    }
  }
}

void CheckAnswer(const std::string& bytes) {
  envoy::ProcessingRequest request;
  if (!request.ParseFromString(bytes)) return;
  const bool known = request.request_case() != envoy::ProcessingRequest::REQUEST_NOT_SET;
  Require(PassMessage(request).has_value() == known);
}

}  // namespace

// Steps: a byte that says what, a byte with the length of what follows, and that.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  World world;
  while (size >= 2) {
    const uint8_t what = data[0];
    const size_t length = std::min<size_t>(data[1], size - 2);
    const std::string bytes(reinterpret_cast<const char*>(data + 2), length);
    data += 2 + length;
    size -= 2 + length;
    if (what == 'l') {
      CheckLoad(bytes);
    } else if (what == 'p') {
      CheckAnswer(bytes);
    } else if (what == 'c') {
      for (const char choice : bytes) world.Change(static_cast<uint8_t>(choice));
    } else {
      world.Hear(bytes);
    }
    world.Send();
  }
  return 0;
}
