// How a text is written in YAML.
//
// Pure.
#pragma once

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace flyball::kube {

// Whether every reader takes it for a string when it stands without quotes: letters, digits and
// `-._/`, beginning with a letter, and no word that YAML 1.1 takes for a bool or null.
inline bool IsPlainYaml(absl::string_view text) {
  if (text.empty() || !absl::ascii_isalpha(static_cast<unsigned char>(text[0]))) return false;
  for (const absl::string_view word :
       {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}) {
    if (absl::EqualsIgnoreCase(text, word)) return false;
  }
  return std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("-._/", c);
  });
}

}  // namespace flyball::kube
