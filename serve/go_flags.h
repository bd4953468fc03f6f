// Adds options to a CLI::App that behave like Go's flags: the last value of a flag counts, though
// each must be well formed; lists are split at commas, and a list flag that is given replaces its
// default.
//
// The values are written during parsing; they outlive the app. Names are without dashes.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace CLI {
class App;
}

namespace flyball::serve {

class GoFlags {
 public:
  // `group`: the headline of these flags in --help; "": they are not listed.
  explicit GoFlags(CLI::App& app, const char* group = "Options") : app_(app), group_(group) {}

  void String(const char* name, std::string& value, const char* help, const char* type = "TEXT");
  void Int(const char* name, int& value, const char* help);
  void Float(const char* name, double& value, const char* help);
  void Bool(const char* name, bool& value, const char* help);
  void Duration(const char* name, absl::Duration& value, const char* help);
  // Each occurrence is one value.
  void Repeated(const char* name, std::vector<std::string>& value, const char* help,
                const char* type = "TEXT");
  // klog's levels of files, as `client=4,watch*=6`: checked, but without effect.
  void FileLevels(const char* name, const char* help);
  // Comma lists, whose parts may be quoted as in CSV; an empty text is an empty list.
  void List(const char* name, std::vector<std::string>& value, const char* help);

 private:
  CLI::App& app_;
  const char* group_;
};

// Changes the words so that CLI11 reads them as Go does: Go also writes the short flag `-v=6`, uses
// the word after a flag as its value whatever it looks like, and `--flag=` for the empty value.
std::vector<std::string> GoWords(const CLI::App& app, const std::vector<std::string>& words);

// A value that a flag must not have, and the error text.
struct RefusedFlag {
  bool refused;
  std::string text;
};
// kFailedPrecondition with the text of the first check that refuses.
absl::Status FirstRefused(std::initializer_list<RefusedFlag> checks);

// The error has klog's text. A level is at least 0 and fits 32 bits.
absl::Status CheckFileLevels(absl::string_view text);

}  // namespace flyball::serve
