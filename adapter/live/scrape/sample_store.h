// The interface of the store that scraped samples go into.
//
// Times are int64 milliseconds since the epoch. Implementations are thread-safe; one open series is
// used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "adapter/live/formats/samples.h"
#include "promql/labels.h"

namespace flyball::scrape {

class OpenSeries {
 public:
  virtual ~OpenSeries() = default;
  //   kAlreadyExists  the series has another value at that time
  //   kOutOfRange     too old, or too far ahead of now
  //   kNotFound       the store has dropped the series, which has to be opened again
  virtual absl::Status Append(int64_t time_ms, double value, int64_t now_ms) = 0;
};

class SampleStore {
 public:
  virtual ~SampleStore() = default;
  // Labels are sorted, none of them empty. Never null: a series that nothing uses accepts samples
  // and drops them. An error: the store refuses the series; kResourceExhausted: there is no room.
  // `asked_for_by_pods`: one namespace must leave room for the others.
  virtual absl::StatusOr<std::unique_ptr<OpenSeries>> Open(const promql::LabelSet& labels,
                                                           bool asked_for_by_pods) = 0;
  // Takes metadata from a page. `asking`: the namespace of the pod that asked for the scrape, or
  // "".
  virtual void Note(const formats::FamilyMetadata& /*family*/, absl::string_view /*asking*/) {}
};

}  // namespace flyball::scrape
