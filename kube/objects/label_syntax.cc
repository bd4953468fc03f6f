#include "kube/objects/label_syntax.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace flyball::kube {
namespace {

constexpr size_t kMaxNameBytes = 63;
constexpr size_t kMaxSubdomainBytes = 253;

constexpr char kNameRule[] =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr char kValueRule[] =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr char kSubdomainRule[] =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr char kDnsLabelRule[] =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

bool IsName(absl::string_view text) {
  if (text.empty() || !absl::ascii_isalnum(text.front()) || !absl::ascii_isalnum(text.back())) {
    return false;
  }
  for (const char c : text) {
    if (!absl::ascii_isalnum(c) && c != '-' && c != '_' && c != '.') return false;
  }
  return true;
}

bool IsLowerAlnum(char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c); }

bool IsDnsLabel(absl::string_view text) {
  if (text.empty() || !IsLowerAlnum(text.front()) || !IsLowerAlnum(text.back())) return false;
  for (const char c : text) {
    if (!IsLowerAlnum(c) && c != '-') return false;
  }
  return true;
}

bool IsSubdomain(absl::string_view text) {
  for (const absl::string_view label : absl::StrSplit(text, '.')) {
    if (!IsDnsLabel(label)) return false;
  }
  return true;
}

std::string TooLong(size_t limit) {
  return absl::StrCat("must be no more than ", limit, " characters");
}

// Length of the UTF-8 sequence at the start of `text` and its code point; 0 if it is not valid.
size_t DecodeUtf8(absl::string_view text, uint32_t* code_point) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  const size_t size = lead >= 0xF0 ? 4 : (lead >= 0xE0 ? 3 : 2);
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return 0;
  uint32_t value = lead & (0xFFu >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    value = value << 6 | (byte(i) & 0x3Fu);
  }
  static constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[size] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return 0;
  *code_point = value;
  return size;
}

bool IsPrintableBeyondAscii(uint32_t c) {
  return c > 0xA0 && c != 0xAD && !(c >= 0x2000 && c <= 0x200F) && !(c >= 0x2028 && c <= 0x202F) &&
         c != 0x3000 && c != 0xFEFF && !(c >= 0xE000 && c <= 0xF8FF) && c < 0xF0000;
}

void AppendAscii(unsigned char c, std::string* out) {
  static constexpr absl::string_view kEscaped = "\a\b\f\n\r\t\v\\\"";
  static constexpr absl::string_view kLetters = "abfnrtv\\\"";
  const size_t named = kEscaped.find(static_cast<char>(c));
  if (named != absl::string_view::npos) {
    absl::StrAppend(out, "\\", kLetters.substr(named, 1));
  } else if (absl::ascii_isprint(c)) {
    out->push_back(static_cast<char>(c));
  } else {
    absl::StrAppendFormat(out, "\\x%02x", c);
  }
}

}  // namespace

std::vector<std::string> LabelKeyProblems(absl::string_view key) {
  std::vector<std::string> problems;
  const std::vector<absl::string_view> parts = absl::StrSplit(key, '/');
  if (parts.size() > 2) {
    return {absl::StrCat("a qualified name ", kNameRule,
                         " with an optional DNS subdomain prefix and '/' (e.g. "
                         "'example.com/MyName')")};
  }
  if (parts.size() == 2) {
    const absl::string_view prefix = parts.front();
    if (prefix.empty()) {
      problems.emplace_back("prefix part must be non-empty");
    } else {
      for (const std::string& problem : SubdomainProblems(prefix)) {
        problems.push_back(absl::StrCat("prefix part ", problem));
      }
    }
  }
  const absl::string_view name = parts.back();
  if (name.empty()) problems.emplace_back("name part must be non-empty");
  if (name.size() > kMaxNameBytes) {
    problems.push_back(absl::StrCat("name part ", TooLong(kMaxNameBytes)));
  }
  if (!IsName(name)) problems.push_back(absl::StrCat("name part ", kNameRule));
  return problems;
}

std::vector<std::string> LabelValueProblems(absl::string_view value) {
  std::vector<std::string> problems;
  if (value.size() > kMaxNameBytes) problems.push_back(TooLong(kMaxNameBytes));
  if (!value.empty() && !IsName(value)) problems.emplace_back(kValueRule);
  return problems;
}

std::vector<std::string> SubdomainProblems(absl::string_view text) {
  std::vector<std::string> problems;
  if (text.size() > kMaxSubdomainBytes) problems.push_back(TooLong(kMaxSubdomainBytes));
  if (!IsSubdomain(text)) problems.emplace_back(kSubdomainRule);
  return problems;
}

std::vector<std::string> DnsLabelProblems(absl::string_view text) {
  std::vector<std::string> problems;
  if (text.size() > kMaxNameBytes) problems.push_back(TooLong(kMaxNameBytes));
  if (!IsDnsLabel(text)) {
    problems.emplace_back(IsSubdomain(text) ? "must not contain dots" : kDnsLabelRule);
  }
  return problems;
}

std::string GoQuoted(absl::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text.front());
    uint32_t code_point = 0;
    size_t size = 1;
    if (absl::ascii_isascii(c) || (size = DecodeUtf8(text, &code_point)) == 0) {
      AppendAscii(c, &out);
      size = 1;
    } else if (IsPrintableBeyondAscii(code_point)) {
      absl::StrAppend(&out, text.substr(0, size));
    } else if (code_point < 0x10000) {
      absl::StrAppendFormat(&out, "\\u%04x", code_point);
    } else {
      absl::StrAppendFormat(&out, "\\U%08x", code_point);
    }
    text.remove_prefix(size);
  }
  out.push_back('"');
  return out;
}

}  // namespace flyball::kube
