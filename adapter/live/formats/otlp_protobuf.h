// What the files that read OTLP's protobuf share. Used by them alone.
//
// Pure. Functions return false where the bytes are no such message.
#pragma once

#include "absl/strings/string_view.h"
#include "adapter/live/formats/otlp.h"
#include "adapter/live/formats/otlp_readers.h"

namespace flyball::formats {

class WireReader;

// The field that the reader stands at.
bool ReadAttribute(WireReader& reader, OtlpAttributes& attributes);

// A data point of a metric of that kind.
bool ReadOtlpPoint(OtlpKind kind, absl::string_view message, OtlpPoint& point);

}  // namespace flyball::formats
