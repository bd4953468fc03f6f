// What a client gets whose request is not carried to a pod.
//
// Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace flyball::front {

enum class RefusalReason {
  kActivationTimeout,  // no pod was ready in time, or none had room
  kQueueFull,          // too many wait already
  kActivationFailed,   // the scale was refused, is paused, or its target is gone
};

struct Refusal {
  RefusalReason reason = RefusalReason::kActivationTimeout;
  std::string word = {};  // of kActivationFailed: why, in one word; shown to the client
  bool operator==(const Refusal&) const = default;
};

// As it goes on the wire. gRPC clients get status 14 for each of them, which Envoy makes of it.
struct RefusalAnswer {
  int http_status = 503;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;     // plain text, one line
  std::string details;  // for Envoy's access log
};

// The word that stands in the header x-flyball, in metrics and in logs.
const char* NameOf(RefusalReason reason);

RefusalAnswer AnswerOf(const Refusal& refusal);

}  // namespace flyball::front
