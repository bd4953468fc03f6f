// links: scaler_spec
//
// Cron expressions of any bytes: what is accepted comes true at some time, never after the time
// that was asked for, and was true then.
#include <cstdint>
#include <cstdlib>

#include "scaler/spec/cron_expression.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckAt(const flyball::scaler::CronExpression& expression, absl::Time now) {
  static const absl::TimeZone zone = [] {
    absl::TimeZone prague;
    Require(absl::LoadTimeZone("Europe/Prague", &prague));
    return prague;
  }();
  const auto fire = expression.LatestFire(now, zone);
  Require(fire.has_value() && fire->at <= now && fire->as_written <= fire->at);
  Require(expression.LatestFire(fire->at, zone)->at == fire->at);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto expression = flyball::scaler::CronExpression::Parse(text);
  if (!expression.ok()) {
    Require(!expression.status().message().empty());
    return 0;
  }
  for (const int64_t seconds : {1774746000, 1774745999, 1792890000, 1800000000}) {
    CheckAt(*expression, absl::FromUnixSeconds(seconds));
  }
  return 0;
}
