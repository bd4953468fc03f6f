// The arguments of every subcommand, and its exit status if they are wrong.
#pragma once

#include <string>
#include <vector>

namespace flyball::cmd {

// The words after the subcommand's own name.
using Args = std::vector<std::string>;

// Exit statuses: 0 if all is well, 1 if the examined object is not, and this one for a wrong
// command line or unreadable input. `serve` ends with 255 if it cannot start, like
// prometheus-adapter.
inline constexpr int kUsageError = 2;

}  // namespace flyball::cmd
