// The answer to a client whose request is not carried to a pod.
//
// Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace flyball::front {

enum class RefusalReason {
  kActivationTimeout,  // no pod was ready in time, or none had room
  kQueueFull,          // too many requests wait already
  kActivationFailed,   // the scale was refused, is paused, or its target is gone
};

struct Refusal {
  RefusalReason reason = RefusalReason::kActivationTimeout;
  std::string word = {};  // with kActivationFailed: why, in one word; shown to the client
  bool operator==(const Refusal&) const = default;
};

// The refusal in the form in which it is sent. Envoy turns it into status 14 for gRPC clients.
struct RefusalAnswer {
  int http_status = 503;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;     // plain text, one line
  std::string details;  // for Envoy's access log
};

// The word for a reason in the header x-flyball, in metrics and in logs.
const char* NameOf(RefusalReason reason);

RefusalAnswer AnswerOf(const Refusal& refusal);

}  // namespace flyball::front
