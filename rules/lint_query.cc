#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "promql/lexer.h"
#include "rules/lint.h"

namespace flyball::rules {
namespace {

constexpr absl::string_view kQueryFields[] = {"Series", "LabelMatchers", "LabelValuesByName",
                                              "GroupBy", "GroupBySlice"};

// The content of a query's .GroupBySlice.
std::vector<std::string> GroupsOf(QueryUse use) {
  switch (use) {
    case QueryUse::kExternal: return {};
    case QueryUse::kContainer: return {"pod", "container"};
    case QueryUse::kNode: return {"node"};
    case QueryUse::kCustom: break;
  }
  return {"pod"};
}

// The template's text on made-up data; nullopt: it has none, and a warning was added.
std::optional<std::string> DryRun(const QueryTemplate& query, QueryUse use, const TextField& field,
                                  absl::string_view path, const Warner& warn) {
  auto text = query.Execute({.series = "series",
                             .label_matchers = "namespace=\"n\",pod=\"p\"",
                             .label_values_by_name = {{"namespace", "n"}, {"pod", "p"}},
                             .group_by_slice = GroupsOf(use)});
  if (text.ok() && !text->empty()) return *std::move(text);
  warn(field.place, path,
       text.ok() ? "gives an empty query: every request fails"
                 : absl::StrCat("fails on a request at ", text.status().message()));
  return std::nullopt;
}

// Reads word by word, without parsing: a server may know more of the language than our parser does.
bool Aggregates(absl::string_view query) {
  using promql::TokenKind;
  const std::vector<promql::Token> tokens = promql::Lex(query);
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const promql::Token& next = tokens[i + 1];
    if (tokens[i].kind == TokenKind::kAggregation &&
        (next.kind == TokenKind::kLeftParen || next.Is(TokenKind::kKeyword, "by") ||
         next.Is(TokenKind::kKeyword, "without"))) {
      return true;
    }
  }
  return false;
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
                use == QueryUse::kContainer || use == QueryUse::kNode
                    ? "is empty: there are no metrics of these objects"
                    : "is empty: every request fails, expected a query such as "
                      "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)");
  }
  const auto query = QueryTemplate::ParseQuery(field.text);
  if (!query.ok()) return;
  const FieldUse fields = FieldsOf(*query, kQueryFields);
  LintFields(fields, field, path, warn);
  const auto text = fields.unknown.empty() ? DryRun(*query, use, field, path, warn) : std::nullopt;
  if (text) LintFilledQuery(*text, field.place, path, warn);
  const bool groups = fields.known.contains("GroupBy") || fields.known.contains("GroupBySlice");
  if (use == QueryUse::kExternal && groups) {
    warn(field.place, path, "uses .GroupBy, which is empty in externalRules");
  }
  if (use != QueryUse::kExternal && !groups && !fields.whole && text && Aggregates(*text)) {
    warn(field.place, path,
         "aggregates without .GroupBy: an answer is found by the object's label, which the result "
         "may have lost, expected by (<<.GroupBy>>)");
  }
}

}  // namespace flyball::rules
