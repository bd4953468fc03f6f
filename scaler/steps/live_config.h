// LiveConfig: the configurations of the math while the scaler runs. They are replaced when the
// cluster's version changes.
//
// Thread-safe. A cycle calls Get once and uses the result to its end.
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

  // Cycles that begin from now on use that dialect. To be called by one thread at a time.
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
