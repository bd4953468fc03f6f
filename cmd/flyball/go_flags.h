// Adds options to a CLI::App in the manner of Go's flags: the last value of a flag wins, lists are
// cut at commas, and a list flag that is given replaces its default.
//
// The values are written while the words are parsed; they outlive the app. Names are without
// dashes.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace CLI {
class App;
}

namespace flyball::cmd {

class GoFlags {
 public:
  explicit GoFlags(CLI::App& app) : app_(app) {}

  void String(const char* name, std::string& value, const char* help);
  void Int(const char* name, int& value, const char* help);
  void Float(const char* name, double& value, const char* help);
  void Bool(const char* name, bool& value, const char* help);
  void Duration(const char* name, absl::Duration& value, const char* help);
  // Each occurrence is one value.
  void Repeated(const char* name, std::vector<std::string>& value, const char* help);
  // Comma lists.
  void List(const char* name, std::vector<std::string>& value, const char* help);

 private:
  CLI::App& app_;
};

// `90s`, `1h30m`, `0`, as Go's time.ParseDuration.
absl::StatusOr<absl::Duration> ParseGoDuration(const std::string& text);

}  // namespace flyball::cmd
