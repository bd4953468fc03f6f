#include "scaler/spec/shown_gates.h"

#include <algorithm>

namespace flyball::scaler {
namespace {

constexpr char kGate[] = "HPAScaleToZero";
constexpr int kFirstWithTheCondition = 36;

}  // namespace

bool ShowsScaleToZero(const AutoscalerStatus& status) {
  return std::any_of(status.conditions.begin(), status.conditions.end(),
                     [](const Condition& one) { return one.type == "ScaledToZero"; });
}

DialectChoice WithScaleToZeroShown(DialectChoice choice, const ServerVersion& server) {
  const int minor = server.emulated_minor.value_or(server.minor);
  if (!choice.minor.has_value() && minor >= kFirstWithTheCondition) {
    choice.gates.emplace(kGate, true);
  }
  return choice;
}

}  // namespace flyball::scaler
