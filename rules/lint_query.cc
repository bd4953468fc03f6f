#include <re2/re2.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "rules/lint_parts.h"
#include "rules/query_template.h"
#include "rules/template_fields.h"

namespace flyball::rules {
namespace {

constexpr absl::string_view kQueryFields[] = {"Series", "LabelMatchers", "LabelValuesByName",
                                              "GroupBy", "GroupBySlice"};

// Runs the template on made-up data.
void LintDryRun(const QueryTemplate& query, const TextField& field, absl::string_view path,
                const Warner& warn) {
  const auto text = query.Execute({.series = "series",
                                   .label_matchers = "namespace=\"n\",pod=\"p\"",
                                   .label_values_by_name = {{"namespace", "n"}, {"pod", "p"}},
                                   .group_by_slice = {"pod"}});
  if (!text.ok()) {
    warn(field.place, path, absl::StrCat("fails on a request at ", text.status().message()));
  } else if (text->empty()) {
    warn(field.place, path, "gives an empty query: every request fails");
  }
}

bool Aggregates(const std::string& query) {
  static const RE2* const kAggregation =
      new RE2(R"((?i)\b(sum|avg|min|max|count|stddev|stdvar|group|topk|bottomk|quantile)\b)");
  return RE2::PartialMatch(query, *kAggregation);
}

void LintFields(const FieldUse& fields, const TextField& field, absl::string_view path,
                const Warner& warn) {
  for (const std::string& name : fields.unknown) {
    warn(field.place, path,
         absl::StrCat("asks for .", name,
                      ", which no query has: requests fail, expected .Series, .LabelMatchers, "
                      ".LabelValuesByName, .GroupBy or .GroupBySlice"));
  }
  if (!fields.whole && !fields.known.contains("LabelMatchers") &&
      !fields.known.contains("LabelValuesByName")) {
    warn(field.place, path,
         "ignores .LabelMatchers: namespace, object and selector of a request change nothing, "
         "expected <<.Series>>{<<.LabelMatchers>>}");
  }
}

}  // namespace

void LintQuery(const TextField& field, absl::string_view path, QueryUse use, const Warner& warn) {
  if (absl::StripAsciiWhitespace(field.text).empty()) {
    return warn(field.place, path,
                use == QueryUse::kResource
                    ? "is empty: there are no metrics of these objects"
                    : "is empty: every request fails, expected a query such as "
                      "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)");
  }
  const auto query = QueryTemplate::ParseQuery(field.text);
  if (!query.ok()) return;
  const FieldUse fields = FieldsOf(*query, kQueryFields);
  LintFields(fields, field, path, warn);
  if (fields.unknown.empty()) LintDryRun(*query, field, path, warn);
  const bool groups = fields.known.contains("GroupBy") || fields.known.contains("GroupBySlice");
  if (use == QueryUse::kExternal && groups) {
    warn(field.place, path, "uses .GroupBy, which is empty in externalRules");
  }
  if (use != QueryUse::kExternal && !groups && !fields.whole && Aggregates(field.text)) {
    warn(field.place, path,
         "aggregates without .GroupBy: an answer is found by the object's label, which the result "
         "may have lost, expected by (<<.GroupBy>>)");
  }
}

}  // namespace flyball::rules
