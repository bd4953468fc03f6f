#include "base/go/yaml_words.h"

namespace flyball::go {
namespace {

template <typename... Words>
bool IsOneOf(absl::string_view text, Words... words) {
  return ((text == words) || ...);
}

}  // namespace

std::optional<bool> YamlBool(absl::string_view text) {
  if (IsOneOf(text, "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON")) {
    return true;
  }
  if (IsOneOf(text, "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF")) {
    return false;
  }
  return std::nullopt;
}

bool IsYamlNull(absl::string_view word) { return IsOneOf(word, "~", "null", "Null", "NULL"); }

bool IsYamlSpecialNumber(absl::string_view word) {
  return IsOneOf(word, ".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF",
                 "-.inf", "-.Inf", "-.INF");
}

}  // namespace flyball::go
