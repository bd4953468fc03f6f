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
#include "adapter/live/formats/samples.h"

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

// How much there is in the value of an attribute, including what is not read.
struct ValueSize {
  size_t items = 0;  // of lists and maps
  size_t bytes = 0;  // of texts and of keys within maps

  bool TooLong() const { return items > kMaxAttributeItems || bytes > kMaxLabelValueBytes; }
};

// The position of a value within an attribute.
struct Place {
  int nesting;
  ValueSize& size;

  Place Within() const { return {nesting + 1, size}; }
  // False: it must not be read, since the value is too long for a label.
  bool TakeItem() const { return ++size.items <= kMaxAttributeItems; }
  bool TakeText(absl::string_view text) const {
    size.bytes += text.size();
    return size.bytes <= kMaxLabelValueBytes;
  }
};

// Sets the key and the text of the value.
void SetAttribute(absl::string_view key, const OtlpValue& value, const ValueSize& size,
                  OtlpAttribute& attribute);

// Sets the buckets of a classic histogram; the last count, above all bounds, is not needed. Bounds
// that do not rise, or are too many, become the point's error.
void SetBuckets(absl::Span<const double> bounds, absl::Span<const uint64_t> counts,
                OtlpPoint& point);

// False: the message is malformed.
bool ReadOtlpProtobuf(absl::string_view message, OtlpSink& sink);
bool ReadOtlpJson(absl::string_view message, OtlpSink& sink);

}  // namespace flyball::formats
