#include "rules/template/parser.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/go/number.h"
#include "base/go/text.h"
#include "base/status_macros.h"
#include "rules/template/functions.h"
#include "rules/template/lexer.h"

namespace flyball::rules::tmpl {
namespace {

// What ended a block.
enum class Ending { kEnd, kElse };

class Parser {
 public:
  Parser(absl::string_view text, absl::string_view name, std::vector<Token> tokens)
      : tokens_(std::move(tokens)) {
    tree_.text = std::string(text);
    tree_.name = std::string(name);
  }

  absl::StatusOr<Tree> Run() {
    Block block;
    while (Peek().kind != TokenKind::kEnd) {
      if (AtKeyword("define")) {
        RETURN_IF_ERROR(ParseDefine());
        continue;
      }
      if (AtKeyword("end") || AtKeyword("else")) {
        return Error(absl::StrCat("unexpected ", PeekInAction().text, ": nothing is open here"));
      }
      RETURN_IF_ERROR(ParseStatement(block));
    }
    RETURN_IF_ERROR(Define(tree_.name, std::move(block)));
    return std::move(tree_);
  }

 private:
  // Tokens.
  const Token& Peek() const { return tokens_[at_]; }
  const Token& Take() { return tokens_[Peek().kind == TokenKind::kEnd ? at_ : at_++]; }
  void PassSpace() {
    while (Peek().kind == TokenKind::kSpace) ++at_;
  }
  const Token& PeekPastSpace() {
    PassSpace();
    return Peek();
  }
  // The first word of the action that opens here.
  const Token& PeekInAction() const {
    size_t at = at_ + 1;
    while (at + 1 < tokens_.size() && tokens_[at].kind == TokenKind::kSpace) ++at;
    return tokens_[std::min(at, tokens_.size() - 1)];
  }
  bool AtKeyword(absl::string_view word) const {
    return Peek().kind == TokenKind::kOpen && PeekInAction().IsKeyword(word);
  }
  // Past `<< word`.
  void PassKeyword() {
    ++at_;
    PassSpace();
    ++at_;
  }

  absl::Status Error(absl::string_view message) const {
    return ErrorAt(tree_.text, Peek().offset, message);
  }
  absl::Status Unexpected(absl::string_view context) const {
    if (Peek().kind == TokenKind::kEnd) {
      return Error(absl::StrCat("the template ends inside ", context));
    }
    return Error(absl::StrCat("unexpected \"", Peek().text, "\" in ", context));
  }
  absl::Status ExpectClose(absl::string_view context) {
    if (PeekPastSpace().kind != TokenKind::kClose) return Unexpected(context);
    ++at_;
    return absl::OkStatus();
  }

  // Definitions.

  static bool IsBlank(const Block& block) {
    return std::all_of(block.begin(), block.end(), [](const Statement& statement) {
      const Text* text = std::get_if<Text>(&statement);
      return text != nullptr && absl::StripAsciiWhitespace(text->text).empty();
    });
  }

  // A blank definition gives way to a full one; two full ones collide.
  absl::Status Define(const std::string& name, Block block) {
    const auto found = tree_.definitions.find(name);
    if (found == tree_.definitions.end() || IsBlank(found->second)) {
      tree_.definitions[name] = std::move(block);
      return absl::OkStatus();
    }
    if (IsBlank(block)) return absl::OkStatus();
    return Error(absl::StrCat("template ", go::Quote(name), " is defined twice"));
  }

  absl::StatusOr<std::string> TakeName(absl::string_view context) {
    const Token& token = PeekPastSpace();
    if (token.kind != TokenKind::kString && token.kind != TokenKind::kRawString) {
      return Unexpected(context);
    }
    auto name = go::Unquote(token.text);
    if (!name) return Error(absl::StrCat("bad string ", token.text));
    ++at_;
    return *std::move(name);
  }

  // The body of a define or block sees none of the variables and loops around it.
  absl::StatusOr<Block> ParseOwnBody(absl::string_view context) {
    std::vector<std::string> variables = {"$"};
    std::swap(variables, variables_);
    const int loops = std::exchange(loops_, 0);
    Block body;
    ASSIGN_OR_RETURN(const Ending ending, ParseBlock(body));
    if (ending != Ending::kEnd) return Error(absl::StrCat("unexpected else in ", context));
    variables_ = std::move(variables);
    loops_ = loops;
    return body;
  }

  absl::Status ParseDefine() {
    PassKeyword();
    ASSIGN_OR_RETURN(const std::string name, TakeName("define"));
    RETURN_IF_ERROR(ExpectClose("define"));
    ASSIGN_OR_RETURN(Block body, ParseOwnBody("define"));
    return Define(name, std::move(body));
  }

  absl::Status ParseBlockAction(Block& out) {
    const size_t offset = Peek().offset;
    PassKeyword();
    ASSIGN_OR_RETURN(const std::string name, TakeName("block"));
    ASSIGN_OR_RETURN(Pipeline pipeline, ParsePipeline("block", TokenKind::kClose));
    ASSIGN_OR_RETURN(Block body, ParseOwnBody("block"));
    RETURN_IF_ERROR(Define(name, std::move(body)));
    out.push_back(Include{name, std::move(pipeline), offset});
    return absl::OkStatus();
  }

  absl::Status ParseInclude(Block& out) {
    const size_t offset = Peek().offset;
    PassKeyword();
    ASSIGN_OR_RETURN(const std::string name, TakeName("template"));
    std::optional<Pipeline> pipeline;
    if (PeekPastSpace().kind == TokenKind::kClose) {
      ++at_;
    } else {
      ASSIGN_OR_RETURN(pipeline, ParsePipeline("template", TokenKind::kClose));
    }
    out.push_back(Include{name, std::move(pipeline), offset});
    return absl::OkStatus();
  }

  // Statements.

  // Up to and past `<<end>>`, or up to the `<<else` that the caller goes on with.
  absl::StatusOr<Ending> ParseBlock(Block& out) {
    if (++nesting_ > kMaxNesting) return Error("actions are nested too deeply");
    while (Peek().kind != TokenKind::kEnd) {
      if (AtKeyword("end")) {
        PassKeyword();
        RETURN_IF_ERROR(ExpectClose("end"));
        --nesting_;
        return Ending::kEnd;
      }
      if (AtKeyword("else")) {
        --nesting_;
        return Ending::kElse;
      }
      RETURN_IF_ERROR(ParseStatement(out));
    }
    return Error("the template ends before an <<end>>");
  }

  absl::Status ParseStatement(Block& out) {
    if (Peek().kind == TokenKind::kText) {
      out.push_back(Text{std::string(Take().text)});
      return absl::OkStatus();
    }
    const Token& word = PeekInAction();
    if (word.kind != TokenKind::kKeyword) {
      ++at_;
      ASSIGN_OR_RETURN(Pipeline pipeline, ParsePipeline("an action", TokenKind::kClose));
      out.push_back(Action{std::move(pipeline)});
      return absl::OkStatus();
    }
    if (word.text == "if" || word.text == "with" || word.text == "range") {
      return ParseBranch(word.text, out);
    }
    if (word.text == "template") return ParseInclude(out);
    if (word.text == "block") return ParseBlockAction(out);
    if (word.text == "break" || word.text == "continue") return ParseJump(out);
    ++at_;
    PassSpace();
    return Unexpected("an action");  // define: only at the top
  }

  absl::Status ParseJump(Block& out) {
    const bool breaks = PeekInAction().text == "break";
    if (loops_ == 0) return Error(absl::StrCat(PeekInAction().text, " outside of range"));
    PassKeyword();
    RETURN_IF_ERROR(ExpectClose(breaks ? "break" : "continue"));
    out.push_back(Jump{breaks});
    return absl::OkStatus();
  }

  absl::Status ParseBranch(absl::string_view word, Block& out) {
    const size_t variables = variables_.size();
    PassKeyword();
    Branch branch;
    if (word == "with") branch.kind = Branch::Kind::kWith;
    if (word == "range") branch.kind = Branch::Kind::kRange;
    const int loops = word == "range" ? 1 : 0;
    ASSIGN_OR_RETURN(branch.pipeline, ParsePipeline(word, TokenKind::kClose));
    loops_ += loops;
    ASSIGN_OR_RETURN(const Ending ending, ParseBlock(branch.then));
    loops_ -= loops;
    if (ending == Ending::kElse) RETURN_IF_ERROR(ParseElse(word, branch.otherwise));
    variables_.resize(variables);
    out.push_back(std::move(branch));
    return absl::OkStatus();
  }

  // From `<<else`. `else if` under if and `else with` under with share the one <<end>>.
  absl::Status ParseElse(absl::string_view opener, Block& out) {
    PassKeyword();
    if (opener != "range" && PeekPastSpace().IsKeyword(opener)) {
      if (++nesting_ > kMaxNesting) return Error("actions are nested too deeply");
      --at_;  // ParseBranch passes two tokens: the `<<` or what stands for it, and the word
      RETURN_IF_ERROR(ParseBranch(opener, out));
      --nesting_;
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(ExpectClose("else"));
    ASSIGN_OR_RETURN(const Ending ending, ParseBlock(out));
    if (ending != Ending::kEnd) return Error("a second else, expected <<end>>");
    return absl::OkStatus();
  }

  // Pipelines.

  // `$x :=`, `$x =`, and for range `$i, $x :=`. Anything else that starts with a variable is left
  // for the commands.
  absl::Status ParseDeclarations(absl::string_view context, Pipeline& pipeline) {
    while (PeekPastSpace().kind == TokenKind::kVariable) {
      const size_t start = at_;
      const std::string name(Take().text);
      const TokenKind next = PeekPastSpace().kind;
      if (next != TokenKind::kDeclare && next != TokenKind::kAssign && next != TokenKind::kComma) {
        at_ = start;
        return absl::OkStatus();
      }
      ++at_;
      pipeline.variables.push_back(name);
      variables_.push_back(name);
      if (next != TokenKind::kComma) {
        pipeline.assigns = next == TokenKind::kAssign;
        return absl::OkStatus();
      }
      if (context != "range" || pipeline.variables.size() > 1) {
        return Error(absl::StrCat("too many variables in ", context));
      }
      const TokenKind second = PeekPastSpace().kind;
      if (second != TokenKind::kVariable && second != TokenKind::kClose) {
        return Error("range can only set variables before :=");
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Pipeline> ParsePipeline(absl::string_view context, TokenKind end) {
    Pipeline pipeline;
    pipeline.offset = PeekPastSpace().offset;
    RETURN_IF_ERROR(ParseDeclarations(context, pipeline));
    while (PeekPastSpace().kind != end) {
      if (!StartsTerm(Peek().kind)) return Unexpected(context);
      RETURN_IF_ERROR(ParseCommand(pipeline));
    }
    if (pipeline.commands.empty()) return Error(absl::StrCat("missing value for ", context));
    ++at_;
    return pipeline;
  }

  static bool StartsTerm(TokenKind kind) {
    using enum TokenKind;
    static constexpr TokenKind kTerms[] = {kIdentifier, kDot,       kField,    kVariable,
                                           kNil,        kBool,      kNumber,   kChar,
                                           kString,     kRawString, kLeftParen};
    return std::find(std::begin(kTerms), std::end(kTerms), kind) != std::end(kTerms);
  }

  // Operands up to `|`, which is passed, or to the end of the pipeline, which is not.
  absl::Status ParseCommand(Pipeline& pipeline) {
    Command command;
    for (;;) {
      PassSpace();
      if (StartsTerm(Peek().kind)) {
        ASSIGN_OR_RETURN(Operand operand, ParseOperand());
        command.push_back(std::move(operand));
      }
      if (Peek().kind == TokenKind::kSpace) continue;
      break;
    }
    const TokenKind end = Peek().kind;
    if (end == TokenKind::kPipe) {
      ++at_;
    } else if (end != TokenKind::kClose && end != TokenKind::kRightParen) {
      return Unexpected("a command");
    }
    const Operand& first = command.front();
    const bool literal =
        IsLiteral(first) || (first.kind == Operand::Kind::kDot && first.fields.empty());
    if (!pipeline.commands.empty() && literal) {
      return ErrorAt(tree_.text, first.offset, "a constant cannot take a value from a pipe");
    }
    pipeline.commands.push_back(std::move(command));
    return absl::OkStatus();
  }

  static bool IsLiteral(const Operand& operand) {
    return operand.kind == Operand::Kind::kNil || operand.kind == Operand::Kind::kBool ||
           operand.kind == Operand::Kind::kNumber || operand.kind == Operand::Kind::kString;
  }

  absl::StatusOr<Operand> ParseOperand() {
    const bool bare_dot = Peek().kind == TokenKind::kDot;
    ASSIGN_OR_RETURN(Operand operand, ParseTerm());
    while (Peek().kind == TokenKind::kField) {
      if (IsLiteral(operand) || bare_dot) return Error("a field of a constant or of a lone dot");
      operand.fields.emplace_back(Take().text.substr(1));
    }
    return operand;
  }

  absl::StatusOr<Operand> ParseTerm() {
    Operand operand;
    operand.offset = Peek().offset;
    const absl::string_view text = Peek().text;
    switch (Peek().kind) {
      case TokenKind::kIdentifier:
        if (!IsFunction(text)) return Error(absl::StrCat("function \"", text, "\" is not known"));
        operand.kind = Operand::Kind::kFunction;
        operand.name = std::string(text);
        break;
      case TokenKind::kDot: break;
      case TokenKind::kField: operand.fields.emplace_back(text.substr(1)); break;
      case TokenKind::kVariable:
        if (std::find(variables_.begin(), variables_.end(), text) == variables_.end()) {
          return Error(absl::StrCat("variable ", text, " is not set before this"));
        }
        operand.kind = Operand::Kind::kVariable;
        operand.name = std::string(text);
        break;
      case TokenKind::kNil: operand.kind = Operand::Kind::kNil; break;
      case TokenKind::kBool:
        operand.kind = Operand::Kind::kBool;
        operand.truth = text == "true";
        break;
      case TokenKind::kLeftParen: return ParseParens();
      default: RETURN_IF_ERROR(ParseConstant(operand));
    }
    ++at_;
    return operand;
  }

  absl::Status ParseConstant(Operand& operand) {
    const Token& token = Peek();
    if (token.kind == TokenKind::kNumber || token.kind == TokenKind::kChar) {
      operand.kind = Operand::Kind::kNumber;
      std::optional<go::Number> number;
      if (token.kind == TokenKind::kNumber) {
        number = go::ParseNumber(token.text);
      } else if (const auto rune = go::UnquoteRune(token.text); rune.has_value()) {
        number = go::Number{static_cast<int64_t>(*rune)};
      }
      if (!number) return Error(absl::StrCat("bad number ", token.text));
      operand.number = *number;
      return absl::OkStatus();
    }
    operand.kind = Operand::Kind::kString;
    const auto text = go::Unquote(token.text);
    if (!text) return Error(absl::StrCat("bad string ", token.text));
    operand.name = *text;
    return absl::OkStatus();
  }

  absl::StatusOr<Operand> ParseParens() {
    if (++nesting_ > kMaxNesting) return Error("parentheses are nested too deeply");
    Operand operand;
    operand.kind = Operand::Kind::kParens;
    operand.offset = Take().offset;
    ASSIGN_OR_RETURN(Pipeline inside, ParsePipeline("parentheses", TokenKind::kRightParen));
    operand.parens = std::make_unique<Pipeline>(std::move(inside));
    --nesting_;
    return operand;
  }

  Tree tree_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  std::vector<std::string> variables_ = {"$"};
  int loops_ = 0;
  int nesting_ = 0;
};

}  // namespace

absl::StatusOr<Tree> Parse(absl::string_view text, absl::string_view name) {
  ASSIGN_OR_RETURN(std::vector<Token> tokens, Lex(text));
  return Parser(text, name, std::move(tokens)).Run();
}

}  // namespace flyball::rules::tmpl
