// How long an answer may be reused for the same question: until a time, while its provider's epoch
// is the same, and while the samples that it was made from are the newest. The default forbids
// reuse.
//
// Thread-safe to read. Times are of the monotonic clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/sample_version.h"

namespace flyball {

// The samples that an answer was made from, if their source reports new ones. The source keeps
// reporting as long as this object is held.
class SamplesRead {
 public:
  struct Version {
    std::shared_ptr<const SampleVersion> samples;
    uint64_t number = 0;
    friend bool operator==(const Version&, const Version&) = default;
  };

  // For a source that does not report samples.
  SamplesRead() = default;
  // For a source that does: one of these versions changes whenever new samples could change the
  // answer.
  explicit SamplesRead(std::vector<Version> versions)
      : told_(true), versions_(std::move(versions)) {}

  // Whether the answer can only change after a version changes, or because time passes.
  bool told() const { return told_; }
  const std::vector<Version>& versions() const { return versions_; }

  // False as soon as a sample has arrived that the answer was not made from. Always true if the
  // source does not report samples.
  bool AreNewest() const {
    return std::all_of(versions_.begin(), versions_.end(), [](const Version& version) {
      return version.samples->number() == version.number;
    });
  }

  void Add(const SamplesRead& other) {
    told_ = told_ && other.told_;
    for (const Version& version : other.versions_) {
      if (std::find(versions_.begin(), versions_.end(), version) == versions_.end()) {
        versions_.push_back(version);
      }
    }
  }

 private:
  bool told_ = false;
  std::vector<Version> versions_;
};

struct Freshness {
  MonotonicTime fresh_until = absl::ZeroDuration();
  uint64_t epoch = 0;
  // From this time one caller should ask anew, while the others still get this answer.
  MonotonicTime refresh_at = absl::InfiniteDuration();
  SamplesRead samples = {};

  // The start value for Add.
  static Freshness Forever() {
    return {.fresh_until = absl::InfiniteDuration(),
            .samples = SamplesRead(std::vector<SamplesRead::Version>())};
  }

  bool HoldsAt(MonotonicTime now) const { return now < fresh_until && samples.AreNewest(); }
  bool IsDueAt(MonotonicTime now) const { return now >= refresh_at; }

  // Restricts this to the freshness of another answer, if the result was made from both. The epoch
  // is not changed.
  void Add(const Freshness& other) {
    fresh_until = std::min(fresh_until, other.fresh_until);
    refresh_at = std::min(refresh_at, other.refresh_at);
    samples.Add(other.samples);
  }
};

}  // namespace flyball
