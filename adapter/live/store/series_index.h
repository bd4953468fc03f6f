// Finds series by their labels.
//
// Not thread-safe for writing. For each label and value it has the numbers of the series with that
// label. A selector uses only its most selective matcher here, so that its cost depends on what
// that matcher finds and not on the size of the store. The other matchers are tested without the
// index (and its lock), since series never change their labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "adapter/live/store/selector_table.h"
#include "adapter/live/store/stored_series.h"
#include "promql/engine/interruption.h"

namespace flyball::live {

using SeriesPtr = std::shared_ptr<StoredSeries>;

class SeriesIndex {
 public:
  size_t size() const { return by_labels_.size(); }

  // nullptr: there is none.
  SeriesPtr Find(const promql::Labels& labels) const;

  // There must be no series with these labels. Returns whether there is also none with the same
  // metric name and label names.
  bool Add(SeriesPtr series);

  // Ignores series that are not in the index. The cost is that of all series that share a label
  // with one of them, so it is better to remove many at once.
  void Remove(const std::vector<SeriesPtr>& gone);

  // Unsorted series: all that match, and possibly others.
  struct Candidates {
    std::vector<SeriesPtr> series;
    const promql::Matcher* matched = nullptr;  // the selector's matcher that each of them matches
  };
  // No matcher: all series. Except for copying the result the work is bounded, since the index may
  // be locked meanwhile.
  Candidates FindCandidates(const Selector& selector) const;

 private:
  using Ids = absl::InlinedVector<uint32_t, 4>;  // unsorted
  using IdsByValue = absl::flat_hash_map<std::string, Ids>;
  using IdsByLabel = absl::flat_hash_map<std::string, IdsByValue>;

  struct HashLabels {
    using is_transparent = void;
    size_t operator()(const promql::Labels& labels) const { return labels.hash(); }
    size_t operator()(const StoredSeries* series) const { return series->labels().hash(); }
  };
  struct SameLabels {
    using is_transparent = void;
    static const promql::Labels& Of(const promql::Labels& labels) { return labels; }
    static const promql::Labels& Of(const StoredSeries* series) { return series->labels(); }
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return Of(a) == Of(b);
    }
  };
  // The places where the series of a selector can be found.
  struct Place {
    bool all = true;
    std::vector<const Ids*> ids{};  // else these, which have no series in common
    size_t count = 0;
    const promql::Matcher* matcher = nullptr;  // matched by each of them
  };

  Place FindPlace(const Selector& selector) const;
  void NarrowByEqual(const promql::Matcher& matcher, Place& best) const;
  // `steps`: how many steps of a WorkMeter it may take; it subtracts those that it takes.
  void NarrowByValues(const promql::Matcher& matcher, size_t& steps, Place& best) const;

  std::vector<SeriesPtr> by_id_;  // nullptr: no series has the number
  std::vector<uint32_t> free_ids_;
  absl::flat_hash_map<const StoredSeries*, uint32_t, HashLabels, SameLabels> by_labels_;
  IdsByLabel ids_;
  absl::flat_hash_map<size_t, size_t> by_names_;  // by HashOfNames: number of series
};

// Removes the candidates that do not match. Needs no index. Errors: those of `interrupted`.
absl::Status KeepMatching(const Selector& selector, const promql::Interrupted& interrupted,
                          SeriesIndex::Candidates& candidates);

// The texts that `a|b\.c` can match, if the regular expression consists only of literals: values
// that can be looked up. nullopt: it has other parts.
std::optional<std::vector<std::string>> LiteralAlternatives(absl::string_view pattern);

}  // namespace flyball::live
