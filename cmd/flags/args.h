// What every subcommand takes, and how it ends when that makes no sense.
#pragma once

#include <string>
#include <vector>

namespace flyball::cmd {

// The words after the subcommand's own name.
using Args = std::vector<std::string>;

// Exit statuses: 0 all is well, 1 what was looked at is not, and this for words that make no sense
// or input that cannot be read. `serve` ends with 255 when it cannot start, as the original does.
inline constexpr int kUsageError = 2;

}  // namespace flyball::cmd
