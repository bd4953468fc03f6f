#include "scaler/vectors/requests/request_vectors.h"

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kube/objects/json_members.h"
#include "scaler/vectors/requests/kinds.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;

struct KindOfScenario {
  const char* name;
  absl::StatusOr<Json> (*answer)(const Json& in);
};

constexpr KindOfScenario kKinds[] = {
    {"scale", AnswerScale},
    {"kpa", AnswerKpa},
    {"loop", AnswerLoop},
    {"config", AnswerConfig},
    {"reqstats", AnswerRequestStats},
    {"reporter", AnswerReporter},
    {"throttle", AnswerThrottle},
    {"subset", AnswerSubset},
    {"scrape", AnswerScrape},
};

}  // namespace

absl::StatusOr<Json> AnswerRequestScenario(const Json& in) {
  const std::string name = kube::TextOf(in, "kind");
  for (const KindOfScenario& kind : kKinds) {
    if (name != kind.name) continue;
    ASSIGN_OR_RETURN(const Json result, kind.answer(in));
    Json out = {{"id", kube::TextOf(in, "id")}, {"kind", name}};
    out.update(result);
    return out;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("kind: none of the known ones, got \"", name, "\""));
}

}  // namespace flyball::scaler
