// What the readers of OTLP's two encodings share. Used by them alone.
//
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "adapter/live/formats/otlp.h"
#include "adapter/live/formats/otlp_attributes.h"

namespace flyball::formats {

// A point's flag.
inline constexpr uint64_t kOtlpNoRecordedValue = 1;

// What has no meaning is kUnspecified.
inline OtlpTemporality OtlpTemporalityOf(uint64_t number) {
  return number == 1   ? OtlpTemporality::kDelta
         : number == 2 ? OtlpTemporality::kCumulative
                       : OtlpTemporality::kUnspecified;
}

// Of the constants of otlp.h, whatever a point has too many of.
absl::Status TooMany(absl::string_view what, size_t limit);

// Where in an attribute a value is.
struct Place {
  int nesting;
  size_t& items;  // of lists and maps so far; of what is beyond the limit nothing is read

  Place Within() const { return {nesting + 1, items}; }
  bool TakeItem() const { return ++items <= kMaxAttributeItems; }
};

// The text of the value. `items`: of its lists and maps, those too that were not read.
void SetAttributeText(const OtlpValue& value, size_t items, OtlpAttribute& attribute);

// Buckets of a classic histogram; the last count, above all bounds, is not needed. Bounds that do
// not rise, or too many of them, are the point's error.
void SetBuckets(absl::Span<const double> bounds, absl::Span<const uint64_t> counts,
                OtlpPoint& point);

// False: this is no such message.
bool ReadOtlpProtobuf(absl::string_view message, OtlpSink& sink);
bool ReadOtlpJson(absl::string_view message, OtlpSink& sink);

}  // namespace flyball::formats
