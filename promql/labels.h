// What names a series: its labels.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace flyball::promql {

// Name and value of each label, sorted by name, none of them empty; `__name__` among them.
using LabelSet = std::vector<std::pair<std::string, std::string>>;

}  // namespace flyball::promql
