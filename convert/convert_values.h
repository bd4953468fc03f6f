// Converts values of prometheus-adapter's Helm chart to values of this project's chart.
//
// Pure. Nearly all names and meanings are the same in both charts, so most values are kept
// unchanged. Values that name the other program's image, that have no effect any more, or that this
// chart's schema refuses are left out, each with a remark.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "convert/convert_hpa.h"

namespace flyball::convert {

// `path`: the keys that lead to the chart's own values, such as [prometheus-adapter] in the values
// of a parent chart; the result has only the chart's own values. `schema`: values.schema.json of
// this project's chart. The YAML begins with the remarks as comments, each with the value's line.
Conversion ConvertValues(absl::string_view file, absl::string_view text,
                         const std::vector<std::string>& path, absl::string_view schema);

}  // namespace flyball::convert
