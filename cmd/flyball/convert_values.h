// The flags and the run of `flyball convert values`. The code that converts is in convert/.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace flyball::cmd {

struct ConvertValuesFlags {
  std::string file, path;
};

CLI::App* AddConvertValues(CLI::App& app, ConvertValuesFlags& flags);
// Prints the values or the errors, and returns the exit status.
int RunConvertValues(const ConvertValuesFlags& flags);

}  // namespace flyball::cmd
