// How goyaml.v2 reads a text that has no quotes: as a word, a number, a time, or as itself.
//
// Pure. Source: resolve.go.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "base/go/number.h"

namespace flyball::go {

// kUint: a whole number above those of an int64.
enum class YamlType : uint8_t { kText, kNull, kBool, kInt, kUint, kFloat, kTime };

YamlType YamlTypeOf(absl::string_view text);

std::optional<bool> YamlBool(absl::string_view text);

// The number that a text of kInt or kUint stands for; nullopt for other texts.
std::optional<Number> YamlInt(absl::string_view text);

// The empty text is null too; it is no word.
bool IsYamlNull(absl::string_view word);

// Infinite, or no number.
bool IsYamlSpecialNumber(absl::string_view word);

}  // namespace flyball::go
