// What the front asks of the scaler, and reports to it.
//
// Threads: called from any thread that calls the front, one call at a time, while no lock of the
// front is held. The calls must not wait: they queue what takes long. They may call the front.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "scaler/front/notices.h"

namespace flyball::front {

class FrontObserver {
 public:
  virtual ~FrontObserver() = default;

  // Requests are held: the scale is to be raised to at least this at once. Answered by
  // Front::ScaleWritten, Front::ScaleRefused or Front::ScaleDelayed. Called again when more
  // replicas are needed, and after ScaleDelayed.
  virtual void WishScale(const std::string& service, int32_t at_least) = 0;

  // Zero was decided and had to wait; now it may be written. The next decision asks
  // Front::MayEnterZero, which returns true unless requests came meanwhile.
  virtual void OfferZero(const std::string& service) = 0;

  // Front::Wanted returns another count now.
  virtual void DesiredChanged(const std::string& service) = 0;

  // A pod is to be asked once whether it is ready, with a timeout of 300 ms. Always answered by
  // Front::Probed.
  virtual void StartProbe(const std::string& service, const std::string& uid,
                          const std::string& address) = 0;

  // Front::Advance is to be called at this time, which is earlier than the one that it returned.
  virtual void WakeAt(absl::Time time) = 0;

  virtual void Tell(const Notice& notice) = 0;
  virtual void Tell(const std::string& service, const ColdStart& cold_start) = 0;
};

}  // namespace flyball::front
