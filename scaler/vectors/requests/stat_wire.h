// The messages by which Knative's proxies tell what they carry, as bytes in hexadecimal.
//
// Pure. Written by hand: of three messages, two of them with strings and doubles alone, only the
// encoder is needed, and only here. Source: Knative Serving v0.51.0
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
