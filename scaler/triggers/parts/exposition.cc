#include "scaler/triggers/parts/exposition.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"

namespace flyball::scaler {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

bool IsNameChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':';
}

void SkipBlanks(absl::string_view& text) {
  while (!text.empty() && (text[0] == ' ' || text[0] == '\t')) text.remove_prefix(1);
}

// Removes that mark, and blanks before it, from the front of `text`; false if it is not there.
bool TakeMark(absl::string_view& text, absl::string_view mark) {
  SkipBlanks(text);
  return absl::ConsumePrefix(&text, mark);
}

// Removes a name from the front of `text` and returns it; "" if there is none.
absl::string_view TakeName(absl::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), IsNameChar);
  const absl::string_view name = text.substr(0, static_cast<size_t>(end - text.begin()));
  text.remove_prefix(name.size());
  return name;
}

// Reads a quoted text whose first quote has been removed.
absl::StatusOr<std::string> TakeQuoted(absl::string_view& text) {
  std::string out;
  while (!text.empty()) {
    const char c = text[0];
    text.remove_prefix(1);
    if (c == '"') return out;
    if (c != '\\') {
      out += c;
      continue;
    }
    if (text.empty()) break;
    out += text[0] == 'n' ? '\n' : text[0];
    text.remove_prefix(1);
  }
  return absl::InvalidArgumentError("a label's value does not end");
}

// Reads `{a="b",…}` whose first brace has been removed.
absl::StatusOr<Labels> TakeLabels(absl::string_view& text) {
  Labels out;
  for (;;) {
    if (TakeMark(text, "}")) return out;
    const absl::string_view name = TakeName(text);
    if (name.empty() || !TakeMark(text, "=") || !TakeMark(text, "\"")) {
      return absl::InvalidArgumentError("expected label=\"value\"");
    }
    ASSIGN_OR_RETURN(std::string value, TakeQuoted(text));
    out.emplace_back(std::string(name), std::move(value));
    if (!TakeMark(text, ",") && (text.empty() || text[0] != '}')) {
      return absl::InvalidArgumentError("expected `,` or `}` after a label");
    }
  }
}

absl::StatusOr<double> TakeValue(absl::string_view text) {
  SkipBlanks(text);
  const absl::string_view number = text.substr(0, text.find_first_of(" \t"));
  double value = 0;
  if (number.empty() || !absl::SimpleAtod(number, &value)) {
    return absl::InvalidArgumentError("expected a number as the value");
  }
  return value;
}

// Reads what follows the name of a sample.
absl::StatusOr<double> TakeSample(absl::string_view text, Labels& labels) {
  if (TakeMark(text, "{")) {
    ASSIGN_OR_RETURN(labels, TakeLabels(text));
  }
  return TakeValue(text);
}

// Both may be as long as an Autoscaler and an answer are, so they are sorted before they are
// compared.
void Sort(Labels& labels) {
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
}

bool Fits(const SampleSelector& selector, Labels labels) {
  if (selector.labels.empty()) return true;
  Sort(labels);
  return std::includes(labels.begin(), labels.end(), selector.labels.begin(),
                       selector.labels.end());
}

}  // namespace

absl::StatusOr<SampleSelector> SampleSelector::Parse(absl::string_view text) {
  absl::string_view rest = absl::StripAsciiWhitespace(text);
  SampleSelector out;
  out.name = std::string(TakeName(rest));
  if (out.name.empty() || absl::ascii_isdigit(static_cast<unsigned char>(out.name[0]))) {
    return absl::InvalidArgumentError("expected a metric like name{label=\"value\"}");
  }
  if (TakeMark(rest, "{")) {
    ASSIGN_OR_RETURN(out.labels, TakeLabels(rest));
    Sort(out.labels);
  }
  if (!absl::StripAsciiWhitespace(rest).empty()) {
    return absl::InvalidArgumentError("there is text after the metric");
  }
  return out;
}

absl::StatusOr<double> FindSample(absl::string_view page, const SampleSelector& selector) {
  for (size_t number = 1; !page.empty(); ++number) {
    const size_t end = page.find('\n');
    absl::string_view line = absl::StripSuffix(page.substr(0, end), "\r");
    page.remove_prefix(end == absl::string_view::npos ? page.size() : end + 1);
    SkipBlanks(line);
    if (TakeName(line) != selector.name) continue;
    Labels labels;
    absl::StatusOr<double> value = TakeSample(line, labels);
    if (!value.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat("line ", number, ": ", value.status().message()));
    }
    if (Fits(selector, std::move(labels))) return value;
  }
  return absl::NotFoundError(absl::StrCat("no sample fits ", selector.name));
}

}  // namespace flyball::scaler
