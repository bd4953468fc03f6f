// First stage of the template language: text to tokens.
//
// Pure. Source: Go's text/template/parse, delimiters `<<` and `>>`. A token's text is a view into
// the template, so the template must outlive its tokens.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace flyball::rules::tmpl {

enum class TokenKind {
  kText,  // text outside actions, already trimmed by `<<-` and `->>`
  kOpen,  // <<
  kClose,
  kSpace,
  kIdentifier,  // a function
  kKeyword,     // if, else, end, range, break, continue, with, define, template, block
  kDot,         // . alone
  kField,       // .Name
  kVariable,    // $ or $name
  kNil,
  kBool,
  kNumber,
  kChar,
  kString,     // "…"
  kRawString,  // `…`
  kPipe,
  kDeclare,  // :=
  kAssign,   // =
  kComma,
  kLeftParen,
  kRightParen,
  kOther,  // another printable character: always an error, which the parser reports
  kEnd
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  absl::string_view text;
  size_t offset = 0;  // of the first byte, in the template

  bool IsKeyword(absl::string_view word) const {
    return kind == TokenKind::kKeyword && text == word;
  }
};

// All tokens, the last one being kEnd. kInvalidArgument: a message with `line:column` of the
// template in front.
absl::StatusOr<std::vector<Token>> Lex(absl::string_view text);

// kInvalidArgument with the place of `offset` in front of the message, as `2:7: `.
absl::Status ErrorAt(absl::string_view text, size_t offset, absl::string_view message);

}  // namespace flyball::rules::tmpl
