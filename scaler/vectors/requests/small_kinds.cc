#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "kube/objects/json_members.h"
#include "scaler/math/requests/pod_sampling.h"
#include "scaler/math/requests/subset.h"
#include "scaler/vectors/requests/kinds.h"
#include "scaler/vectors/requests/scenario.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> BucketNames(int64_t count) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < count; ++i) {
    names.push_back(absl::StrFormat("autoscaler-bucket-%02d-of-%02d", i, count));
  }
  return names;
}

}  // namespace

absl::StatusOr<Json> AnswerSubset(const Json& in) {
  const int64_t buckets = kube::NumberOf(in, "buckets");
  if (buckets > static_cast<int64_t>(kSubsetUniverse)) {
    return absl::InvalidArgumentError("buckets: too many");
  }
  if (buckets > 0) {
    Json owners = Json::array();
    for (const std::string& key : kube::TextsOf(in, "keys")) {
      owners.push_back(ChooseSubset(BucketNames(buckets), 1, key).front());
    }
    return Json{{"owners", owners}};
  }
  const int64_t count = std::max<int64_t>(kube::NumberOf(in, "n"), 0);
  return Json{{"chosen", ChooseSubset(kube::TextsOf(in, "from"), static_cast<size_t>(count),
                                      kube::TextOf(in, "target"))}};
}

absl::StatusOr<Json> AnswerScrape(const Json& in) {
  std::vector<ScrapedPod> pods;
  for (const Json& written : kube::ItemsOf(in, "pods")) {
    ScrapedPod& pod = pods.emplace_back();
    pod.age = absl::Seconds(NumberAt(written, 0));
    if (!TextAt(written, 5).empty()) continue;  // the failure
    pod.answer = TrafficSample{.concurrency = NumberAt(written, 1),
                               .proxied_concurrency = NumberAt(written, 2),
                               .requests = NumberAt(written, 3),
                               .proxied_requests = NumberAt(written, 4)};
  }
  const std::optional<TrafficSample> all =
      TrafficOfAll(pods, absl::Seconds(kube::NumberOf(in, "window_s")));
  const TrafficSample sum = all.value_or(TrafficSample());
  Json out = {{"sample", SampleSize(static_cast<int64_t>(pods.size()))},
              {"stat",
               {NumberJson(sum.concurrency), NumberJson(sum.proxied_concurrency),
                NumberJson(sum.requests), NumberJson(sum.proxied_requests)}},
              {"empty", pods.empty() || !all.has_value()}};
  if (!all.has_value()) out["error"] = "pods exhausted";
  return out;
}

}  // namespace flyball::scaler
