#include "base/go/url.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "absl/strings/ascii.h"

namespace flyball::go {
namespace {

// A byte as it is written.
struct Escaped {
  char text[3];
  unsigned char size;
};
using EscapeTable = std::array<Escaped, 256>;

// Escapes all but letters, digits and the characters of `plain`.
constexpr EscapeTable AllBut(absl::string_view plain) {
  constexpr char kHex[] = "0123456789ABCDEF";
  constexpr absl::string_view kLettersAndDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  EscapeTable table = {};
  for (size_t byte = 0; byte < table.size(); ++byte) {
    table[byte] = {.text = {'%', kHex[byte >> 4], kHex[byte & 15]}, .size = 3};
  }
  for (const absl::string_view some : {kLettersAndDigits, plain}) {
    for (const char c : some) table[static_cast<unsigned char>(c)] = {.text = {c}, .size = 1};
  }
  return table;
}

constexpr EscapeTable kForUrl = AllBut("-_.~");
constexpr EscapeTable kForPath = AllBut("-_.~$&+,/:;=@");
constexpr EscapeTable kForRequestLine = AllBut("-_.~!$%&'()*+,/:;=?@[]");
constexpr EscapeTable kForQuery = [] {
  EscapeTable table = kForUrl;
  table[' '] = {.text = {'+'}, .size = 1};
  return table;
}();

// A query of Prometheus may be long and is asked each second: no byte needs a branch.
std::string Written(const EscapeTable& table, absl::string_view text) {
  constexpr size_t kBlock = 256;
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  while (!text.empty()) {
    char block[kBlock * sizeof Escaped::text + sizeof(Escaped)];
    char* end = block;
    for (const char c : text.substr(0, kBlock)) {
      const Escaped& escaped = table[static_cast<unsigned char>(c)];
      std::memcpy(end, &escaped, sizeof escaped);
      end += escaped.size;
    }
    out.append(block, static_cast<size_t>(end - block));
    text.remove_prefix(std::min(text.size(), kBlock));
  }
  return out;
}

// Whether an escape begins there, which is a percent sign.
bool BeginsEscape(absl::string_view text) {
  return text.size() > 2 && absl::ascii_isxdigit(static_cast<unsigned char>(text[1])) &&
         absl::ascii_isxdigit(static_cast<unsigned char>(text[2]));
}

int HexDigit(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

}  // namespace

std::string QueryEscape(absl::string_view text) { return Written(kForQuery, text); }

std::string UrlEscape(absl::string_view text) { return Written(kForUrl, text); }

std::string EscapePath(absl::string_view text) { return Written(kForPath, text); }

std::string EscapeForRequestLine(absl::string_view text) { return Written(kForRequestLine, text); }

bool IsWellEscaped(absl::string_view text) {
  for (size_t i = text.find('%'); i != absl::string_view::npos; i = text.find('%', i + 3)) {
    if (!BeginsEscape(text.substr(i))) return false;
  }
  return true;
}

std::string Unescape(absl::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && BeginsEscape(text.substr(i))) {
      out.push_back(static_cast<char>(HexDigit(text[i + 1]) << 4 | HexDigit(text[i + 2])));
      i += 2;
    } else {
      out.push_back(text[i] == '+' && plus_is_space ? ' ' : text[i]);
    }
  }
  return out;
}

}  // namespace flyball::go
