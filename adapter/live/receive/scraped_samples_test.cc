#include "adapter/live/receive/scraped_samples.h"

#include <gtest/gtest.h>

#include <limits>

namespace flyball::live {
namespace {

using absl::StatusCode;
constexpr int64_t kNow = 1'700'000'000'000;

// A counter that stepped back to an earlier time between others would look like one that restarted.
TEST(ScrapedSamples, ComeInTheOrderOfTheirTimes) {
  Store store;
  Ingest ingest(store);
  ScrapedSamples scraped(store, ingest);
  const auto opened = scraped.Open({{"__name__", "a_total"}}, /*asked_for_by_pods=*/false);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ((*opened)->Append(kNow, 1000, kNow).code(), StatusCode::kOk);
  // The clock was set back.
  EXPECT_EQ((*opened)->Append(kNow - 500, 1010, kNow - 500).code(), StatusCode::kOutOfRange);
  const auto samples_of_a = [&] {
    std::vector<Point> points;
    for (const auto& series : store.All()) {
      series->Read(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(),
                   points);
    }
    return points.size();
  };
  EXPECT_EQ(samples_of_a(), 1u);
  // Senders' batches may overtake each other.
  const promql::Labels a(promql::LabelSet{{"__name__", "a_total"}});
  EXPECT_EQ(store.Append(a, {kNow - 500, 999}, kNow).code(), StatusCode::kOk);
  EXPECT_EQ(samples_of_a(), 2u);
}

}  // namespace
}  // namespace flyball::live
