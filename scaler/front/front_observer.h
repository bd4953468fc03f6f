// What the front asks of the one who scales and reports.
//
// Threads: called from whichever thread brought the news, one call at a time, without a lock of the
// front. No call waits: it queues what takes long. Calls may call the front again.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "scaler/front/notices.h"

namespace flyball::front {

class FrontObserver {
 public:
  virtual ~FrontObserver() = default;

  // Requests are held: the scale is to be at least this at once. Answered by Front::ScaleWritten,
  // Front::ScaleRefused or Front::ScaleDelayed. Told again when more are needed, and after a delay.
  virtual void WishScale(const std::string& service, int32_t at_least) = 0;

  // Zero was decided and had to wait; now it may be written. Whoever decides again asks
  // Front::MayEnterZero, which says yes unless requests came meanwhile.
  virtual void OfferZero(const std::string& service) = 0;

  // Front::Wanted has another answer.
  virtual void DesiredChanged(const std::string& service) = 0;

  // A pod is to be asked, once, whether it is ready, with a time-out of 300 ms. Answered by
  // Front::Probed, always.
  virtual void StartProbe(const std::string& service, const std::string& uid,
                          const std::string& address) = 0;

  // Front::Advance is wanted at this time, which is earlier than it said itself.
  virtual void WakeAt(absl::Time time) = 0;

  virtual void Tell(const Notice& notice) = 0;
  virtual void Tell(const std::string& service, const ColdStart& cold_start) = 0;
};

}  // namespace flyball::front
