// One character at a time of text that may not be UTF-8.
//
// Pure. Source: Go's unicode/utf8: overlong forms, surrogates and values past U+10FFFF are invalid
// and one byte long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace flyball::adapter::promql {

struct Rune {
  uint32_t value = 0;
  size_t length = 1;  // in bytes
  bool valid = true;
};

// The first character of `text`, which must not be empty.
inline Rune DecodeRune(absl::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {.value = lead};
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {.valid = false};
  uint32_t value = lead & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0u) != 0x80) return {.valid = false};
    value = value << 6 | (byte(i) & 0x3fu);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value < 0xe000;
  if (value < kSmallest[length] || value > 0x10ffff || surrogate) return {.valid = false};
  return {.value = value, .length = length};
}

inline bool IsUtf8(absl::string_view text) {
  while (!text.empty()) {
    const Rune rune = DecodeRune(text);
    if (!rune.valid) return false;
    text.remove_prefix(rune.length);
  }
  return true;
}

// False for what is not a character.
inline bool AppendUtf8(uint32_t value, std::string* out) {
  if (value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return false;
  if (value < 0x80) {
    out->push_back(static_cast<char>(value));
    return true;
  }
  const int tail = value < 0x800 ? 1 : value < 0x10000 ? 2 : 3;
  constexpr uint32_t kLead[] = {0, 0xc0, 0xe0, 0xf0};
  out->push_back(static_cast<char>(kLead[tail] | value >> (6 * tail)));
  for (int i = tail - 1; i >= 0; --i) {
    out->push_back(static_cast<char>(0x80u | (value >> (6 * i) & 0x3fu)));
  }
  return true;
}

}  // namespace flyball::adapter::promql
