// links: live_store
//
// PromQL text: what parses prints as text that parses to the same print, and evaluates within its
// limit on work, without a crash and without two answers.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "adapter/live/store/testing/any_time_store.h"
#include "promql/engine/engine.h"
#include "promql/parser.h"
#include "promql/text.h"

namespace {

using flyball::live::AnyTimeStore;
namespace promql = flyball::promql;

const AnyTimeStore& Samples() {
  static const AnyTimeStore& samples = []() -> const AnyTimeStore& {
    auto& store = *new AnyTimeStore();
    for (int series = 0; series < 6; ++series) {
      for (int i = 0; i < 40; ++i) {
        const double value =
            i == 20 && series == 3 ? promql::StaleMarker() : (i % 13) * (series - 1.5);
        (void)store.Append({{"__name__", series % 2 ? "x" : "y_bucket"},
                            {"a", std::to_string(series / 2)},
                            {"le", series == 0 ? "+Inf" : std::to_string(series)}},
                           i * 15'000, value);
      }
    }
    return store;
  }();
  return samples;
}

// NaN has many bits and no order; text tells all that matters.
std::string Show(const absl::StatusOr<promql::Value>& value) {
  if (!value.ok()) return value.status().ToString();
  if (const auto* scalar = std::get_if<double>(&*value)) return promql::FormatValue(*scalar);
  if (const auto* text = std::get_if<std::string>(&*value)) return *text;
  std::string shown;
  if (const auto* vector = std::get_if<promql::Vector>(&*value)) {
    for (const auto& element : *vector) {
      shown += promql::FormatLabels(element.labels) + promql::FormatValue(element.value);
    }
  }
  return shown;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4096) return 0;
  const absl::string_view query(reinterpret_cast<const char*>(data), size);
  const auto expr = promql::Parse(query);
  if (!expr.ok()) return 0;
  const std::string printed = promql::Print(**expr);
  const auto again = promql::Parse(printed);
  if (!again.ok() || promql::Print(**again) != printed) std::abort();

  for (const auto dialect : {promql::Dialect::k2, promql::Dialect::k3}) {
    promql::EvalOptions options;
    options.dialect = dialect;
    options.max_points = 20'000;
    const std::string first = Show(promql::EvalInstant(**expr, Samples(), 400'000, options));
    const std::string second = Show(promql::EvalInstant(**again, Samples(), 400'000, options));
    if (first != second) std::abort();
  }
  return 0;
}
