#include "rules/template/lexer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/go/text.h"
#include "base/status_macros.h"

namespace flyball::rules::tmpl {
namespace {

constexpr absl::string_view kOpen = "<<";
constexpr absl::string_view kClose = ">>";
constexpr absl::string_view kBlanks = " \t\r\n";

constexpr std::array<absl::string_view, 10> kKeywords = {
    "if", "else", "end", "range", "break", "continue", "with", "define", "template", "block"};

bool IsBlank(char c) { return kBlanks.find(c) != absl::string_view::npos; }
bool IsDecimal(char c) { return c >= '0' && c <= '9'; }

bool IsWordRune(char32_t rune) { return rune == '_' || go::IsLetterOrDigit(rune); }

class Lexer {
 public:
  explicit Lexer(absl::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<Token>> Run() {
    while (at_ < text_.size()) {
      TakeText();
      if (at_ < text_.size()) RETURN_IF_ERROR(TakeAction());
    }
    Add(TokenKind::kEnd, at_);
    return std::move(tokens_);
  }

 private:
  absl::string_view Rest() const { return text_.substr(at_); }
  bool LooksAt(absl::string_view word) const { return absl::StartsWith(Rest(), word); }
  absl::Status Error(size_t offset, absl::string_view message) const {
    return ErrorAt(text_, offset, message);
  }

  void Add(TokenKind kind, size_t from) {
    tokens_.push_back({kind, text_.substr(from, at_ - from), from});
  }

  // Up to the next `<<` or the end.
  void TakeText() {
    const size_t from = at_;
    const size_t open = text_.find(kOpen, at_);
    at_ = open == absl::string_view::npos ? text_.size() : open;
    size_t until = at_;
    if (at_ < text_.size() && TrimsLeft(at_ + kOpen.size())) {
      while (until > from && IsBlank(text_[until - 1])) --until;
    }
    if (until > from) tokens_.push_back({TokenKind::kText, text_.substr(from, until - from), from});
  }

  // `- ` right after `<<`.
  bool TrimsLeft(size_t at) const {
    return at + 1 < text_.size() && text_[at] == '-' && IsBlank(text_[at + 1]);
  }

  // ` ->>` here: a blank belongs to the marker.
  bool AtTrimmingClose() const {
    return Rest().size() >= 2 && IsBlank(Rest()[0]) && Rest()[1] == '-' &&
           absl::StartsWith(Rest().substr(2), kClose);
  }

  bool AtClose() const { return AtTrimmingClose() || LooksAt(kClose); }

  // Past `>>` or ` ->>`, and past the blanks that the marker eats.
  void PassClose() {
    const bool trims = AtTrimmingClose();
    at_ += kClose.size() + (trims ? 2 : 0);
    while (trims && at_ < text_.size() && IsBlank(text_[at_])) ++at_;
  }

  absl::Status TakeAction() {
    const size_t from = at_;
    at_ += kOpen.size();
    const size_t after_marker = TrimsLeft(at_) ? 2 : 0;
    if (absl::StartsWith(Rest().substr(after_marker), "/*")) {
      at_ += after_marker;
      return PassComment(from);
    }
    Add(TokenKind::kOpen, from);
    at_ += after_marker;
    action_ = from;
    parens_ = 0;
    while (!AtClose()) RETURN_IF_ERROR(TakeToken());
    if (parens_ > 0) return Error(at_, "unclosed left parenthesis");
    const size_t close = at_;
    PassClose();
    tokens_.push_back({TokenKind::kClose, text_.substr(close, at_ - close), close});
    return absl::OkStatus();
  }

  absl::Status PassComment(size_t from) {
    const size_t end = text_.find("*/", at_ + 2);
    if (end == absl::string_view::npos) return Error(from, "unclosed comment");
    at_ = end + 2;
    if (!AtClose()) return Error(at_, "a comment must be followed by >> at once");
    PassClose();
    return absl::OkStatus();
  }

  absl::Status TakeToken() {
    if (at_ >= text_.size()) return Error(action_, "unclosed action: no >> follows this <<");
    const size_t from = at_;
    const char c = text_[at_];
    if (IsBlank(c)) {
      // The last blank before `->>` belongs to the marker.
      do ++at_;
      while (at_ < text_.size() && IsBlank(text_[at_]) && !AtTrimmingClose());
      Add(TokenKind::kSpace, from);
      return absl::OkStatus();
    }
    if (c == '"' || c == '\'' || c == '`') return TakeQuoted(c);
    if (c == '$') {
      ++at_;
      return TakeWord(TokenKind::kVariable, from);
    }
    if (c == '.' && !(at_ + 1 < text_.size() && IsDecimal(text_[at_ + 1]))) {
      ++at_;
      return TakeWord(TokenKind::kField, from);
    }
    if (c == '.' || c == '+' || c == '-' || IsDecimal(c)) return TakeNumber();
    if (IsWordRune(go::DecodeRune(Rest()).value)) return TakeWord(TokenKind::kIdentifier, from);
    return TakePunctuation();
  }

  absl::Status TakePunctuation() {
    const size_t from = at_;
    const char c = text_[at_++];
    if (c < ' ' || c > '~') return Error(from, "a character that no action may hold");
    if (c == ':' && !PassOne("=")) return Error(from, "unexpected \":\", expected :=");
    parens_ += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (parens_ < 0) return Error(from, "unexpected right parenthesis");
    static constexpr std::pair<char, TokenKind> kKinds[] = {
        {'=', TokenKind::kAssign}, {':', TokenKind::kDeclare},   {'|', TokenKind::kPipe},
        {',', TokenKind::kComma},  {'(', TokenKind::kLeftParen}, {')', TokenKind::kRightParen}};
    TokenKind kind = TokenKind::kOther;
    for (const auto& [character, its_kind] : kKinds) {
      if (character == c) kind = its_kind;
    }
    Add(kind, from);
    return absl::OkStatus();
  }

  // "…", '…' and `…`; escapes are only skipped here.
  absl::Status TakeQuoted(char quote) {
    const size_t from = at_++;
    for (;; ++at_) {
      if (at_ >= text_.size() || (quote != '`' && text_[at_] == '\n')) {
        return Error(from, "a quote that is never closed");
      }
      if (text_[at_] == quote) break;
      if (text_[at_] == '\\' && quote != '`') {
        ++at_;
        if (at_ >= text_.size() || text_[at_] == '\n') {
          return Error(from, "a quote that is never closed");
        }
      }
    }
    ++at_;
    Add(quote == '"'    ? TokenKind::kString
        : quote == '\'' ? TokenKind::kChar
                        : TokenKind::kRawString,
        from);
    return absl::OkStatus();
  }

  void PassRun(absl::string_view set) {
    while (at_ < text_.size() && set.find(text_[at_]) != absl::string_view::npos) ++at_;
  }
  bool PassOne(absl::string_view set) {
    if (at_ >= text_.size() || set.find(text_[at_]) == absl::string_view::npos) return false;
    ++at_;
    return true;
  }

  // Anything that starts like a number; the parser finds out what it is worth.
  absl::Status TakeNumber() {
    const size_t from = at_;
    bool good = PassNumber();
    if (good && at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) {
      good = PassNumber() && text_[at_ - 1] == 'i';  // 1+2i
    }
    if (!good) {
      return Error(from, absl::StrCat("bad number \"", text_.substr(from, at_ + 1 - from), "\""));
    }
    Add(TokenKind::kNumber, from);
    return absl::OkStatus();
  }

  // False: a letter or digit follows that belongs to no number.
  bool PassNumber() {
    PassOne("+-");
    absl::string_view digits = "0123456789_";
    absl::string_view exponent = "eE";
    if (PassOne("0")) {
      if (PassOne("xX")) {
        digits = "0123456789abcdefABCDEF_";
        exponent = "pP";
      } else if (PassOne("oO")) {
        digits = "01234567_";
        exponent = "";
      } else if (PassOne("bB")) {
        digits = "01_";
        exponent = "";
      }
    }
    PassRun(digits);
    if (PassOne(".")) PassRun(digits);
    if (PassOne(exponent)) {
      PassOne("+-");
      PassRun("0123456789_");
    }
    PassOne("i");
    return at_ >= text_.size() || !IsWordRune(go::DecodeRune(Rest()).value);
  }

  // A name and what must follow it; `at_` is past its `.` or `$` if it has one.
  absl::Status TakeWord(TokenKind kind, size_t from) {
    while (at_ < text_.size()) {
      const go::Rune rune = go::DecodeRune(Rest());
      if (!IsWordRune(rune.value)) break;
      at_ += rune.length;
    }
    if (!AtEndOfWord()) {
      const go::Rune rune = go::DecodeRune(Rest());
      return Error(at_, absl::StrCat("unexpected \"", Rest().substr(0, rune.length), "\" after \"",
                                     text_.substr(from, at_ - from), "\""));
    }
    const absl::string_view word = text_.substr(from, at_ - from);
    if (word == ".") kind = TokenKind::kDot;
    if (kind == TokenKind::kIdentifier) {
      if (word == "nil") kind = TokenKind::kNil;
      if (word == "true" || word == "false") kind = TokenKind::kBool;
      if (std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end()) {
        kind = TokenKind::kKeyword;
      }
    }
    Add(kind, from);
    return absl::OkStatus();
  }

  bool AtEndOfWord() const {
    if (at_ >= text_.size() || LooksAt(kClose)) return true;
    return IsBlank(text_[at_]) ||
           absl::string_view(".,|:)(").find(text_[at_]) != absl::string_view::npos;
  }

  const absl::string_view text_;
  size_t at_ = 0;
  size_t action_ = 0;  // offset of the action's `<<`
  int parens_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

absl::StatusOr<std::vector<Token>> Lex(absl::string_view text) { return Lexer(text).Run(); }

absl::Status ErrorAt(absl::string_view text, size_t offset, absl::string_view message) {
  const absl::string_view before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t newline = before.rfind('\n');
  const size_t column = newline == absl::string_view::npos ? offset + 1 : offset - newline;
  return absl::InvalidArgumentError(absl::StrCat(line, ":", column, ": ", message));
}

}  // namespace flyball::rules::tmpl
