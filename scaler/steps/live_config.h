// LiveConfig: the configurations of the math while the scaler runs. They are made anew when the
// cluster turns out to be of another version.
//
// Thread-safe. A cycle takes what Get gives once, and goes by it to its end.
#pragma once

#include <memory>

#include "base/snapshot.h"
#include "scaler/math/math_config.h"
#include "scaler/spec/dialect.h"
#include "scaler/stores/managed.h"

namespace flyball::scaler {

struct MathConfigs {
  MathConfigs(const ControllerFlags& flags, const Dialect& its_dialect)
      : dialect(its_dialect), hpa(MathConfigOf(flags, its_dialect)), own(ForOwnKind(hpa)) {}

  const MathConfig& Of(AutoscalerKind kind) const {
    return kind == AutoscalerKind::kOwn ? own : hpa;
  }

  const Dialect dialect;
  const MathConfig hpa, own;
};
using MathConfigsPtr = std::shared_ptr<const MathConfigs>;

class LiveConfig {
 public:
  LiveConfig(const ControllerFlags& flags, const Dialect& dialect) : flags_(flags) { Use(dialect); }

  MathConfigsPtr Get() const { return configs_.Get(); }

  // From now on cycles go by that dialect. Of one thread at a time.
  void Use(const Dialect& dialect) {
    const MathConfigsPtr before = Get();
    if (before != nullptr && before->dialect == dialect) return;
    configs_.Set(std::make_shared<const MathConfigs>(flags_, dialect));
  }

 private:
  const ControllerFlags flags_;
  Snapshot<MathConfigs> configs_;
};

}  // namespace flyball::scaler
