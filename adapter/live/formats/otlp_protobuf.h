// Shared by the files that read OTLP's protobuf, and used only by them.
//
// Pure. Functions return false if the bytes are no such message.
#pragma once

#include "absl/strings/string_view.h"
#include "adapter/live/formats/otlp.h"
#include "adapter/live/formats/otlp_readers.h"

namespace flyball::formats {

class WireReader;

// Reads the field at the reader's position.
bool ReadAttribute(WireReader& reader, OtlpAttributes& attributes);

// Reads a data point of a metric of that kind.
bool ReadOtlpPoint(OtlpKind kind, absl::string_view message, OtlpPoint& point);

}  // namespace flyball::formats
