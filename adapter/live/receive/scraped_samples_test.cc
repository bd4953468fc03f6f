#include "adapter/live/receive/scraped_samples.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "adapter/live/formats/text.h"
#include "adapter/live/scrape/config.h"
#include "adapter/live/scrape/target_samples.h"

namespace flyball::live {
namespace {

using absl::StatusCode;
constexpr int64_t kScraped = 1'700'000'000'000;

// A counter that stepped back to an earlier time between others would look like one that restarted.
TEST(ScrapedSamples, ComeInTheOrderOfTheirTimes) {
  Store store;
  Ingest ingest(store);
  ScrapedSamples scraped(store, ingest);
  const auto opened = scraped.Open({{"__name__", "a_total"}}, /*asked_for_by_pods=*/false);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ((*opened)->Append(kScraped, 1000, kScraped).code(), StatusCode::kOk);
  // The clock was set back.
  EXPECT_EQ((*opened)->Append(kScraped - 500, 1010, kScraped - 500).code(),
            StatusCode::kOutOfRange);
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
  EXPECT_EQ(store.Append(a, {kScraped - 500, 999}, kScraped).code(), StatusCode::kOk);
  EXPECT_EQ(samples_of_a(), 2u);
}

// Their pages may say of thousands of families what they are.
TEST(ScrapedSamples, MetadataOfPodsThatAskHaveTheirNamespacesPart) {
  Store store;
  Ingest ingest(store);
  ScrapedSamples scraped(store, ingest);
  ASSERT_TRUE(ingest.Push(false, "# TYPE pushed gauge\n", kScraped).ok());
  const auto job = std::make_shared<scrape::Job>();
  job->asked_for_by_pods = true;
  for (int pod = 0; pod < 5; ++pod) {
    scrape::TargetSamples target(job, {{"namespace", "greedy"}}, scraped);
    std::string page;
    for (int i = 0; i < 4'000; ++i) {
      absl::StrAppend(&page, "# HELP f_", pod, "_", i, " ", std::string(1'000, 'x'), "\n");
    }
    (void)target.TakePage([&](auto& sink) { return formats::ParseText(page, sink); }, kScraped,
                          kScraped);
  }
  const auto all = ingest.metadata().All();
  EXPECT_GT(all.size(), MetadataTable::kPart / 2);
  EXPECT_LE(all.size(), MetadataTable::kPart + 1);
  EXPECT_EQ(all.back().first, "pushed");
}

}  // namespace
}  // namespace flyball::live
