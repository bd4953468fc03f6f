// The version of Prometheus that is reproduced where 2.x and 3.x answer the same query differently.
#pragma once

namespace flyball::promql {

// k2 is Prometheus 2.42.0 (Debian 12), k3 is 3.15.0. Newer syntax is read in both; only evaluation
// differs: windows are closed at the left in 2 and open in 3, and further cases named where they
// are.
enum class Dialect { k2, k3 };

}  // namespace flyball::promql
