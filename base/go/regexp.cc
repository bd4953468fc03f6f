#include "base/go/regexp.h"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/go/text.h"

namespace flyball::go {
namespace {

// Whether the name that begins there and ends with a `>` may be one of a group: Go's are ASCII.
bool IsGroupName(absl::string_view begin) {
  const absl::string_view name = begin.substr(0, begin.find('>'));
  return std::none_of(name.begin(), name.end(), [](unsigned char b) { return b >= 0x80; });
}

// Go's pattern in this RE2's syntax: `(?<name>` becomes `(?P<name>`. Escapes, \Q…\E and character
// classes are left alone.
absl::StatusOr<std::string> Translate(absl::string_view pattern) {
  std::string out;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      const char escaped = pattern[i + 1];
      if (escaped == 'C') return absl::InvalidArgumentError("invalid escape sequence: \\C");
      size_t length = 2;
      if (escaped == 'Q' && !in_class) {
        const size_t end = pattern.find("\\E", i + 2);
        length = end == absl::string_view::npos ? pattern.size() - i : end + 2 - i;
      }
      absl::StrAppend(&out, pattern.substr(i, length));
      i += length - 1;
      continue;
    }
    if (in_class) {
      // The bracket that ends a named class like [:alpha:] does not end the class around it.
      const size_t end =
          pattern.substr(i, 2) == "[:" ? pattern.find(":]", i + 2) : absl::string_view::npos;
      if (end != absl::string_view::npos) {
        absl::StrAppend(&out, pattern.substr(i, end + 2 - i));
        i = end + 1;
        continue;
      }
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
      // A `]` right after `[` or `[^` is a member.
      out += c;
      if (i + 1 < pattern.size() && pattern[i + 1] == '^') out += pattern[++i];
      if (i + 1 < pattern.size() && pattern[i + 1] == ']') out += pattern[++i];
      continue;
    } else if (pattern.substr(i, 3) == "(?<" && i + 3 < pattern.size() && pattern[i + 3] != '=' &&
               pattern[i + 3] != '!') {
      if (!IsGroupName(pattern.substr(i + 3))) {
        return absl::InvalidArgumentError("invalid named capture");
      }
      out += "(?P<";
      i += 2;
      continue;
    } else if (pattern.substr(i, 4) == "(?P<" && !IsGroupName(pattern.substr(i + 4))) {
      return absl::InvalidArgumentError("invalid named capture");
    }
    out += c;
  }
  return out;
}

re2::StringPiece Piece(absl::string_view text) { return {text.data(), text.size()}; }

// The number that a `$` name stands for; nullopt: a name, leading zeros included.
std::optional<int> GroupNumber(absl::string_view name) {
  if (name.size() > 1 && name[0] == '0') return std::nullopt;
  int number = 0;
  for (const char c : name) {
    if (c < '0' || c > '9' || number >= 100'000'000) return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return number;
}

// Takes the name off the front of `text`, which stood after a `$`; empty: none stands there.
absl::string_view TakeGroupName(absl::string_view& text) {
  const bool braced = !text.empty() && text[0] == '{';
  absl::string_view rest = text.substr(braced ? 1 : 0);
  size_t length = 0;
  while (length < rest.size()) {
    const Rune rune = DecodeRune(rest.substr(length));
    if (rune.value != '_' && !IsLetterOrDigit(rune.value)) break;
    length += static_cast<size_t>(rune.length);
  }
  const absl::string_view name = rest.substr(0, length);
  rest.remove_prefix(length);
  if (name.empty()) return name;
  if (braced) {
    if (rest.empty() || rest[0] != '}') return {};
    rest.remove_prefix(1);
  }
  text = rest;
  return name;
}

}  // namespace

Regexp::Regexp(std::string pattern, std::shared_ptr<const re2::RE2> regexp)
    : pattern_(std::move(pattern)), regexp_(std::move(regexp)) {
  names_.resize(static_cast<size_t>(groups()) + 1);
  for (const auto& [number, name] : regexp_->CapturingGroupNames()) {
    names_[static_cast<size_t>(number)] = name;
  }
}

absl::StatusOr<Regexp> Regexp::Compile(absl::string_view pattern, int64_t usual_bytes) {
  if (!IsUtf8(pattern)) return absl::InvalidArgumentError("invalid UTF-8");
  const auto translated = Translate(pattern);
  if (!translated.ok()) return translated.status();
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(usual_bytes);
  auto regexp = std::make_shared<const RE2>(*translated, options);
  if (regexp->error_code() == RE2::ErrorPatternTooLarge && usual_bytes < kMaxBytes) {
    options.set_max_mem(kMaxBytes);
    regexp = std::make_shared<const RE2>(*translated, options);
  }
  if (!regexp->ok()) return absl::InvalidArgumentError(regexp->error());
  return Regexp(std::string(pattern), std::move(regexp));
}

int64_t Regexp::most_bytes() const { return regexp_->options().max_mem(); }

size_t Regexp::program_size() const { return static_cast<size_t>(regexp_->ProgramSize()); }

int Regexp::groups() const { return regexp_->NumberOfCapturingGroups(); }

bool Regexp::Matches(absl::string_view text) const {
  return RE2::PartialMatch(Piece(text), *regexp_);
}

std::optional<std::vector<absl::string_view>> Regexp::Find(absl::string_view text) const {
  std::vector<re2::StringPiece> pieces(static_cast<size_t>(groups()) + 1);
  if (!regexp_->Match(Piece(text), 0, text.size(), RE2::UNANCHORED, pieces.data(),
                      static_cast<int>(pieces.size()))) {
    return std::nullopt;
  }
  std::vector<absl::string_view> found;
  found.reserve(pieces.size());
  for (const re2::StringPiece& piece : pieces) found.emplace_back(piece.data(), piece.size());
  return found;
}

std::optional<std::string> Regexp::Expand(absl::string_view text, absl::string_view as,
                                          size_t most_bytes) const {
  const auto match = Find(text);
  if (!match) return std::nullopt;
  std::string out;
  while (!as.empty() && out.size() <= most_bytes) {
    const size_t dollar = as.find('$');
    absl::StrAppend(&out, as.substr(0, dollar));
    if (dollar == absl::string_view::npos) break;
    as.remove_prefix(dollar + 1);
    if (!as.empty() && as[0] == '$') {
      out += '$';
      as.remove_prefix(1);
      continue;
    }
    const absl::string_view name = TakeGroupName(as);
    if (name.empty()) {
      out += '$';  // no name: the character itself
      continue;
    }
    if (const auto number = GroupNumber(name); number.has_value()) {
      const auto index = static_cast<size_t>(*number);
      if (index < match->size()) absl::StrAppend(&out, (*match)[index]);
      continue;
    }
    // Of several groups of that name, the first that took part.
    for (size_t i = 1; i < names_.size(); ++i) {
      if (names_[i] != name || (*match)[i].data() == nullptr) continue;
      absl::StrAppend(&out, (*match)[i]);
      break;
    }
  }
  return out;
}

std::string QuoteMeta(absl::string_view text) {
  static constexpr absl::string_view kSpecial = R"(\.+*?()|[]{}^$)";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (kSpecial.find(c) != absl::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace flyball::go
