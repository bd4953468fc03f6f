#include "rules/query_shape.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "promql/functions.h"
#include "promql/parser.h"

namespace flyball::rules {
namespace {

// The values that the template is filled with for this test. No template's own text contains kMark,
// so each of the marks below that is found in the tree was filled in. .GroupBy gets two labels, as
// in the pods' query, so that a template that is correct only for a single one, for example because
// it puts quotes around it, is not accepted.
constexpr absl::string_view kMark = "flyball_mark_";
constexpr absl::string_view kMatchers = "flyball_mark_matchers";
constexpr absl::string_view kObject = "flyball_mark_object";
constexpr absl::string_view kContainer = "flyball_mark_container";
// The series may occur next to other text and in strings too, since all merged queries have the
// same one. With a colon it cannot be a label that anybody asks for.
constexpr absl::string_view kSeries = "flyball:series";

// <<.Series>>, <<.LabelMatchers>>, <<.GroupBy>> or <<index .GroupBySlice 0>>.
bool FillsIn(const tmpl::Command& command) {
  using Kind = tmpl::Operand::Kind;
  const auto is_field = [](const tmpl::Operand& operand, absl::string_view name) {
    const bool of_data =
        operand.kind == Kind::kDot || (operand.kind == Kind::kVariable && operand.name == "$");
    return of_data && operand.fields.size() == 1 && operand.fields[0] == name;
  };
  if (command.size() == 1) {
    return is_field(command[0], "Series") || is_field(command[0], "LabelMatchers") ||
           is_field(command[0], "GroupBy");
  }
  return command.size() == 3 && command[0].kind == Kind::kFunction && command[0].name == "index" &&
         command[0].fields.empty() && is_field(command[1], "GroupBySlice") &&
         command[2].kind == Kind::kNumber &&
         command[2].number.value == go::Number{int64_t{0}}.value;
}

// Determines for each node whether it keeps labels apart, provided that the nodes below it do.
class ShapeReader {
 public:
  bool Read(const promql::Expr& expr) {
    return std::visit([this](const auto& node) { return ReadNode(node); }, expr.node);
  }

  size_t marks() const { return marks_; }  // how many were found at places where they are right
  std::optional<std::set<std::string>> TakeGroupedBy() { return std::move(grouped_by_); }

 private:
  bool ReadNode(const promql::NumberLiteral&) { return true; }
  bool ReadNode(const promql::StringLiteral&) { return false; }
  bool ReadNode(const promql::Paren& paren) { return Read(*paren.expr); }
  bool ReadNode(const promql::Unary& unary) { return Read(*unary.expr); }
  bool ReadNode(const promql::Subquery& subquery) { return Read(*subquery.expr); }

  // The selector must fix the name of the series: functions drop names, and if two series then have
  // equal labels, Prometheus refuses the query for all objects because of one. It must also contain
  // <<.LabelMatchers>>, without which the samples are the same for every request.
  bool ReadNode(const promql::Selector& selector) {
    bool is_named = false, is_matched = false;
    for (const promql::Matcher& matcher : selector.matchers) {
      is_named |= matcher.label() == "__name__" && matcher.op() == promql::Matcher::Op::kEqual;
      if (matcher.label() != kMatchers) continue;
      is_matched = true;
      ++marks_;
    }
    return is_named && is_matched;
  }

  // A function of each series alone gives the same result as for one object. Excluded are
  // label_replace, which may make one label of two; absent, whose result does not show what it
  // belongs to; and scalar, which drops all labels. A call without arguments is about now: time()
  // is the same number for all, but hour() a vector without labels.
  bool ReadNode(const promql::Call& call) {
    if (call.args.empty()) return call.function->returns == promql::ValueType::kScalar;
    return call.function->by_series &&
           std::all_of(call.args.begin(), call.args.end(),
                       [this](const promql::ExprPtr& arg) { return Read(*arg); });
  }

  // `by`: no group contains two values of a label that it groups by. `without` keeps the labels
  // that it does not name apart, but only the request knows the object's label. topk, bottomk,
  // quantile and count_values are not accepted: the last one writes a label.
  bool ReadNode(const promql::Aggregation& aggregation) {
    if (aggregation.param || aggregation.grouping.without || !Read(*aggregation.expr)) return false;
    std::set<std::string> labels;
    for (const std::string& label : aggregation.grouping.labels) {
      if (label == kObject || label == kContainer) ++marks_;
      if (!grouped_by_ || grouped_by_->contains(label)) labels.insert(label);
    }
    grouped_by_ = std::move(labels);
    return true;
  }

  // Samples that match on all labels belong to one object, and a number is the same for all. on,
  // ignoring, group_left and group_right relate samples of different labels.
  bool ReadNode(const promql::Binary& binary) {
    return !binary.matching.given && Read(*binary.lhs) && Read(*binary.rhs);
  }

  size_t marks_ = 0;
  std::optional<std::set<std::string>> grouped_by_;
};

size_t CountMarks(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, kMark);
  return parts.size() - 1;
}

}  // namespace

// Whether the template only fills in values. With control flow, variables, nested templates or
// .LabelValuesByName the query for several objects may differ from those for each of them.
bool OnlyFillsIn(const tmpl::Tree& tree) {
  if (tree.definitions.size() != 1) return false;
  const tmpl::Block& block = tree.definitions.begin()->second;
  return std::all_of(block.begin(), block.end(), [](const tmpl::Statement& statement) {
    if (std::holds_alternative<tmpl::Text>(statement)) return true;
    const auto* action = std::get_if<tmpl::Action>(&statement);
    return action != nullptr && action->pipeline.variables.empty() &&
           action->pipeline.commands.size() == 1 && FillsIn(action->pipeline.commands[0]);
  });
}

QueryShape ShapeOf(const QueryTemplate& query, absl::string_view namespace_label) {
  if (absl::StrContains(query.text(), kMark) || !OnlyFillsIn(query.tree())) return {};
  const auto text =
      query.Execute(QueryData{.series = std::string(kSeries),
                              .label_matchers = absl::StrCat(kMatchers, "=\"x\""),
                              .label_values_by_name = {},
                              .group_by_slice = {std::string(kObject), std::string(kContainer)}});
  if (!text.ok()) return {};
  const auto expr = promql::Parse(*text);
  if (!expr.ok() || (*expr)->Type() != promql::ValueType::kVector) return {};
  ShapeReader reader;
  // A mark that was not found is in a string or a comment, or is part of a longer word.
  if (!reader.Read(**expr) || reader.marks() != CountMarks(*text)) return {};

  QueryShape shape = {.is_read = true, .grouped_by = reader.TakeGroupedBy()};
  auto& labels = shape.grouped_by;
  shape.separates_objects = !labels || labels->erase(std::string(kObject)) > 0;
  if (labels) labels->erase(std::string(kContainer));
  shape.keeps_namespaces = shape.separates_objects && !namespace_label.empty() &&
                           (!labels || labels->contains(std::string(namespace_label)));
  return shape;
}

}  // namespace flyball::rules
