// Since when the live source has all samples of the series that a selector matches.
//
// Pure, immutable, safe on any thread. The rules determine which series are kept: series that are
// kept only since a reload have no earlier samples, which must not be mistaken for absence. Times
// in milliseconds since the epoch.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "adapter/live/store/selector_table.h"

namespace flyball::adapter {

class KeptSince {
 public:
  using Kept = live::KeptSelector;

  // Each selector has its own time.
  explicit KeptSince(std::vector<Kept> kept) : kept_(std::move(kept)) {}

  // The result of keeping these selectors from `now_ms` on (nullopt: every series): what was kept
  // before keeps its time, everything else begins at `now_ms`.
  KeptSince After(const std::optional<std::vector<live::Selector>>& selectors,
                  int64_t now_ms) const;

  // A copy in which this selector is kept since `since_ms`, if that is earlier.
  KeptSince Earlier(const live::Selector& selector, int64_t since_ms) const;

  // A copy in which selectors kept since `from_ms` or later are kept since `to_ms` or later.
  KeptSince NotBefore(int64_t from_ms, int64_t to_ms) const;

  // A copy in which every selector is kept since `since_ms`.
  KeptSince Anew(int64_t since_ms) const;

  // Since when the series of a selector are kept. If no kept selector contains it, that is when the
  // last of them began; or the greatest number if certainly none of its series is kept, as after a
  // reload for a query of the rules before it.
  int64_t Of(const live::Selector& selector) const;

  const std::vector<Kept>& kept() const { return kept_; }

 private:
  // Does the same; nullopt if no kept selector contains it. A selector contains another one if each
  // of its matchers is implied by one of the other: `ns!=""` by `ns="x"`.
  std::optional<int64_t> Contained(const live::Selector& selector) const;

  std::vector<Kept> kept_;
};

}  // namespace flyball::adapter
