// The store as those who scrape see it.
//
// Thread-safe, as the store is.
#pragma once

#include <memory>

#include "adapter/live/scrape/sample_store.h"
#include "adapter/live/store/store.h"

namespace flyball::live {

class ScrapedSamples : public scrape::SampleStore {
 public:
  // The store outlives it, and what it opens.
  explicit ScrapedSamples(Store& store) : store_(store) {}

  absl::StatusOr<std::unique_ptr<scrape::OpenSeries>> Open(const promql::LabelSet& labels) override;

 private:
  Store& store_;
};

}  // namespace flyball::live
