#include "rules/query_template.h"

#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "rules/template/evaluator.h"
#include "rules/template/parser.h"
#include "rules/template/value.h"

namespace flyball::rules {

// The names are what the original's templates call themselves.
absl::StatusOr<QueryTemplate> QueryTemplate::ParseQuery(absl::string_view text) {
  ASSIGN_OR_RETURN(tmpl::Tree tree, tmpl::Parse(text, "metrics-query"));
  return QueryTemplate(std::move(tree));
}

absl::StatusOr<QueryTemplate> QueryTemplate::ParseLabel(absl::string_view text) {
  ASSIGN_OR_RETURN(tmpl::Tree tree, tmpl::Parse(text, "resource-label"));
  return QueryTemplate(std::move(tree));
}

absl::StatusOr<std::string> QueryTemplate::Execute(const QueryData& data) const {
  const tmpl::List group_by = {data.group_by_slice.data(), data.group_by_slice.size(),
                               data.group_by_slice.size()};
  const tmpl::Record record = {
      .type_name = "naming.queryTemplateArgs",
      .fields = {{"Series", data.series},
                 {"LabelMatchers", data.label_matchers},
                 {"LabelValuesByName", &data.label_values_by_name},
                 {"GroupBy", absl::StrJoin(data.group_by_slice, ",")},
                 {"GroupBySlice", group_by}},
      .methods = {},
  };
  return tmpl::Execute(*tree_, &record);
}

absl::StatusOr<std::string> QueryTemplate::Execute(const kube::GroupResource& data) const {
  const tmpl::Record record = {
      .type_name = "schema.GroupResource",
      .fields = {{"Group", data.group}, {"Resource", data.resource}},
      .methods = {{"Empty", data.group.empty() && data.resource.empty()},
                  {"String", data.ToString()}},
  };
  return tmpl::Execute(*tree_, &record);
}

}  // namespace flyball::rules
