#include "scaler/triggers/parts/exposition.h"

#include <algorithm>
#include <bitset>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "promql/parser.h"

namespace flyball::scaler {
namespace {

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

// Removes the rest of a quoted text, whose first quote has been removed, from the front of `text`
// and returns it as it is written, without the second quote.
absl::StatusOr<absl::string_view> TakeQuoted(absl::string_view& text) {
  for (size_t end = text.find_first_of("\\\""); end < text.size();
       end = text.find_first_of("\\\"", end)) {
    if (text[end] == '"') {
      const absl::string_view written = text.substr(0, end);
      text.remove_prefix(end + 1);
      return written;
    }
    end += 2;  // what follows a backslash ends nothing
  }
  return absl::InvalidArgumentError("a label's value does not end");
}

// What a written text stands for, character by character.
class Unescaped {
 public:
  explicit Unescaped(absl::string_view written) : rest_(written) {}

  std::optional<char> Next() {
    if (rest_.empty()) return std::nullopt;
    const bool escaped = rest_[0] == '\\' && rest_.size() > 1;
    const char c = rest_[escaped ? 1 : 0];
    rest_.remove_prefix(escaped ? 2 : 1);
    return escaped && c == 'n' ? '\n' : c;
  }

 private:
  absl::string_view rest_;
};

bool StandsFor(absl::string_view written, absl::string_view text) {
  Unescaped unescaped(written);
  for (const char c : text) {
    if (unescaped.Next() != c) return false;
  }
  return !unescaped.Next().has_value();
}

// Which labels of a selector a sample has.
class Found {
 public:
  explicit Found(const SampleSelector& selector) : selector_(selector) {}

  void Note(absl::string_view name, absl::string_view written) {
    for (size_t i = 0; i < selector_.labels.size(); ++i) {
      const auto& [wanted, value] = selector_.labels[i];
      if (!found_[i] && name == wanted && StandsFor(written, value)) found_.set(i);
    }
  }
  bool All() const { return found_.count() == selector_.labels.size(); }

 private:
  const SampleSelector& selector_;
  std::bitset<SampleSelector::kMaxLabels> found_;
};

// Reads `{a="b",…}` whose first brace has been removed. The labels are not kept: many small ones
// would take many times the text.
absl::Status TakeLabels(absl::string_view& text, Found& found) {
  for (size_t count = 1;; ++count) {
    if (TakeMark(text, "}")) return absl::OkStatus();
    if (count > SampleSelector::kMaxLabels) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected at most ", SampleSelector::kMaxLabels, " labels"));
    }
    const absl::string_view name = TakeName(text);
    if (name.empty() || !TakeMark(text, "=") || !TakeMark(text, "\"")) {
      return absl::InvalidArgumentError("expected label=\"value\"");
    }
    ASSIGN_OR_RETURN(const absl::string_view written, TakeQuoted(text));
    found.Note(name, written);
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
absl::StatusOr<double> TakeSample(absl::string_view text, Found& found) {
  if (TakeMark(text, "{")) RETURN_IF_ERROR(TakeLabels(text, found));
  return TakeValue(text);
}

}  // namespace

static_assert(promql::kMaxMatchers <= SampleSelector::kMaxLabels);
constexpr size_t kMaxWhy = 200;

absl::StatusOr<SampleSelector> SampleSelector::Parse(absl::string_view text) {
  const absl::StatusOr<promql::Selector> parsed = promql::ParseSeriesSelector(text);
  if (!parsed.ok()) {
    // It may quote all of the text.
    const absl::string_view why = parsed.status().message();
    return absl::InvalidArgumentError(
        absl::StrCat("expected a metric like name{label=\"value\"}",
                     why.size() <= kMaxWhy ? absl::StrCat(": ", why) : ""));
  }
  SampleSelector out;
  for (const promql::Matcher& matcher : parsed->matchers) {
    if (matcher.op() != promql::Matcher::Op::kEqual) {
      return absl::InvalidArgumentError("only = may be between a label and its value");
    }
    if (matcher.label() == "__name__") {
      out.name = matcher.value();
    } else {
      out.labels.emplace_back(matcher.label(), matcher.value());
    }
  }
  if (out.name.empty()) return absl::InvalidArgumentError("expected the name of a metric");
  return out;
}

absl::StatusOr<double> FindSample(absl::string_view page, const SampleSelector& selector) {
  for (size_t number = 1; !page.empty(); ++number) {
    const size_t end = page.find('\n');
    absl::string_view line = absl::StripSuffix(page.substr(0, end), "\r");
    page.remove_prefix(end == absl::string_view::npos ? page.size() : end + 1);
    SkipBlanks(line);
    if (TakeName(line) != selector.name) continue;
    Found found(selector);
    absl::StatusOr<double> value = TakeSample(line, found);
    if (!value.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat("line ", number, ": ", value.status().message()));
    }
    if (found.All()) return value;
  }
  return absl::NotFoundError(absl::StrCat("no sample fits ", selector.name));
}

}  // namespace flyball::scaler
