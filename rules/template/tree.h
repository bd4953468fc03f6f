// Second stage of the template language: the tree that parser.h makes and evaluator.h walks.
//
// Plain values, immutable after parsing.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/go/number.h"

namespace flyball::rules::tmpl {

struct Pipeline;

// One word of a command: a term and the fields selected from it (`.A.B`, `$x.A`, `(…).A`).
struct Operand {
  enum class Kind { kDot, kVariable, kFunction, kParens, kNil, kBool, kNumber, kString };
  Kind kind = Kind::kDot;
  std::string name;  // of the variable with its `$`, or of the function; the text of a string
  bool truth = false;
  go::Number number;
  std::unique_ptr<Pipeline> parens;
  std::vector<std::string> fields;
  size_t offset = 0;  // in the template's text
};

// The first operand is the action, the others are its arguments.
using Command = std::vector<Operand>;

struct Pipeline {
  std::vector<std::string> variables;  // set from the result, at most two
  bool assigns = false;                // `=` rather than `:=`
  std::vector<Command> commands;
  size_t offset = 0;
};

struct Text;
struct Action;
struct Branch;
struct Include;
struct Jump;
using Statement = std::variant<Text, Action, Branch, Include, Jump>;
using Block = std::vector<Statement>;

struct Text {
  std::string text;
};
struct Action {
  Pipeline pipeline;
};
// `then` runs once if the value of the pipeline is true, under range once for each of its items;
// `otherwise` runs if `then` did not.
struct Branch {
  enum class Kind { kIf, kWith, kRange };
  Kind kind = Kind::kIf;
  Pipeline pipeline;
  Block then, otherwise;
};
// template, and where a block stands.
struct Include {
  std::string name;
  std::optional<Pipeline> pipeline;
  size_t offset = 0;
};
struct Jump {
  bool breaks = false;  // else continues
};

// A template and those defined in it.
struct Tree {
  std::string text;
  std::string name;  // of the one to execute
  std::map<std::string, Block> definitions;
};

}  // namespace flyball::rules::tmpl
