#include "scaler/steps/mode.h"

#include "absl/strings/match.h"

namespace flyball::scaler {
namespace {

Mode WantedMode(const Managed& managed, const ModeFlags& flags) {
  const auto& annotations = managed.autoscaler.annotations;
  const auto found = annotations.find(std::string(kModeAnnotation));
  if (found == annotations.end()) return managed.own.mode.value_or(flags.mode);
  if (absl::EqualsIgnoreCase(found->second, "act")) return Mode::kAct;
  return absl::EqualsIgnoreCase(found->second, "advise") ? Mode::kAdvise : Mode::kShadow;
}

}  // namespace

Mode EffectiveMode(const Managed& managed, const ModeFlags& flags) {
  if (managed.own.paused) return Mode::kShadow;
  const Mode mode = WantedMode(managed, flags);
  const bool stock = managed.key.kind == AutoscalerKind::kHpa && !flags.act_on_hpas;
  return mode == Mode::kAct && stock ? Mode::kShadow : mode;
}

ManagedPtr ScheduledAt(const ManagedPtr& written, const ModeFlags& flags, absl::Time now) {
  if (written->own.schedules.empty()) return written;
  const bool compared =
      written->key.kind == AutoscalerKind::kHpa && EffectiveMode(*written, flags) == Mode::kShadow;
  return compared ? written : ManagedAt(written, now);
}

}  // namespace flyball::scaler
