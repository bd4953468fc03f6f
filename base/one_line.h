// Shows text from somebody else: in one line of a page or a log, or a part of it.
//
// Pure. Otherwise whoever chooses a part of a line could write lines that look like others', or
// control the reader's terminal; and an error that repeats a long text may take many times its
// memory, since escapes make it longer.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace flyball {

// The text with control characters as escape sequences (`\n`, `\x1b`), also those that take two
// bytes in UTF-8. Backslashes stay as they are.
std::string OneLine(absl::string_view text);

// How much of a value that a client sent is repeated in an error about it.
inline constexpr size_t kMaxRepeatedBytes = 512;
// How much of an error is sent to a client if it may repeat much of what the client sent.
inline constexpr size_t kMaxErrorBytes = 2048;

// A text of more than `max` bytes is cut between two characters, and how many are missing is added.
std::string Abridged(absl::string_view text, size_t max = kMaxRepeatedBytes);

}  // namespace flyball
