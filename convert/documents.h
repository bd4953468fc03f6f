// What converters share: the objects of a file, and errors with their place. Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "convert/convert_hpa.h"
#include "scaler/spec/document.h"

namespace flyball::convert {

// Each document, and each object of a List in its place. What can't be read is an error of the
// conversion too.
absl::StatusOr<std::vector<scaler::Node>> ReadObjects(absl::string_view file,
                                                      absl::string_view text,
                                                      Conversion& conversion);

// As one line, so that a comment or message made of an object's texts ends where it should.
std::string OneLine(absl::string_view text);

// Adds `FILE:LINE: what`; without line, 0, `FILE: what`.
void AddError(absl::string_view file, int line, absl::string_view what, Conversion& conversion);
// The file has no object of the kinds that were asked for.
void AddNothing(absl::string_view file, absl::string_view kinds, Conversion& conversion);
// AddError of a message that may begin with `line N: `; `line` where it does not.
void AddDecodeError(absl::string_view file, int line, absl::string_view message,
                    Conversion& conversion);

}  // namespace flyball::convert
