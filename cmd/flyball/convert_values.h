// flyball convert values: its flags and what it does. The work is convert's.
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
// Prints the values, or the errors; the exit status.
int RunConvertValues(const ConvertValuesFlags& flags);

}  // namespace flyball::cmd
