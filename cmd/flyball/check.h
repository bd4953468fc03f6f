// `flyball check rules`: says what is wrong with rule files, without a cluster or a Prometheus.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace flyball::cmd {

// Findings go to `err`, one a line as `file:line:column: field: message`; a line for each file that
// passes to `out`. Returns the exit status: 0, or 1 if a file fails. `strict`: warnings fail as
// well.
int CheckRules(const std::vector<std::string>& files, bool strict, std::ostream& out,
               std::ostream& err);

}  // namespace flyball::cmd
