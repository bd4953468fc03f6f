// Since when the live source has all samples of the series that a selector matches.
//
// Pure, immutable, safe on any thread. What is kept follows the rules: series that a reload begins
// to keep have no samples of before, and what was not kept must not be taken for absent. Times in
// milliseconds since the epoch.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "adapter/live/store/selector_table.h"

namespace flyball::adapter {

class KeptSince {
 public:
  struct Kept {
    live::Selector selector;
    int64_t since_ms = 0;
  };

  // Of selectors of which each is kept since a time of its own.
  explicit KeptSince(std::vector<Kept> kept) : kept_(std::move(kept)) {}
  // Every series is kept since then.
  static KeptSince Everything(int64_t since_ms) { return KeptSince({{{}, since_ms}}); }

  // The same once these are kept instead (nullopt: every series): what was kept goes on, the rest
  // begins at `now_ms`.
  KeptSince After(const std::optional<std::vector<live::Selector>>& selectors,
                  int64_t now_ms) const;

  // The same, but what this selector keeps is known since then, if that is earlier.
  KeptSince Earlier(const live::Selector& selector, int64_t since_ms) const;

  // The same, all of it known since then.
  KeptSince Anew(int64_t since_ms) const;

  // Of a selector that no kept one contains it is when the last of them began.
  int64_t Of(const live::Selector& selector) const;

 private:
  // nullopt: no kept selector contains it, as one does whose matchers are all among its own.
  std::optional<int64_t> Contained(const live::Selector& selector) const;

  std::vector<Kept> kept_;
};

}  // namespace flyball::adapter
