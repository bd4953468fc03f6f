#include "base/go/text.h"

#include <re2/re2.h>

#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"

namespace flyball::go {
namespace {

constexpr char32_t kReplacement = 0xFFFD;
constexpr char32_t kMaxRune = 0x10FFFF;

bool IsSurrogate(char32_t rune) { return rune >= 0xD800 && rune <= 0xDFFF; }

bool MatchesClass(char32_t rune, const RE2& single_character) {
  std::string text;
  AppendRune(rune, text);
  return RE2::FullMatch(text, single_character);
}

void AppendEscapedRune(char32_t rune, char quote, bool ascii_only, std::string& out) {
  if (rune == static_cast<char32_t>(quote) || rune == '\\') {
    out += '\\';
    out += static_cast<char>(rune);
    return;
  }
  if (ascii_only ? rune < 0x80 && IsPrintable(rune) : IsPrintable(rune)) {
    AppendRune(rune, out);
    return;
  }
  static constexpr absl::string_view kControls = "\a\b\f\n\r\t\v";
  static constexpr absl::string_view kLetters = "abfnrtv";
  if (rune < 0x80 && rune != 0) {
    if (const size_t at = kControls.find(static_cast<char>(rune)); at != absl::string_view::npos) {
      out += '\\';
      out += kLetters[at];
      return;
    }
  }
  const auto code = static_cast<uint32_t>(rune);
  if (rune < ' ' || rune == 0x7F) {
    absl::StrAppendFormat(&out, "\\x%02x", code);
  } else if (rune < 0x10000) {
    absl::StrAppendFormat(&out, "\\u%04x", code);
  } else {
    absl::StrAppendFormat(&out, "\\U%08x", code);
  }
}

std::string Quote(absl::string_view text, bool ascii_only) {
  std::string out = "\"";
  out.reserve(text.size() + 2);
  while (!text.empty()) {
    const Rune rune = DecodeRune(text);
    if (!rune.valid) {
      absl::StrAppendFormat(&out, "\\x%02x",
                            static_cast<uint32_t>(static_cast<unsigned char>(text[0])));
    } else {
      AppendEscapedRune(rune.value, '"', ascii_only, out);
    }
    text.remove_prefix(rune.length);
  }
  out += '"';
  return out;
}

// Reads `digits` digits of the base; nullopt if one is missing.
std::optional<uint32_t> TakeDigits(absl::string_view& text, size_t digits, uint32_t base) {
  if (text.size() < digits) return std::nullopt;
  uint32_t value = 0;
  for (size_t i = 0; i < digits; ++i) {
    const char c = text[i];
    uint32_t digit = base;
    if (c >= '0' && c <= '9') digit = static_cast<uint32_t>(c - '0');
    if (c >= 'a' && c <= 'f') digit = static_cast<uint32_t>(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') digit = static_cast<uint32_t>(c - 'A') + 10;
    if (digit >= base) return std::nullopt;
    value = value * base + digit;
  }
  text.remove_prefix(digits);
  return value;
}

struct Unescaped {
  char32_t value = 0;
  bool is_byte = false;  // \x41 and \101 stand for a byte, not a character
};

// Takes one character or escape off the front of a literal's inside.
std::optional<Unescaped> TakeCharacter(absl::string_view& text, char quote) {
  if (text.empty() || text[0] == quote || text[0] == '\n') return std::nullopt;
  if (text[0] != '\\') {
    const Rune rune = DecodeRune(text);
    // An invalid byte of a literal stays that byte.
    const Unescaped result = rune.valid ? Unescaped{rune.value, false}
                                        : Unescaped{static_cast<unsigned char>(text[0]), true};
    text.remove_prefix(rune.length);
    return result;
  }
  text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  const char kind = text[0];
  static constexpr absl::string_view kLetters = "abfnrtv\\";
  static constexpr absl::string_view kControls = "\a\b\f\n\r\t\v\\";
  if (const size_t at = kLetters.find(kind); at != absl::string_view::npos) {
    text.remove_prefix(1);
    return Unescaped{static_cast<char32_t>(kControls[at]), false};
  }
  if (kind == quote) {
    text.remove_prefix(1);
    return Unescaped{static_cast<char32_t>(quote), false};
  }
  if (kind >= '0' && kind <= '7') {
    const auto value = TakeDigits(text, 3, 8);
    if (!value || *value > 255) return std::nullopt;
    return Unescaped{*value, true};
  }
  const size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
  if (digits == 0) return std::nullopt;
  text.remove_prefix(1);
  const auto value = TakeDigits(text, digits, 16);
  if (!value) return std::nullopt;
  if (kind == 'x') return Unescaped{*value, true};
  if (*value > kMaxRune || IsSurrogate(*value)) return std::nullopt;
  return Unescaped{*value, false};
}

constexpr char kHex[] = "0123456789abcdef";

bool IsPlainInJson(unsigned char c, bool escapes_html) {
  const bool html = c == '<' || c == '>' || c == '&';
  return c >= 0x20 && c < 0x80 && c != '"' && c != '\\' && !(html && escapes_html);
}

void AppendJsonEscape(char c, bool letters, std::string* out) {
  // What has a letter of its own, and that letter.
  constexpr absl::string_view kNamed = "\"\\\n\r\t\b\f";
  constexpr absl::string_view kNames = "\"\\nrtbf";
  out->push_back('\\');
  const size_t at = kNamed.find(c);
  if (at != absl::string_view::npos && (letters || c == '"' || c == '\\')) {
    out->push_back(kNames[at]);
    return;
  }
  out->append("u00");
  out->push_back(kHex[c >> 4]);
  out->push_back(kHex[c & 0xF]);
}

}  // namespace

Rune DecodeRune(absl::string_view text) {
  if (text.empty()) return {};
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const Rune invalid{kReplacement, 1, false};
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const int length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < static_cast<size_t>(length)) return invalid;
  char32_t value = lead & (0xFFu >> (length + 1));
  for (int i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return invalid;
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  const char32_t smallest = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  if (value < smallest || value > kMaxRune || IsSurrogate(value)) return invalid;
  return {value, length, true};
}

size_t FindNoUtf8(absl::string_view text) {
  size_t at = 0;
  uint64_t word = 0;
  for (; at + sizeof word <= text.size(); at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & 0x8080808080808080) != 0) break;
  }
  while (at < text.size()) {
    if (absl::ascii_isascii(static_cast<unsigned char>(text[at]))) {
      ++at;
      continue;
    }
    const Rune rune = DecodeRune(text.substr(at));
    if (!rune.valid) return at;
    at += static_cast<size_t>(rune.length);
  }
  return absl::string_view::npos;
}

void AppendRune(char32_t rune, std::string& out) {
  if (rune > kMaxRune || IsSurrogate(rune)) rune = kReplacement;
  if (rune < 0x80) {
    out += static_cast<char>(rune);
    return;
  }
  const int extra = rune < 0x800 ? 1 : rune < 0x10000 ? 2 : 3;
  static constexpr unsigned char kLead[] = {0x00, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(kLead[extra] | (rune >> (6 * extra)));
  for (int i = extra - 1; i >= 0; --i) out += static_cast<char>(0x80 | ((rune >> (6 * i)) & 0x3F));
}

bool IsLetterOrDigit(char32_t rune) {
  if (rune < 0x80) {
    return (rune >= '0' && rune <= '9') || (rune >= 'a' && rune <= 'z') ||
           (rune >= 'A' && rune <= 'Z');
  }
  static const RE2* const kClass = new RE2("[\\pL\\p{Nd}]");
  return MatchesClass(rune, *kClass);
}

bool IsPrintable(char32_t rune) {
  if (rune < 0x80) return rune >= ' ' && rune < 0x7F;
  static const RE2* const kClass = new RE2("[\\pL\\pM\\pN\\pP\\pS]");
  return MatchesClass(rune, *kClass);
}

std::string Quote(absl::string_view text) { return Quote(text, /*ascii_only=*/false); }

std::string QuoteAscii(absl::string_view text) { return Quote(text, /*ascii_only=*/true); }

std::string QuoteRune(char32_t rune, bool ascii_only) {
  if (rune > kMaxRune || IsSurrogate(rune)) rune = kReplacement;
  std::string out = "'";
  AppendEscapedRune(rune, '\'', ascii_only, out);
  out += '\'';
  return out;
}

void AppendJsonString(absl::string_view text, std::string* out, JsonEscapes escapes) {
  out->push_back('"');
  size_t start = 0;  // of the run that needs no escape
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  for (size_t i = 0; i < text.size();) {
    if (IsPlainInJson(bytes[i], escapes.html)) {
      ++i;
      continue;
    }
    const Rune rune = DecodeRune(text.substr(i));
    const auto length = static_cast<size_t>(rune.length);
    const bool separator = escapes.separators && (rune.value == 0x2028 || rune.value == 0x2029);
    if (rune.valid && length > 1 && !separator) {
      i += length;
      continue;
    }
    out->append(text.data() + start, i - start);
    if (!rune.valid) {
      out->append("\\ufffd");
    } else if (separator) {
      out->append(rune.value == 0x2028 ? "\\u2028" : "\\u2029");
    } else {
      AppendJsonEscape(text[i], escapes.letters, out);
    }
    i += length;
    start = i;
  }
  out->append(text.data() + start, text.size() - start);
  out->push_back('"');
}

std::optional<std::string> Unquote(absl::string_view literal) {
  if (literal.size() < 2 || literal.front() != literal.back()) return std::nullopt;
  const char quote = literal.front();
  absl::string_view inside = literal.substr(1, literal.size() - 2);
  std::string out;
  if (quote == '`') {
    if (inside.find('`') != absl::string_view::npos) return std::nullopt;
    for (const char c : inside) {
      if (c != '\r') out += c;
    }
    return out;
  }
  if (quote != '"') return std::nullopt;
  while (!inside.empty()) {
    const auto c = TakeCharacter(inside, quote);
    if (!c) return std::nullopt;
    if (c->is_byte) {
      out += static_cast<char>(c->value);
    } else {
      AppendRune(c->value, out);
    }
  }
  return out;
}

std::optional<char32_t> UnquoteRune(absl::string_view literal) {
  if (literal.size() < 3 || literal.front() != '\'' || literal.back() != '\'') return std::nullopt;
  absl::string_view inside = literal.substr(1, literal.size() - 2);
  const auto c = TakeCharacter(inside, '\'');
  if (!c || !inside.empty()) return std::nullopt;
  return c->value;
}

}  // namespace flyball::go
