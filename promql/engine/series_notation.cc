#include "promql/engine/series_notation.h"

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "promql/engine/series.h"
#include "promql/text.h"

namespace flyball::promql {
namespace {

constexpr size_t kMaxValues = 100'000;

using Values = std::vector<std::optional<double>>;

absl::Status BadItem(absl::string_view item, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      Quote(item), " ", why, "; expected numbers, `_`, `stale`, or `start+stepxcount`"));
}

// `-1.5`, `+Inf`: a number with its sign.
std::optional<double> ParseSigned(absl::string_view text) {
  const bool negative = absl::StartsWith(text, "-");
  if (negative || absl::StartsWith(text, "+")) text.remove_prefix(1);
  // No hexadecimal: 0x10 is a repeated zero.
  if (text.empty() || text[0] == '-' || text[0] == '+' || absl::StrContains(text, 'x')) {
    return std::nullopt;
  }
  const auto value = ParseNumber(text);
  if (!value.ok()) return std::nullopt;
  return negative ? -*value : *value;
}

// Where the step's sign stands in `a+b`: a sign after the first byte that is not an exponent's.
size_t StepAt(absl::string_view text) {
  for (size_t i = 1; i < text.size(); ++i) {
    const bool exponent = absl::ascii_tolower(text[i - 1]) == 'e';
    if ((text[i] == '+' || text[i] == '-') && !exponent) return i;
  }
  return absl::string_view::npos;
}

absl::Status AppendRepeated(absl::string_view item, size_t times_at, Values* values) {
  size_t times = 0;
  if (!absl::SimpleAtoi(item.substr(times_at + 1), &times) || times > kMaxValues) {
    return BadItem(item, "has no usable count after `x`");
  }
  const absl::string_view what = item.substr(0, times_at);
  if (what == "_") {
    values->insert(values->end(), times, std::nullopt);
    return absl::OkStatus();
  }
  const size_t step_at = StepAt(what);
  const auto start = ParseSigned(what.substr(0, step_at));
  const auto step = step_at == absl::string_view::npos ? 0.0 : ParseSigned(what.substr(step_at));
  if (!start || !step) return BadItem(item, "is not a number");
  double value = *start;
  for (size_t i = 0; i <= times; ++i) {
    values->push_back(value);
    value += *step;
  }
  return absl::OkStatus();
}

absl::Status AppendItem(absl::string_view item, Values* values) {
  if (absl::StrContains(item, "{{")) {
    return BadItem(item, "is a native histogram, which is not supported");
  }
  if (item == "_") {
    values->push_back(std::nullopt);
  } else if (item == "stale") {
    values->push_back(StaleMarker());
  } else if (const size_t times_at = item.rfind('x'); times_at != absl::string_view::npos) {
    return AppendRepeated(item, times_at, values);
  } else if (const auto value = ParseSigned(item)) {
    values->push_back(*value);
  } else {
    return BadItem(item, "is not a number");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Values> ParseSeriesValues(absl::string_view text) {
  Values values;
  for (const absl::string_view item :
       absl::StrSplit(text, absl::ByAnyChar(" \t\n\r"), absl::SkipEmpty())) {
    if (absl::Status status = AppendItem(item, &values); !status.ok()) return status;
    if (values.size() > kMaxValues) {
      return absl::InvalidArgumentError(absl::StrCat("more than ", kMaxValues, " values"));
    }
  }
  return values;
}

}  // namespace flyball::promql
