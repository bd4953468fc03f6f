// The calls that the front makes to the scaler.
//
// Threads: called from any thread that calls the front, one call at a time, without a lock of the
// front. The calls must not wait: long work is queued. They may call the front.
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
  // Front::ScaleWritten, Front::ScaleRefused or Front::ScaleDelayed. Called again if more replicas
  // are needed, and after ScaleDelayed.
  virtual void WishScale(const std::string& service, int32_t at_least) = 0;

  // Zero was decided, had to wait, and may be written now. The next decision asks
  // Front::MayEnterZero, which returns true unless requests came in between.
  virtual void OfferZero(const std::string& service) = 0;

  // Front::Wanted now returns another count.
  virtual void DesiredChanged(const std::string& service) = 0;

  // Asks for one probe of a pod's readiness, with a timeout of 300 ms. Always answered by
  // Front::Probed.
  virtual void StartProbe(const std::string& service, const std::string& uid,
                          const std::string& address) = 0;

  // Front::Advance is to be called at this time, which is earlier than the one that it returned.
  virtual void WakeAt(absl::Time time) = 0;

  virtual void Tell(const Notice& notice) = 0;
  virtual void Tell(const std::string& service, const ColdStart& cold_start) = 0;
};

}  // namespace flyball::front
