#include "scaler/steps/mode.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace flyball::scaler {
namespace {

struct Row {
  const char* name;
  AutoscalerKind kind;
  std::optional<Mode> spec;
  const char* annotation;  // nullptr: none
  Mode flag;
  bool act_on_hpas;
  Mode expected;
  bool paused = false;
};

class EffectiveModeTest : public testing::TestWithParam<Row> {};

TEST_P(EffectiveModeTest, Row) {
  const Row& row = GetParam();
  Managed managed;
  managed.key.kind = row.kind;
  managed.own.mode = row.spec;
  managed.own.paused = row.paused;
  if (row.annotation != nullptr) {
    managed.autoscaler.annotations["flyball.dev/mode"] = row.annotation;
  }
  EXPECT_EQ(EffectiveMode(managed, {.mode = row.flag, .act_on_hpas = row.act_on_hpas}),
            row.expected);
}

constexpr auto kHpa = AutoscalerKind::kHpa;
constexpr auto kOwn = AutoscalerKind::kOwn;
constexpr auto kShadow = Mode::kShadow;
constexpr auto kAdvise = Mode::kAdvise;
constexpr auto kAct = Mode::kAct;

INSTANTIATE_TEST_SUITE_P(
    Modes, EffectiveModeTest,
    testing::Values(Row{"HpasAreShadowed", kHpa, {}, nullptr, kShadow, false, kShadow},
                    Row{"HpasAreActedOn", kHpa, {}, nullptr, kAct, true, kAct},
                    Row{"HpasNeedTheirOwnFlag", kHpa, {}, nullptr, kAct, false, kShadow},
                    Row{"AlsoWithTheAnnotation", kHpa, {}, "act", kShadow, false, kShadow},
                    Row{"TheAnnotationActs", kHpa, {}, "act", kShadow, true, kAct},
                    Row{"TheAnnotationHoldsBack", kHpa, {}, "shadow", kAct, true, kShadow},
                    Row{"HpasAreAdvised", kHpa, {}, nullptr, kAdvise, false, kAdvise},
                    Row{"OwnFollowsTheFlag", kOwn, {}, nullptr, kAct, false, kAct},
                    Row{"OwnSpecWinsOverTheFlag", kOwn, kAdvise, nullptr, kAct, false, kAdvise},
                    Row{"AnnotationWinsOverTheSpec", kOwn, kAdvise, "act", kShadow, false, kAct},
                    Row{"AMisspeltAnnotationIsShadow", kOwn, kAct, "atc", kAct, true, kShadow},
                    Row{"PausedIsShadow", kOwn, kAct, "act", kAct, true, kShadow, true}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace flyball::scaler
