// Values of prometheus-adapter's Helm chart, as values of this project's chart.
//
// Pure. Nearly all names and meanings are the same in both charts, so most values are taken as they
// are. What names the other program's image, what has no effect any more and what this chart does
// not know (its schema refuses it) is left out, each with a remark.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "convert/convert_hpa.h"

namespace flyball::convert {

// `path`: the keys down to the chart's own values, as [prometheus-adapter] in those of a chart
// around it; the result has the chart's own values alone. `schema`: the chart's values.schema.json.
// The remarks stand as comments at the head of the YAML, each with the line of the value.
Conversion ConvertValues(absl::string_view file, absl::string_view text,
                         const std::vector<std::string>& path, absl::string_view schema);

}  // namespace flyball::convert
