#include "rules/query_shape.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace flyball::rules {
namespace {

// In the query's text these stand for what the template fills in.
constexpr char kSeries = '\x01', kLabelMatchers = '\x02', kGroupBy = '\x03';

// The query's text, with marks; nullopt: the template does more than fill in.
std::optional<std::string> TextWithMarks(const tmpl::Tree& tree) {
  if (tree.definitions.size() != 1) return std::nullopt;
  std::string out;
  for (const tmpl::Statement& statement : tree.definitions.begin()->second) {
    if (const auto* text = std::get_if<tmpl::Text>(&statement)) {
      const auto is_control = [](char c) {
        return absl::ascii_iscntrl(c) && !absl::ascii_isspace(c);
      };
      if (std::any_of(text->text.begin(), text->text.end(), is_control)) return std::nullopt;
      out += text->text;
      continue;
    }
    const auto* action = std::get_if<tmpl::Action>(&statement);
    if (action == nullptr || !action->pipeline.variables.empty() ||
        action->pipeline.commands.size() != 1) {
      return std::nullopt;
    }
    const tmpl::Command& command = action->pipeline.commands[0];
    const auto is_field = [](const tmpl::Operand& operand, absl::string_view name) {
      const bool of_data = operand.kind == tmpl::Operand::Kind::kDot ||
                           (operand.kind == tmpl::Operand::Kind::kVariable && operand.name == "$");
      return of_data && operand.fields.size() == 1 && operand.fields[0] == name;
    };
    // <<index .GroupBySlice 0>> is the object's label as well.
    const bool first_of_slice =
        command.size() == 3 && command[0].kind == tmpl::Operand::Kind::kFunction &&
        command[0].name == "index" && command[0].fields.empty() &&
        is_field(command[1], "GroupBySlice") && command[2].kind == tmpl::Operand::Kind::kNumber &&
        command[2].number.value == tmpl::Number{int64_t{0}}.value;
    if (command.size() == 1 && is_field(command[0], "Series")) {
      out += kSeries;
    } else if (command.size() == 1 && is_field(command[0], "LabelMatchers")) {
      out += kLabelMatchers;
    } else if (first_of_slice || (command.size() == 1 && is_field(command[0], "GroupBy"))) {
      out += kGroupBy;
    } else {
      return std::nullopt;
    }
  }
  return out;
}

enum class TokenKind { kWord, kNumber, kString, kMark, kSymbol, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;

  bool Is(absl::string_view symbol) const { return kind == TokenKind::kSymbol && text == symbol; }
  bool IsMark(char mark) const { return kind == TokenKind::kMark && text[0] == mark; }
  // PromQL's keywords are known in any case.
  bool IsKeyword(absl::string_view word) const {
    return kind == TokenKind::kWord && absl::EqualsIgnoreCase(text, word);
  }
};

bool IsWordStart(char c) {
  return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_' || c == ':' || c == kSeries;
}
bool IsWordPart(char c) {
  return IsWordStart(c) || absl::ascii_isdigit(static_cast<unsigned char>(c));
}

// nullopt: something that is not read here.
std::optional<std::vector<Token>> Tokenize(absl::string_view text) {
  static constexpr absl::string_view kLongSymbols[] = {"==", "!=", "<=", ">=", "=~", "!~"};
  std::vector<Token> tokens;
  while (!text.empty()) {
    const char c = text[0];
    size_t length = 1;
    TokenKind kind = TokenKind::kSymbol;
    if (absl::ascii_isspace(static_cast<unsigned char>(c))) {
      text.remove_prefix(1);
      continue;
    }
    if (IsWordStart(c)) {
      kind = TokenKind::kWord;
      while (length < text.size() && IsWordPart(text[length])) ++length;
      // A colon also divides a subquery's durations, but then it follows a number.
    } else if (absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '.') {
      // Numbers and durations: 0.5, 5m, 1h30m.
      kind = TokenKind::kNumber;
      while (
          length < text.size() &&
          (absl::ascii_isalnum(static_cast<unsigned char>(text[length])) || text[length] == '.')) {
        ++length;
      }
    } else if (c == '"' || c == '\'' || c == '`') {
      kind = TokenKind::kString;
      while (length < text.size() && text[length] != c) {
        length += text[length] == '\\' && c != '`' ? 2 : 1;
      }
      if (length >= text.size()) return std::nullopt;
      ++length;
    } else if (c == kLabelMatchers || c == kGroupBy) {
      kind = TokenKind::kMark;
    } else if (absl::string_view("(){}[],+-*/%^<>=:@").find(c) != absl::string_view::npos ||
               c == '!') {
      const bool is_long =
          std::any_of(std::begin(kLongSymbols), std::end(kLongSymbols),
                      [&](absl::string_view symbol) { return absl::StartsWith(text, symbol); });
      length = is_long ? 2 : 1;
    } else {
      return std::nullopt;  // comments too
    }
    const absl::string_view token = text.substr(0, length);
    if (kind == TokenKind::kString && token.find_first_of("\x02\x03") != absl::string_view::npos) {
      return std::nullopt;
    }
    tokens.push_back({kind, std::string(token)});
    text.remove_prefix(length);
  }
  tokens.push_back({});
  return tokens;
}

// What an expression gives. kVector and kRange: keeping objects apart.
enum class Type { kScalar, kVector, kRange };

struct Function {
  absl::string_view name;
  absl::string_view arguments;  // s: scalar, v: vector, r: range; in capitals: may be left out
};

constexpr Function kFunctions[] = {
    {"abs", "v"},
    {"acos", "v"},
    {"acosh", "v"},
    {"asin", "v"},
    {"asinh", "v"},
    {"atan", "v"},
    {"atanh", "v"},
    {"avg_over_time", "r"},
    {"ceil", "v"},
    {"changes", "r"},
    {"clamp", "vss"},
    {"clamp_max", "vs"},
    {"clamp_min", "vs"},
    {"cos", "v"},
    {"cosh", "v"},
    {"count_over_time", "r"},
    {"day_of_month", "v"},
    {"day_of_week", "v"},
    {"deg", "v"},
    {"delta", "r"},
    {"deriv", "r"},
    {"exp", "v"},
    {"floor", "v"},
    {"histogram_avg", "v"},
    {"histogram_count", "v"},
    {"histogram_quantile", "sv"},
    {"histogram_sum", "v"},
    {"holt_winters", "rss"},
    {"hour", "v"},
    {"idelta", "r"},
    {"increase", "r"},
    {"irate", "r"},
    {"last_over_time", "r"},
    {"ln", "v"},
    {"log10", "v"},
    {"log2", "v"},
    {"max_over_time", "r"},
    {"min_over_time", "r"},
    {"minute", "v"},
    {"month", "v"},
    {"pi", ""},
    {"predict_linear", "rs"},
    {"present_over_time", "r"},
    {"quantile_over_time", "sr"},
    {"rad", "v"},
    {"rate", "r"},
    {"resets", "r"},
    {"round", "vS"},
    {"sgn", "v"},
    {"sin", "v"},
    {"sinh", "v"},
    {"sqrt", "v"},
    {"stddev_over_time", "r"},
    {"stdvar_over_time", "r"},
    {"sum_over_time", "r"},
    {"tan", "v"},
    {"tanh", "v"},
    {"time", ""},
    {"timestamp", "v"},
    {"year", "v"},
};

constexpr absl::string_view kAggregations[] = {"sum",   "avg",    "min",    "max",
                                               "count", "stddev", "stdvar", "group"};

// Reads an expression, or gives up at the first thing that it does not know to be safe. A failed
// read is std::nullopt all the way up.
class ShapeReader {
 public:
  ShapeReader(std::vector<Token> tokens, absl::string_view namespace_label)
      : tokens_(std::move(tokens)), namespace_label_(namespace_label) {}

  QueryShape Read() {
    const auto type = ReadExpression();
    if (type != Type::kVector || Peek().kind != TokenKind::kEnd) return {};
    return {.separates_objects = groups_by_object_,
            .keeps_namespaces = groups_by_object_ && !namespace_label_.empty() && keeps_namespaces_,
            .is_read = true,
            .grouped_by = std::move(grouped_by_)};
  }

 private:
  static constexpr int kMaxNesting = 50;

  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool Take(absl::string_view symbol) {
    if (!Peek().Is(symbol)) return false;
    ++at_;
    return true;
  }

  std::optional<Type> ReadExpression() {
    if (++nesting_ > kMaxNesting) return std::nullopt;
    auto type = ReadOperand();
    while (type) {
      const std::optional<bool> is_set = TakeBinaryOperator();
      if (!is_set) break;
      // on, ignoring, group_left and group_right relate different label sets.
      for (const char* word : {"on", "ignoring", "group_left", "group_right"}) {
        if (Peek().IsKeyword(word)) return std::nullopt;
      }
      const auto right = ReadOperand();
      if (!right || *right == Type::kRange || *type == Type::kRange) return std::nullopt;
      const bool both = *type == Type::kVector && *right == Type::kVector;
      if (*is_set && !both) return std::nullopt;
      type = *type == Type::kVector || *right == Type::kVector ? Type::kVector : Type::kScalar;
    }
    --nesting_;
    return type;
  }

  // Whether it is and, or, unless; nullopt: no operator stands here.
  std::optional<bool> TakeBinaryOperator() {
    for (const char* word : {"and", "or", "unless"}) {
      if (!Peek().IsKeyword(word)) continue;
      ++at_;
      return true;
    }
    for (const char* symbol : {"+", "-", "*", "/", "%", "^"}) {
      if (Take(symbol)) return false;
    }
    for (const char* symbol : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (!Take(symbol)) continue;
      if (Peek().IsKeyword("bool")) ++at_;
      return false;
    }
    return std::nullopt;
  }

  std::optional<Type> ReadOperand() {
    while (Take("-") || Take("+")) {
    }
    auto type = ReadPrimary();
    while (type) {
      if (Peek().Is("[")) {
        type = ReadRange(*type);
      } else if (Peek().IsKeyword("offset")) {
        ++at_;
        Take("-");
        if (!TakeNumber()) return std::nullopt;
      } else if (Take("@")) {
        if (!TakeNumber()) return std::nullopt;
      } else {
        break;
      }
    }
    return type;
  }

  bool TakeNumber() {
    if (Peek().kind != TokenKind::kNumber) return false;
    ++at_;
    return true;
  }

  // [5m] of a vector, [1h:5m] or [1h:] of any.
  std::optional<Type> ReadRange(Type type) {
    if (type != Type::kVector || !Take("[") || !TakeNumber()) return std::nullopt;
    // `:5m` reads as a word, since a series name may start with a colon.
    if (Peek().kind == TokenKind::kWord && Peek().text[0] == ':') {
      const absl::string_view step = absl::string_view(Peek().text).substr(1);
      if (!std::all_of(step.begin(), step.end(),
                       [](unsigned char c) { return absl::ascii_isalnum(c); })) {
        return std::nullopt;
      }
      ++at_;
    }
    if (!Take("]")) return std::nullopt;
    return Type::kRange;
  }

  std::optional<Type> ReadPrimary() {
    if (TakeNumber()) return Type::kScalar;
    if (Take("(")) {
      const auto type = ReadExpression();
      if (!Take(")")) return std::nullopt;
      return type;
    }
    if (Peek().Is("{")) return ReadSelector(/*named=*/false);
    if (Peek().kind != TokenKind::kWord) return std::nullopt;
    const std::string word = Peek().text;
    ++at_;
    if (Peek().Is("{")) return ReadSelector(/*named=*/true);
    if (IsAggregation(word)) return ReadAggregation();
    return ReadCall(word);
  }

  static bool IsAggregation(absl::string_view word) {
    return std::any_of(std::begin(kAggregations), std::end(kAggregations),
                       [&](absl::string_view name) { return absl::EqualsIgnoreCase(name, word); });
  }

  // {a="b",<<.LabelMatchers>>}. One series name, by its place or by __name__="…": with several, a
  // function that drops names could make two objects' series collide.
  std::optional<Type> ReadSelector(bool named) {
    if (!Take("{")) return std::nullopt;
    bool has_matchers = false;
    while (!Peek().Is("}")) {
      if (Peek().IsMark(kLabelMatchers)) {
        has_matchers = true;
        ++at_;
      } else {
        const Token label = Peek();
        const Token op = Peek(1);
        const Token value = Peek(2);
        const bool known = op.Is("=") || op.Is("!=") || op.Is("=~") || op.Is("!~");
        if (label.kind != TokenKind::kWord || !known || value.kind != TokenKind::kString) {
          return std::nullopt;
        }
        if (label.text == "__name__" && op.Is("=")) named = true;
        at_ += 3;
      }
      if (!Take(",") && !Peek().Is("}")) return std::nullopt;
    }
    ++at_;
    if (!named || !has_matchers) return std::nullopt;
    return Type::kVector;
  }

  // `by (…)` before or after the argument.
  std::optional<Type> ReadAggregation() {
    bool grouped = Peek().IsKeyword("by");
    if (grouped && !ReadBy()) return std::nullopt;
    if (!Take("(")) return std::nullopt;
    const auto type = ReadExpression();
    if (type != Type::kVector || !Take(")")) return std::nullopt;
    if (!grouped) {
      if (!Peek().IsKeyword("by") || !ReadBy()) return std::nullopt;
    }
    return Type::kVector;
  }

  bool ReadBy() {
    ++at_;
    if (!Take("(")) return false;
    bool by_object = false, by_namespace = false;
    std::set<std::string> labels;
    while (!Peek().Is(")")) {
      if (Peek().IsMark(kGroupBy)) {
        by_object = true;
      } else if (Peek().kind == TokenKind::kWord) {
        by_namespace |= Peek().text == namespace_label_;
        if (!grouped_by_ || grouped_by_->contains(Peek().text)) labels.insert(Peek().text);
      } else {
        return false;
      }
      ++at_;
      if (!Take(",") && !Peek().Is(")")) return false;
    }
    ++at_;
    keeps_namespaces_ &= by_namespace;
    groups_by_object_ &= by_object;
    grouped_by_ = std::move(labels);
    return true;
  }

  std::optional<Type> ReadCall(absl::string_view name) {
    const auto* const function = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                              [&](const Function& f) { return f.name == name; });
    if (function == std::end(kFunctions) || !Take("(")) return std::nullopt;
    for (size_t i = 0; i < function->arguments.size(); ++i) {
      const char kind = function->arguments[i];
      if (absl::ascii_isupper(static_cast<unsigned char>(kind)) && Peek().Is(")")) break;
      if (i > 0 && !Take(",")) return std::nullopt;
      const auto type = ReadExpression();
      const Type wanted = absl::ascii_tolower(static_cast<unsigned char>(kind)) == 's'
                              ? Type::kScalar
                          : kind == 'v' ? Type::kVector
                                        : Type::kRange;
      if (type != wanted) return std::nullopt;
    }
    if (!Take(")")) return std::nullopt;
    return function->arguments.empty() ? Type::kScalar : Type::kVector;
  }

  const std::vector<Token> tokens_;
  const absl::string_view namespace_label_;
  size_t at_ = 0;
  int nesting_ = 0;
  bool keeps_namespaces_ = true;
  bool groups_by_object_ = true;
  std::optional<std::set<std::string>> grouped_by_;
};

}  // namespace

QueryShape ShapeOf(const QueryTemplate& query, absl::string_view namespace_label) {
  const auto text = TextWithMarks(query.tree());
  if (!text) return {};
  auto tokens = Tokenize(*text);
  if (!tokens) return {};
  return ShapeReader(*std::move(tokens), namespace_label).Read();
}

}  // namespace flyball::rules
