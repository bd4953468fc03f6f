#include <algorithm>
#include <variant>

#include "rules/lint.h"

namespace flyball::rules {
namespace {

using tmpl::Operand;

class Walker {
 public:
  explicit Walker(absl::Span<const absl::string_view> fields) : fields_(fields) {}

  FieldUse Walk(const tmpl::Tree& tree) {
    for (const auto& [name, block] : tree.definitions) {
      // Other definitions run on the value that they are called with.
      in_main_ = name == tree.name;
      Walk(block, in_main_);
    }
    return std::move(use_);
  }

 private:
  // `at_root`: the dot is the data.
  void Walk(const tmpl::Block& block, bool at_root) {
    for (const tmpl::Statement& statement : block) {
      if (const auto* action = std::get_if<tmpl::Action>(&statement)) {
        Walk(action->pipeline, at_root);
      } else if (const auto* branch = std::get_if<tmpl::Branch>(&statement)) {
        Walk(branch->pipeline, at_root);
        Walk(branch->then, at_root && branch->kind == tmpl::Branch::Kind::kIf);
        Walk(branch->otherwise, at_root);
      } else if (const auto* include = std::get_if<tmpl::Include>(&statement)) {
        if (include->pipeline) Walk(*include->pipeline, at_root);
      }
    }
  }

  void Walk(const tmpl::Pipeline& pipeline, bool at_root) {
    for (const tmpl::Command& command : pipeline.commands) {
      for (const Operand& operand : command) Walk(operand, at_root);
    }
  }

  void Walk(const Operand& operand, bool at_root) {
    if (operand.parens) Walk(*operand.parens, at_root);
    const bool is_data =
        (operand.kind == Operand::Kind::kDot && at_root) ||
        (operand.kind == Operand::Kind::kVariable && operand.name == "$" && in_main_);
    if (is_data && operand.fields.empty()) use_.whole = true;
    if (operand.fields.empty()) return;
    const std::string& field = operand.fields.front();
    if (std::find(fields_.begin(), fields_.end(), field) != fields_.end()) {
      use_.known.insert(field);
    } else if (is_data) {
      use_.unknown.insert(field);
    }
  }

  const absl::Span<const absl::string_view> fields_;
  bool in_main_ = true;
  FieldUse use_;
};

}  // namespace

FieldUse FieldsOf(const QueryTemplate& query, absl::Span<const absl::string_view> fields) {
  return Walker(fields).Walk(query.tree());
}

}  // namespace flyball::rules
