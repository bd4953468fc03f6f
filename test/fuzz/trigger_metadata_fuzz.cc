// links: scaler_trigger_types
//
// Metadata of any bytes (`type`, then lines `key=value`): a trigger is made, with metrics that an
// HPA could have, or the message says which one it is.
#include <cstdint>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "scaler/triggers/types/trigger_types.h"

namespace {

using flyball::scaler::TriggerSpec;

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  TriggerSpec spec;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::pair<std::string, std::string> pair = absl::StrSplit(line, absl::MaxSplits('=', 1));
    if (spec.type.empty()) {
      spec.type = pair.first;
    } else {
      spec.metadata[pair.first] = pair.second;
    }
  }
  flyball::scaler::TriggerContext context;
  context.ns = "ns";
  context.count_pods = [](auto...) { return int64_t{3}; };
  const auto trigger = flyball::scaler::MakeTrigger(spec, context);
  if (!trigger.ok()) {
    Require(absl::StartsWith(trigger.status().message(), "triggers[0]"));
    return 0;
  }
  if (absl::StartsWith(spec.type, "external")) return 0;  // its server names them
  const auto metrics = (*trigger)->Metrics(absl::ZeroDuration());
  Require(metrics.ok() && !metrics->empty());
  for (const auto& metric : *metrics) {
    Require(absl::StartsWith(metric.name, "s0-") && metric.target_milli > 0);
    Require(!absl::StrContains(metric.name, '/') && !absl::StrContains(metric.name, '%'));
  }
  return 0;
}
