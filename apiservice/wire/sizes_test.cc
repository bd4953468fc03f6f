#include "apiservice/wire/sizes.h"

#include <string>

#include <gtest/gtest.h>

#include "apiservice/wire/metric_lists.h"

namespace flyball::apiservice::wire {
namespace {

TEST(SizesTest, NoTextMakesAnAnswerLongerThanItsEstimate) {
  for (const absl::string_view unit : {"x", "<", "\n", "\x01", "\"", "ä", "\u2028"}) {
    std::string value;
    for (int i = 0; i < 1000; ++i) value.append(unit.data(), unit.size());
    adapter::ExternalMetricList list;
    list.metric = "m";
    list.items.assign(10, {.labels = adapter::LabelSet{{"k", value}},
                           .timestamp = absl::FromUnixSeconds(1700000000),
                           .value_milli = 1});
    EXPECT_GE(JsonBytes(list), ToJson(list).size()) << unit;
  }
}

}  // namespace
}  // namespace flyball::apiservice::wire
