// How long the answer to a question may be given again to the same question: until a time, while
// the epoch of whoever made it is the same, and while the samples that it was made of are the
// newest. The default forbids it.
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

// Which samples an answer was made of, as far as their source tells of new ones. Holding it keeps
// the source telling.
class SamplesRead {
 public:
  struct Version {
    std::shared_ptr<const SampleVersion> samples;
    uint64_t number = 0;
    friend bool operator==(const Version&, const Version&) = default;
  };

  // Of a source that does not tell.
  SamplesRead() = default;
  // Of one that tells: whenever another answer could be made of other samples, one of these moves.
  explicit SamplesRead(std::vector<Version> versions)
      : told_(true), versions_(std::move(versions)) {}

  // Nobody has to ask again before a version moves, but for the time that passes.
  bool told() const { return told_; }
  const std::vector<Version>& versions() const { return versions_; }

  // False as soon as a sample came that the answer was not made of. Always true where the source
  // does not tell.
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

  // As that of an answer that was also made of the other one; the epoch is their maker's.
  void Add(const Freshness& other) {
    fresh_until = std::min(fresh_until, other.fresh_until);
    refresh_at = std::min(refresh_at, other.refresh_at);
    samples.Add(other.samples);
  }
};

}  // namespace flyball
