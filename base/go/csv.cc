#include "base/go/csv.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"

namespace flyball::go {
namespace {

bool AtEndOfLine(absl::string_view text) {
  absl::ConsumePrefix(&text, "\r");
  return text.empty() || text[0] == '\n';
}

// The rest of a field whose first quote was taken.
absl::Status TakeQuoted(absl::string_view& text, std::string& field) {
  while (true) {
    const size_t quote = text.find('"');
    if (quote == absl::string_view::npos) {
      return absl::InvalidArgumentError("a quoted field has no closing quote");
    }
    absl::StrAppend(&field, text.substr(0, quote));
    text.remove_prefix(quote + 1);
    if (!absl::ConsumePrefix(&text, "\"")) break;
    field.push_back('"');
  }
  if (absl::StartsWith(text, ",") || AtEndOfLine(text)) return absl::OkStatus();
  return absl::InvalidArgumentError("a quoted field goes on after its closing quote");
}

absl::Status TakePlain(absl::string_view& text, std::string& field) {
  absl::string_view taken = text.substr(0, text.find_first_of(",\n"));
  text.remove_prefix(taken.size());
  if (AtEndOfLine(text)) absl::ConsumeSuffix(&taken, "\r");
  field = std::string(taken);
  if (!absl::StrContains(taken, '"')) return absl::OkStatus();
  return absl::InvalidArgumentError("a quote stands within a field that is not quoted");
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadCsvRecord(absl::string_view text) {
  while (absl::ConsumePrefix(&text, "\n") || absl::ConsumePrefix(&text, "\r\n")) {
  }
  if (text.empty()) return absl::InvalidArgumentError("there is no value");
  std::vector<std::string> fields;
  do {
    std::string& field = fields.emplace_back();
    RETURN_IF_ERROR(absl::ConsumePrefix(&text, "\"") ? TakeQuoted(text, field)
                                                     : TakePlain(text, field));
  } while (absl::ConsumePrefix(&text, ","));
  return fields;
}

}  // namespace flyball::go
