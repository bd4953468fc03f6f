// Puts scraped samples into the store, and the pages' metadata into the table that pushes also use.
//
// Thread-safe.
#pragma once

#include <memory>

#include "adapter/live/receive/ingest.h"
#include "adapter/live/scrape/sample_store.h"
#include "adapter/live/store/store.h"

namespace flyball::live {

class ScrapedSamples : public scrape::SampleStore {
 public:
  // Both outlive it and the series that it opens.
  ScrapedSamples(Store& store, Ingest& ingest) : store_(store), ingest_(ingest) {}

  absl::StatusOr<std::unique_ptr<scrape::OpenSeries>> Open(const promql::LabelSet& labels,
                                                           bool asked_for_by_pods) override;
  void Note(const formats::FamilyMetadata& family, absl::string_view asking) override {
    ingest_.Note(family, asking);
  }

 private:
  Store& store_;
  Ingest& ingest_;
};

}  // namespace flyball::live
