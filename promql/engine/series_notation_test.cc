#include "promql/engine/series_notation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "promql/engine/series.h"
#include "promql/text.h"

namespace flyball::promql {
namespace {

struct SeriesNotationRow {
  std::string name;
  std::string text;
  std::string values;  // "!": refused
};

// The values in one line: `_` absent, `stale` a marker.
std::string Show(const std::vector<std::optional<double>>& values) {
  std::string shown;
  for (const auto& value : values) {
    absl::StrAppend(&shown, shown.empty() ? "" : " ",
                    !value            ? "_"
                    : IsStale(*value) ? "stale"
                                      : FormatValue(*value));
  }
  return shown;
}

class ParseSeriesValuesTest : public testing::TestWithParam<SeriesNotationRow> {};

TEST_P(ParseSeriesValuesTest, Row) {
  const auto values = ParseSeriesValues(GetParam().text);
  if (GetParam().values == "!") {
    EXPECT_EQ(values.status().code(), absl::StatusCode::kInvalidArgument);
    return;
  }
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ(Show(*values), GetParam().values);
}

INSTANTIATE_TEST_SUITE_P(
    Promtool, ParseSeriesValuesTest,
    testing::Values(SeriesNotationRow{"CountIsOfSteps", "1+2x3", "1 3 5 7"},
                    SeriesNotationRow{"Falls", "-2-4x2", "-2 -6 -10"},
                    SeriesNotationRow{"RepeatsWithoutStep", "5x2", "5 5 5"},
                    SeriesNotationRow{"NoStepsIsOneValue", "1+1x0", "1"},
                    SeriesNotationRow{"Gaps", "1 _ 2 _x2 3", "1 _ 2 _ _ 3"},
                    SeriesNotationRow{"Stale", "1 stale 2", "1 stale 2"},
                    SeriesNotationRow{"SpecialNumbers", "NaN -Inf 1e3 .5", "NaN -Inf 1000 0.5"},
                    SeriesNotationRow{"StepWithExponent", "1e1+1e-1x1", "10 10.1"},
                    SeriesNotationRow{"NoHexadecimal", "0x3", "0 0 0 0"},
                    SeriesNotationRow{"NoHexadecimalStart", "0x3x1", "!"},
                    SeriesNotationRow{"Nothing", "", ""}, SeriesNotationRow{"Word", "1 two", "!"},
                    SeriesNotationRow{"NoCount", "1+1x", "!"},
                    SeriesNotationRow{"NativeHistogram", "{{schema:1}}", "!"},
                    SeriesNotationRow{"TooMany", "1x100001", "!"},
                    SeriesNotationRow{"TooManyInAll", "1x60000 1x60000", "!"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace flyball::promql
