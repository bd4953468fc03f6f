// Shared by the readers of OTLP's two encodings, and used only by them.
//
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "adapter/live/formats/otlp.h"
#include "adapter/live/formats/otlp_attributes.h"

namespace flyball::formats {

// A point's flag.
inline constexpr uint64_t kOtlpNoRecordedValue = 1;

// A number without a meaning is kUnspecified.
inline OtlpTemporality OtlpTemporalityOf(uint64_t number) {
  return number == 1   ? OtlpTemporality::kDelta
         : number == 2 ? OtlpTemporality::kCumulative
                       : OtlpTemporality::kUnspecified;
}

// The error of a point that exceeds one of the limits in otlp.h; `what` it has too many of.
absl::Status TooMany(absl::string_view what, size_t limit);

// The position of a value within an attribute.
struct Place {
  int nesting;
  size_t& items;  // in lists and maps so far; beyond the limit nothing is read

  Place Within() const { return {nesting + 1, items}; }
  bool TakeItem() const { return ++items <= kMaxAttributeItems; }
};

// Sets the text of the value. `items` counts those of its lists and maps, including unread ones.
void SetAttributeText(const OtlpValue& value, size_t items, OtlpAttribute& attribute);

// Sets the buckets of a classic histogram; the last count, above all bounds, is not needed. Bounds
// that do not rise, or are too many, become the point's error.
void SetBuckets(absl::Span<const double> bounds, absl::Span<const uint64_t> counts,
                OtlpPoint& point);

// False: the message is malformed.
bool ReadOtlpProtobuf(absl::string_view message, OtlpSink& sink);
bool ReadOtlpJson(absl::string_view message, OtlpSink& sink);

}  // namespace flyball::formats
