#include "scaler/steps/read_step.h"

#include <gtest/gtest.h>

#include <memory>

namespace flyball::scaler {
namespace {

TEST(ReadStep, AScaleMayBeOldIfItsWatchFailsOrHasToldOfAnotherCountSince) {
  const auto object = std::make_shared<ScaleStore::ObjectScale>();
  const auto tell = [&object](int32_t replicas) {
    auto scale = std::make_shared<kube::Scale>();
    scale->spec_replicas = replicas;
    object->scale.Set(std::move(scale));
  };
  CycleInputs inputs;
  EXPECT_FALSE(ReadStep::MayBeOld(inputs));
  inputs.target.place.object = object;
  inputs.scale.answer.spec_replicas = 4;
  tell(4);
  EXPECT_FALSE(ReadStep::MayBeOld(inputs));
  tell(10);
  EXPECT_TRUE(ReadStep::MayBeOld(inputs));
  // It was asked for, since the watch has failed for long.
  inputs.scale.version = ScaleReading::kAsked;
  EXPECT_FALSE(ReadStep::MayBeOld(inputs));
  inputs.scale.failure = "the watch of deployments fails";
  EXPECT_TRUE(ReadStep::MayBeOld(inputs));
}

}  // namespace
}  // namespace flyball::scaler
