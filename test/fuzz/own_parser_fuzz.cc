// links: scaler_spec_own
//
// Our own kind from any bytes: what is accepted keeps every bound that the loop relies on.
#include <cstdint>
#include <cstdlib>
#include <set>

#include "scaler/spec/own/parser.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using flyball::scaler::OwnParseResult;
  const absl::string_view body(reinterpret_cast<const char*>(data), size);
  const OwnParseResult got = flyball::scaler::ParseOwnAutoscaler(body, {"cron", "prometheus"});
  Require(got.decode_error.empty() == got.autoscaler.has_value());
  for (const auto& error : got.errors) Require(!error.type.empty() && !error.field.empty());
  Require(got.own.cooldown >= absl::ZeroDuration() && got.own.cooldown <= absl::Hours(8760));
  if (!got.ok()) return 0;
  Require(got.autoscaler->max_replicas >= 1);
  Require(got.autoscaler->min_or_default() <= got.autoscaler->max_replicas);
  Require(got.autoscaler->min_or_default() >= (got.own.triggers.empty() ? 1 : 0));
  Require(!got.autoscaler->metrics.empty() || !got.own.triggers.empty());
  if (got.own.cadence.interval.has_value()) {
    Require(!got.own.cadence.on_sample);
    Require(*got.own.cadence.interval >= absl::Milliseconds(200));
    Require(*got.own.cadence.interval <= absl::Hours(1));
  }
  std::set<std::string> names;
  for (const auto& trigger : got.own.triggers) {
    Require(trigger.name.empty() || names.insert(trigger.name).second);
  }
  return 0;
}
