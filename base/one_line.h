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

// A text, or its beginning of at most `max` bytes, cut between two characters.
absl::string_view Beginning(absl::string_view text, size_t max);

// The same, with "..." after a text that was cut.
std::string BriefText(absl::string_view text, size_t max = 100);

// The same, with the number of bytes that are missing.
std::string Abridged(absl::string_view text, size_t max = kMaxRepeatedBytes);

}  // namespace flyball
