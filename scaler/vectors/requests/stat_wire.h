// The messages by which Knative's proxies report their load, as bytes in hexadecimal.
//
// Pure. Written by hand instead of with protobuf, since only the encoder of three small messages is
// needed, and only for tests. Source: Knative Serving v0.51.0
// pkg/autoscaler/metrics/stat.proto (proto3: a field that is zero is left out).
#pragma once

#include <string>
#include <vector>

namespace flyball::scaler {

struct WireStat {
  std::string pod_name;
  double concurrency = 0;
  double proxied_concurrency = 0;
  double requests = 0;
  double proxied_requests = 0;
  double uptime_seconds = 0;
};

struct WireMessage {
  std::string ns;
  std::string revision;
  WireStat stat;
};

std::string StatHex(const WireStat& stat);
std::string MessagesHex(const std::vector<WireMessage>& messages);

}  // namespace flyball::scaler
