#include "scaler/front/service_state.h"

namespace flyball::front {
namespace {

struct Transition {
  ServiceState from;
  bool ServiceFacts::*when;
  ServiceState to;
};

using enum ServiceState;

// The first row that holds counts.
constexpr Transition kTransitions[] = {
    {kZero, &ServiceFacts::has_pod, kOpening},
    {kZero, &ServiceFacts::wanted, kActivating},
    {kActivating, &ServiceFacts::has_pod, kOpening},
    {kActivating, &ServiceFacts::refused, kFailing},
    {kActivating, &ServiceFacts::zero_entered, kZero},
    {kOpening, &ServiceFacts::has_no_pod, kZero},
    {kOpening, &ServiceFacts::opened, kOpen},
    {kOpen, &ServiceFacts::has_no_pod, kZero},
    {kOpen, &ServiceFacts::may_close, kClosing},
    {kClosing, &ServiceFacts::zero_entered, kZero},
    {kClosing, &ServiceFacts::has_no_pod, kZero},
    {kClosing, &ServiceFacts::wanted, kOpen},
    {kFailing, &ServiceFacts::has_pod, kOpening},
    {kFailing, &ServiceFacts::backed_off, kZero},
};

}  // namespace

ServiceState NextState(ServiceState state, const ServiceFacts& facts) {
  for (const Transition& each : kTransitions) {
    if (each.from == state && facts.*each.when) return each.to;
  }
  return state;
}

}  // namespace flyball::front
