// The templates of a rule file: metric queries and resource labels, written in Go's text/template
// with the delimiters `<<` and `>>`.
//
// Pure; a template is immutable and may be used on many threads. Stages: template/lexer.h (text to
// tokens), template/parser.h (tokens to tree), template/evaluator.h (tree and data to text).
// Source: Go's text/template as prometheus-adapter 0.12.0 uses it; replayed against it by
// test/data/templates.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/objects/rest_mapping.h"
#include "rules/template/tree.h"

namespace flyball::rules {

// The data of a metric query.
struct QueryData {
  std::string series;
  std::string label_matchers;
  std::map<std::string, std::string> label_values_by_name;
  std::vector<std::string> group_by_slice;  // .GroupBy is this, joined with commas
};

class QueryTemplate {
 public:
  // kInvalidArgument: does not parse; the message starts with `line:column` in the template.
  static absl::StatusOr<QueryTemplate> ParseQuery(absl::string_view text);
  static absl::StatusOr<QueryTemplate> ParseLabel(absl::string_view text);

  // kInvalidArgument, kResourceExhausted: see template/evaluator.h. The caller has to refuse an
  // empty text.
  absl::StatusOr<std::string> Execute(const QueryData& data) const;
  // Does the same for a resource label.
  absl::StatusOr<std::string> Execute(const kube::GroupResource& data) const;

  const std::string& text() const { return tree_->text; }
  const tmpl::Tree& tree() const { return *tree_; }

 private:
  explicit QueryTemplate(tmpl::Tree tree)
      : tree_(std::make_shared<const tmpl::Tree>(std::move(tree))) {}

  std::shared_ptr<const tmpl::Tree> tree_;
};

}  // namespace flyball::rules
