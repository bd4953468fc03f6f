#include "scaler/steps/mode.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

#include "scaler/spec/schedules_read.h"

namespace flyball::scaler {
namespace {

struct ModeRow {
  const char* name;
  AutoscalerKind kind;
  std::optional<Mode> spec;
  const char* annotation;  // nullptr: none
  Mode flag;
  bool act_on_hpas;
  Mode expected;
  bool paused = false;
};

class EffectiveModeTest : public testing::TestWithParam<ModeRow> {};

TEST_P(EffectiveModeTest, Row) {
  const ModeRow& row = GetParam();
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
    testing::Values(
        ModeRow{"HpasAreShadowed", kHpa, {}, nullptr, kShadow, false, kShadow},
        ModeRow{"HpasAreActedOn", kHpa, {}, nullptr, kAct, true, kAct},
        ModeRow{"HpasNeedTheirOwnFlag", kHpa, {}, nullptr, kAct, false, kShadow},
        ModeRow{"AlsoWithTheAnnotation", kHpa, {}, "act", kShadow, false, kShadow},
        ModeRow{"TheAnnotationActs", kHpa, {}, "act", kShadow, true, kAct},
        ModeRow{"TheAnnotationInAnyCase", kHpa, {}, "Act", kShadow, true, kAct},
        ModeRow{"TheAnnotationAdvisesInAnyCase", kOwn, {}, "ADVISE", kAct, false, kAdvise},
        ModeRow{"TheAnnotationHoldsBack", kHpa, {}, "shadow", kAct, true, kShadow},
        ModeRow{"HpasAreAdvised", kHpa, {}, nullptr, kAdvise, false, kAdvise},
        ModeRow{"OwnFollowsTheFlag", kOwn, {}, nullptr, kAct, false, kAct},
        ModeRow{"OwnSpecWinsOverTheFlag", kOwn, kAdvise, nullptr, kAct, false, kAdvise},
        ModeRow{"AnnotationWinsOverTheSpec", kOwn, kAdvise, "act", kShadow, false, kAct},
        ModeRow{"AMisspeltAnnotationIsShadow", kOwn, kAct, "atc", kAct, true, kShadow},
        ModeRow{"PausedIsShadow", kOwn, kAct, "act", kAct, true, kShadow, true}),
    [](const auto& info) { return info.param.name; });

// Open for all of the 24th.
ManagedPtr WithSchedule(AutoscalerKind kind) {
  Autoscaler spec;
  spec.min_replicas = 2;
  spec.max_replicas = 10;
  spec.annotations["flyball.dev/schedules"] =
      "[{name: a, start: 0 0 24 12 *, end: 0 0 25 12 *, minReplicas: 4},"
      " {name: b, start: 0 12 24 12 *, end: 0 0 25 12 *, paused: true}]";
  auto managed = std::make_shared<Managed>();
  managed->key = {.kind = kind, .ns = "shop", .name = "web"};
  managed->autoscaler = spec;
  managed->spec_hash = 7;
  FieldErrors errors;
  managed->own.schedules = ReadScheduleAnnotations(spec, errors);
  EXPECT_TRUE(std::move(errors).Sorted().empty());
  return managed;
}

absl::Time Hour(int day, int hour) {
  return absl::FromCivil(absl::CivilHour(2026, 12, day, hour), absl::UTCTimeZone());
}

TEST(ScheduledAtTest, WhatIsActedOnIsWhatItsSchedulesMakeOfIt) {
  const ModeFlags act = {.mode = Mode::kAct, .act_on_hpas = true};
  for (const AutoscalerKind kind : {kHpa, kOwn}) {
    const ManagedPtr written = WithSchedule(kind);
    EXPECT_EQ(ScheduledAt(written, act, Hour(23, 23)), written);
    EXPECT_EQ(ScheduledAt(written, act, Hour(25, 0)), written);
    const ManagedPtr open = ScheduledAt(written, act, Hour(24, 0));
    EXPECT_EQ(open->autoscaler.min_replicas, 4);
    EXPECT_EQ(open->autoscaler.max_replicas, 10);
    EXPECT_EQ(open->scheduled, "schedule \"a\": minReplicas 4");
    EXPECT_NE(open->spec_hash, written->spec_hash);
    EXPECT_EQ(open->spec_hash, ScheduledAt(written, act, Hour(24, 11))->spec_hash);
    EXPECT_EQ(EffectiveMode(*open, act), kAct);
    const ManagedPtr paused = ScheduledAt(written, act, Hour(24, 12));
    EXPECT_EQ(EffectiveMode(*paused, act), kShadow);
    EXPECT_NE(paused->spec_hash, open->spec_hash);
  }
}

TEST(ScheduledAtTest, AnHpaThatIsComparedStaysAsItIsWritten) {
  const ManagedPtr hpa = WithSchedule(kHpa);
  EXPECT_EQ(ScheduledAt(hpa, {.mode = Mode::kAct, .act_on_hpas = false}, Hour(24, 0)), hpa);
  EXPECT_NE(ScheduledAt(hpa, {.mode = Mode::kAdvise, .act_on_hpas = false}, Hour(24, 0)), hpa);
  const ManagedPtr own = WithSchedule(kOwn);
  EXPECT_NE(ScheduledAt(own, {.mode = Mode::kShadow, .act_on_hpas = false}, Hour(24, 0)), own);
}

}  // namespace
}  // namespace flyball::scaler
