#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "promql/parser.h"
#include "rules/lint.h"

namespace flyball::rules {
namespace {

using promql::Dialect;

constexpr size_t kMostShownBytes = 300;

std::string Shown(const std::string& query) {
  if (query.size() <= kMostShownBytes) return query;
  return absl::StrCat(query.substr(0, kMostShownBytes), "…");
}

// OK if either version of Prometheus accepts it: some functions have another name in the newer one.
template <typename Read>
absl::Status Refusal(const std::string& query, const Read& read) {
  absl::Status newest = read(query, Dialect::k3);
  if (newest.ok() || read(query, Dialect::k2).ok()) return absl::OkStatus();
  return newest;
}

// `1:48: parse error: text` as a sentence.
std::string InWords(const absl::Status& refusal) {
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(std::string(refusal.message()), absl::MaxSplits(": parse error: ", 1));
  if (parts.second.empty()) return parts.first;
  return absl::StrCat("parse error at ", parts.first, ": ", parts.second);
}

// Reports a refusal: only as a warning if the parser may know less than Prometheus.
void Tell(const absl::Status& refusal, const std::string& text, Place place,
          absl::string_view field, const Warner& warn) {
  if (refusal.code() == absl::StatusCode::kUnimplemented) {
    return warn(place, field, absl::StrCat("is not checked: ", InWords(refusal), ", in ", text));
  }
  warn.Refuse(place, field, absl::StrCat(InWords(refusal), ", in ", text));
}

}  // namespace

void LintSelector(const TextField& query, absl::string_view field, const Warner& warn) {
  const absl::Status refusal = Refusal(query.text, [](const std::string& text, Dialect dialect) {
    return promql::ParseSeriesSelector(text, dialect).status();
  });
  if (refusal.ok()) return;
  Tell(refusal,
       absl::StrCat(Shown(query.text),
                    "; expected a vector selector such as http_requests_total{namespace!=\"\"}"),
       query.place, field, warn);
}

void LintFilledQuery(const std::string& filled, Place place, absl::string_view field,
                     const Warner& warn) {
  auto type = promql::ValueType::kVector;
  const absl::Status refusal = Refusal(filled, [&](const std::string& text, Dialect dialect) {
    const auto parsed = promql::Parse(text, dialect);
    if (parsed.ok()) type = (*parsed)->Type();
    return parsed.status();
  });
  if (!refusal.ok()) return Tell(refusal, Shown(filled), place, field, warn);
  if (type == promql::ValueType::kMatrix || type == promql::ValueType::kString) {
    warn.Refuse(place, field,
                absl::StrCat("gives a ", promql::TypeName(type),
                             ", expected an instant vector, in ", Shown(filled)));
  }
}

}  // namespace flyball::rules
