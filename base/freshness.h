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

// The samples that an answer was made from, as far as their source tells of new ones. As long as it
// is held, the source goes on telling.
class SamplesRead {
 public:
  struct Version {
    std::shared_ptr<const SampleVersion> samples;
    uint64_t number = 0;
    friend bool operator==(const Version&, const Version&) = default;
  };

  // Of a source that does not tell.
  SamplesRead() = default;
  // For a source that tells: one of these versions changes whenever new samples could change the
  // answer.
  explicit SamplesRead(std::vector<Version> versions)
      : told_(true), versions_(std::move(versions)) {}

  // Whether the answer can only change after a version changes, or because time passes.
  bool told() const { return told_; }
  const std::vector<Version>& versions() const { return versions_; }

  // False as soon as a sample has arrived that the answer was not made from. Always true if the
  // source does not tell.
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
  // From then on one asker should ask anew, while the others are still given this answer.
  MonotonicTime refresh_at = absl::InfiniteDuration();
  SamplesRead samples = {};

  // What Add begins with.
  static Freshness Forever() {
    return {.fresh_until = absl::InfiniteDuration(),
            .samples = SamplesRead(std::vector<SamplesRead::Version>())};
  }

  bool HoldsAt(MonotonicTime now) const { return now < fresh_until && samples.AreNewest(); }
  bool IsDueAt(MonotonicTime now) const { return now >= refresh_at; }

  // Restricts this to the freshness of an answer that was also made from the other one. The epoch
  // stays.
  void Add(const Freshness& other) {
    fresh_until = std::min(fresh_until, other.fresh_until);
    refresh_at = std::min(refresh_at, other.refresh_at);
    samples.Add(other.samples);
  }
};

}  // namespace flyball
