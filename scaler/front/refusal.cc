#include "scaler/front/refusal.h"

#include "absl/strings/str_cat.h"

namespace flyball::front {

const char* NameOf(RefusalReason reason) {
  switch (reason) {
    case RefusalReason::kActivationTimeout: return "activation-timeout";
    case RefusalReason::kQueueFull: return "queue-full";
    case RefusalReason::kActivationFailed: return "activation-failed";
  }
  return "";
}

RefusalAnswer AnswerOf(const Refusal& refusal) {
  const char* const name = NameOf(refusal.reason);
  RefusalAnswer answer;
  answer.headers = {{"content-type", "text/plain"}, {"x-flyball", name}};
  answer.details = absl::StrCat("flyball_", name);
  switch (refusal.reason) {
    case RefusalReason::kActivationTimeout:
      answer.http_status = 504;
      answer.body = "No pod could take the request in time.\n";
      break;
    case RefusalReason::kQueueFull: answer.body = "Too many requests wait for a pod.\n"; break;
    case RefusalReason::kActivationFailed:
      answer.body = absl::StrCat("The service could not be scaled up: ", refusal.word, "\n");
      return answer;
  }
  answer.headers.emplace_back("retry-after", "5");
  return answer;
}

}  // namespace flyball::front
