// String literals of text.h: Go's quoting, both ways.
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "adapter/live/promql/text.h"
#include "adapter/live/promql/utf8.h"

namespace flyball::adapter::promql {
namespace {

absl::Status SyntaxError() { return absl::InvalidArgumentError("invalid syntax"); }

// The letters of one-letter escapes and what they mean, pair by pair.
constexpr absl::string_view kEscapeLetters = "abfnrtv\\";
constexpr absl::string_view kEscapeBytes = "\a\b\f\n\r\t\v\\";

int HexDigit(char c) {
  if (absl::ascii_isdigit(c)) return c - '0';
  if (absl::ascii_isxdigit(c)) return absl::ascii_tolower(c) - 'a' + 10;
  return -1;
}

// Reads exactly `count` digits of `base` from the front of `rest`.
bool ReadDigits(absl::string_view* rest, size_t count, int base, uint32_t* value) {
  if (rest->size() < count) return false;
  *value = 0;
  for (size_t i = 0; i < count; ++i) {
    const int digit = HexDigit((*rest)[i]);
    if (digit < 0 || digit >= base) return false;
    *value = *value * static_cast<uint32_t>(base) + static_cast<uint32_t>(digit);
  }
  rest->remove_prefix(count);
  return true;
}

// One escape after its backslash; false: not one.
bool ReadEscape(absl::string_view* rest, char quote, std::string* out) {
  if (rest->empty()) return false;
  const char kind = rest->front();
  uint32_t value = 0;
  if (kind >= '0' && kind <= '7') {
    if (!ReadDigits(rest, 3, 8, &value) || value > 255) return false;
    out->push_back(static_cast<char>(value));
    return true;
  }
  rest->remove_prefix(1);
  if (const size_t at = kEscapeLetters.find(kind); at != absl::string_view::npos) {
    out->push_back(kEscapeBytes[at]);
    return true;
  }
  if (kind == quote) {
    out->push_back(quote);
    return true;
  }
  if (kind == 'x') {
    if (!ReadDigits(rest, 2, 16, &value)) return false;
    out->push_back(static_cast<char>(value));
    return true;
  }
  if (kind != 'u' && kind != 'U') return false;
  if (!ReadDigits(rest, kind == 'u' ? 4 : 8, 16, &value)) return false;
  return AppendUtf8(value, out);
}

}  // namespace

std::string Quote(absl::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const Rune rune = DecodeRune(text);
    const absl::string_view bytes = text.substr(0, rune.length);
    text.remove_prefix(rune.length);
    const char c = bytes[0];
    if (!rune.valid) {
      absl::StrAppendFormat(&out, "\\x%02x", static_cast<unsigned char>(c));
    } else if (c == '"') {
      out += "\\\"";
    } else if (const size_t at = kEscapeBytes.find(c); at != absl::string_view::npos) {
      out += {'\\', kEscapeLetters[at]};
    } else if (rune.value < 0x20 || rune.value == 0x7f) {
      absl::StrAppendFormat(&out, "\\x%02x", rune.value);
    } else {
      absl::StrAppend(&out, bytes);
    }
  }
  out.push_back('"');
  return out;
}

absl::StatusOr<std::string> Unquote(absl::string_view literal) {
  if (literal.size() < 2 || literal.front() != literal.back()) return SyntaxError();
  const char quote = literal.front();
  absl::string_view rest = literal.substr(1, literal.size() - 2);
  if (quote == '`') return std::string(rest);
  std::string out;
  while (!rest.empty()) {
    const char c = rest.front();
    if (c == quote || c == '\n') return SyntaxError();
    rest.remove_prefix(1);
    if (c != '\\') {
      out.push_back(c);
    } else if (!ReadEscape(&rest, quote, &out)) {
      return SyntaxError();
    }
  }
  return out;
}

}  // namespace flyball::adapter::promql
