// Which version of Prometheus is reproduced where 2.x and 3.x answer the same query differently.
#pragma once

namespace flyball::promql {

// k2 is Prometheus 2.42.0 (Debian 12), k3 is 3.15.0. Both read newer syntax; only evaluation
// differs: windows are closed at the left in 2 and open in 3, and further cases are named where
// they occur.
enum class Dialect { k2, k3 };

}  // namespace flyball::promql
