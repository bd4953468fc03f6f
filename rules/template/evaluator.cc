#include "rules/template/evaluator.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "rules/template/format.h"
#include "rules/template/functions.h"
#include "rules/template/lexer.h"

namespace flyball::rules::tmpl {
namespace {

// How a statement was left.
enum class Flow { kNext, kBreak, kContinue };

// The budget and the text that all templates of one execution share.
struct Shared {
  const Tree& tree;
  std::string out;
  int steps = 0;
  int depth = 0;
};

class Evaluator {
 public:
  Evaluator(Shared& shared, const Value& data) : shared_(shared) {
    variables_.emplace_back("$", data);
  }

  absl::StatusOr<Flow> Run(const Block& block, const Value& dot) {
    for (const Statement& statement : block) {
      RETURN_IF_ERROR(Step());
      ASSIGN_OR_RETURN(const Flow flow,
                       std::visit([&](const auto& s) { return Do(s, dot); }, statement));
      if (flow != Flow::kNext) return flow;
    }
    return Flow::kNext;
  }

 private:
  absl::Status Step() {
    if (++shared_.steps > kMaxSteps) return absl::ResourceExhaustedError("the template runs on");
    if (shared_.out.size() > kMaxOutput) {
      return absl::ResourceExhaustedError("the template makes too much text");
    }
    return absl::OkStatus();
  }

  absl::Status Error(size_t offset, absl::string_view message) const {
    return ErrorAt(shared_.tree.text, offset, message);
  }

  // Statements.

  absl::StatusOr<Flow> Do(const Text& text, const Value&) {
    absl::StrAppend(&shared_.out, text.text);
    return Flow::kNext;
  }

  absl::StatusOr<Flow> Do(const Action& action, const Value& dot) {
    ASSIGN_OR_RETURN(const Value value, Evaluate(action.pipeline, dot));
    if (action.pipeline.variables.empty()) {
      absl::StrAppend(&shared_.out, value.IsNil() ? "<no value>" : Sprint({value}));
    }
    return Flow::kNext;
  }

  absl::StatusOr<Flow> Do(const Branch& branch, const Value& dot) {
    const size_t mark = variables_.size();
    ASSIGN_OR_RETURN(const Value value, Evaluate(branch.pipeline, dot));
    Flow flow = Flow::kNext;
    bool truth = value.Truth();
    if (branch.kind == Branch::Kind::kRange) {
      truth = false;  // unless there is a turn
      RETURN_IF_ERROR(Iterate(branch, value, truth));
    } else if (truth) {
      ASSIGN_OR_RETURN(flow, Run(branch.then, branch.kind == Branch::Kind::kWith ? value : dot));
    }
    if (!truth) {
      ASSIGN_OR_RETURN(flow, Run(branch.otherwise, dot));
    }
    variables_.resize(mark);
    return flow;
  }

  absl::StatusOr<Flow> Do(const Include& include, const Value& dot) {
    const auto found = shared_.tree.definitions.find(include.name);
    if (found == shared_.tree.definitions.end()) {
      return Error(include.offset, absl::StrCat("template \"", include.name, "\" is not defined"));
    }
    if (shared_.depth >= kMaxDepth) {
      return absl::ResourceExhaustedError("templates call each other too deeply");
    }
    Value data;
    if (include.pipeline) {
      ASSIGN_OR_RETURN(data, Evaluate(*include.pipeline, dot));
    }
    ++shared_.depth;
    const auto flow = Evaluator(shared_, data).Run(found->second, data);
    --shared_.depth;
    if (!flow.ok()) return flow.status();
    return Flow::kNext;
  }

  absl::StatusOr<Flow> Do(const Jump& jump, const Value&) {
    return jump.breaks ? Flow::kBreak : Flow::kContinue;
  }

  absl::Status Iterate(const Branch& range, const Value& over, bool& ran) {
    const auto turn = [&](const Value& key, const Value& element) -> absl::StatusOr<bool> {
      ran = true;
      return Turn(range, key, element);
    };
    if (over.IsNil()) return absl::OkStatus();
    if (const auto* list = over.As<List>()) {
      for (size_t i = 0; i < list->size; ++i) {
        ASSIGN_OR_RETURN(const bool more, turn(static_cast<int64_t>(i), list->begin[i]));
        if (!more) break;
      }
      return absl::OkStatus();
    }
    if (const auto* map = over.As<const StringMap*>()) {
      for (const auto& [key, value] : **map) {
        ASSIGN_OR_RETURN(const bool more, turn(key, value));
        if (!more) break;
      }
      return absl::OkStatus();
    }
    const auto* byte = over.As<uint8_t>();
    const auto* number = over.As<int64_t>();
    if ((byte == nullptr && number == nullptr) || range.pipeline.variables.size() > 1) {
      return Error(range.pipeline.offset, absl::StrCat("cannot range over ", over.TypeName()));
    }
    const int64_t count = number != nullptr ? *number : *byte;
    for (int64_t i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(
          const bool more,
          turn(Value(), number != nullptr ? Value(i) : Value(static_cast<uint8_t>(i))));
      if (!more) break;
    }
    return absl::OkStatus();
  }

  // One turn of a loop; false after a break.
  absl::StatusOr<bool> Turn(const Branch& range, const Value& key, const Value& element) {
    RETURN_IF_ERROR(Step());
    const std::vector<std::string>& names = range.pipeline.variables;
    const auto set = [&](size_t from_top, const std::string& name, const Value& value) {
      if (range.pipeline.assigns) return Assign(name, value, range.pipeline.offset);
      variables_[variables_.size() - from_top].second = value;
      return absl::OkStatus();
    };
    if (names.size() == 1) RETURN_IF_ERROR(set(1, names[0], element));
    if (names.size() == 2) {
      RETURN_IF_ERROR(set(2, names[0], key));
      RETURN_IF_ERROR(set(1, names[1], element));
    }
    const size_t mark = variables_.size();
    ASSIGN_OR_RETURN(const Flow flow, Run(range.then, element));
    variables_.resize(mark);
    return flow != Flow::kBreak;
  }

  // Variables: the last of a name is meant.

  absl::StatusOr<Value*> Find(const std::string& name, size_t offset) {
    for (auto it = variables_.rbegin(); it != variables_.rend(); ++it) {
      if (it->first == name) return &it->second;
    }
    return Error(offset, absl::StrCat("variable ", name, " is not set before this"));
  }

  absl::Status Assign(const std::string& name, const Value& value, size_t offset) {
    ASSIGN_OR_RETURN(auto* const variable, Find(name, offset));
    *variable = value;
    return absl::OkStatus();
  }

  // Pipelines.

  absl::StatusOr<Value> Evaluate(const Pipeline& pipeline, const Value& dot) {
    Value value;
    bool first = true;
    for (const Command& command : pipeline.commands) {
      ASSIGN_OR_RETURN(value, Evaluate(command, dot, first ? nullptr : &value));
      first = false;
    }
    for (const std::string& name : pipeline.variables) {
      if (pipeline.assigns) {
        RETURN_IF_ERROR(Assign(name, value, pipeline.offset));
      } else {
        variables_.emplace_back(name, value);
      }
    }
    return value;
  }

  // `piped`: what the command before this one in the pipeline gave.
  absl::StatusOr<Value> Evaluate(const Command& command, const Value& dot, const Value* piped) {
    RETURN_IF_ERROR(Step());
    const Operand& head = command.front();
    const bool has_arguments = command.size() > 1 || piped != nullptr;
    if (head.kind == Operand::Kind::kFunction && head.fields.empty()) {
      return Call(command, dot, piped);
    }
    if (head.kind == Operand::Kind::kNil) return Error(head.offset, "nil is not a command");
    if (has_arguments && head.fields.empty()) {
      return Error(head.offset, "only a function takes arguments");
    }
    ASSIGN_OR_RETURN(Value value, EvaluateTerm(head, dot));
    return Follow(head, std::move(value), has_arguments);
  }

  absl::StatusOr<Value> EvaluateOperand(const Operand& operand, const Value& dot) {
    ASSIGN_OR_RETURN(Value value, EvaluateTerm(operand, dot));
    return Follow(operand, std::move(value), /*has_arguments=*/false);
  }

  absl::StatusOr<Value> EvaluateTerm(const Operand& operand, const Value& dot) {
    switch (operand.kind) {
      case Operand::Kind::kDot: return dot;
      case Operand::Kind::kVariable: {
        ASSIGN_OR_RETURN(const Value* variable, Find(operand.name, operand.offset));
        return *variable;
      }
      case Operand::Kind::kFunction: {
        auto value = CallFunction(operand.name, {});
        if (!value.ok()) return Error(operand.offset, value.status().message());
        return value;
      }
      case Operand::Kind::kParens: return Evaluate(*operand.parens, dot);
      case Operand::Kind::kNil: return Value();
      case Operand::Kind::kBool: return Value(operand.truth);
      case Operand::Kind::kString: return Value(operand.name);
      case Operand::Kind::kNumber: break;
    }
    if (operand.number.overflows_int) return Error(operand.offset, "the number is too large");
    return std::visit([](auto number) { return Value(number); }, operand.number.value);
  }

  // The operand's fields, one after the other.
  absl::StatusOr<Value> Follow(const Operand& operand, Value value, bool has_arguments) const {
    for (size_t i = 0; i < operand.fields.size(); ++i) {
      const std::string& field = operand.fields[i];
      const bool arguments = has_arguments && i + 1 == operand.fields.size();
      if (value.IsNil()) continue;
      if (const auto* record = value.As<const Record*>()) {
        const Value* found = (*record)->Find(field);
        if (found == nullptr) return Error(operand.offset, UnknownField(field, **record));
        value = Value(*found);
      } else if (const auto* map = value.As<const StringMap*>()) {
        const auto found = (*map)->find(field);
        value = found == (*map)->end() ? Value() : Value(found->second);
      } else {
        return Error(operand.offset, absl::StrCat(value.TypeName(), " has no field ", field));
      }
      if (arguments) return Error(operand.offset, absl::StrCat(field, " takes no arguments"));
    }
    return value;
  }

  static std::string UnknownField(const std::string& field, const Record& record) {
    std::string message = absl::StrCat("there is no field .", field, ", expected one of");
    for (const auto& [name, value] : record.fields) absl::StrAppend(&message, " .", name);
    return message;
  }

  absl::StatusOr<Value> Call(const Command& command, const Value& dot, const Value* piped) {
    const Operand& head = command.front();
    if ((head.name == "and" || head.name == "or") && (command.size() > 1 || piped != nullptr)) {
      return CallLogic(command, dot, piped);
    }
    std::vector<Value> arguments;
    arguments.reserve(command.size());
    for (size_t i = 1; i < command.size(); ++i) {
      ASSIGN_OR_RETURN(Value value, EvaluateOperand(command[i], dot));
      arguments.push_back(std::move(value));
    }
    if (piped != nullptr) arguments.push_back(*piped);
    auto value = CallFunction(head.name, arguments);
    if (!value.ok()) return Error(head.offset, value.status().message());
    return value;
  }

  // The first argument that decides, or the last one; later ones are not evaluated.
  absl::StatusOr<Value> CallLogic(const Command& command, const Value& dot, const Value* piped) {
    const bool decisive = command.front().name == "or";
    Value value;
    for (size_t i = 1; i < command.size(); ++i) {
      ASSIGN_OR_RETURN(value, EvaluateOperand(command[i], dot));
      if (value.Truth() == decisive) return value;
    }
    return piped != nullptr ? *piped : value;
  }

  Shared& shared_;
  std::vector<std::pair<std::string, Value>> variables_;
};

}  // namespace

absl::StatusOr<std::string> Execute(const Tree& tree, const Value& data) {
  const auto main = tree.definitions.find(tree.name);
  if (main == tree.definitions.end()) return absl::InternalError("a tree without its template");
  Shared shared{.tree = tree, .out = {}};
  const auto flow = Evaluator(shared, data).Run(main->second, data);
  if (!flow.ok()) return flow.status();
  if (shared.out.size() > kMaxOutput) {
    return absl::ResourceExhaustedError("the template makes too much text");
  }
  return std::move(shared.out);
}

}  // namespace flyball::rules::tmpl
