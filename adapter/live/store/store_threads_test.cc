// Many threads at one store. ThreadSanitizer sees to the locks; the test, that no sample is lost,
// none is seen twice or out of order, and no mark is missed.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapter/live/store/store.h"
#include "adapter/live/store/testing/make_labels.h"
#include "adapter/live/store/testing/take_mark.h"

namespace flyball::live {
namespace {

constexpr int kWriters = 3;
constexpr int kSeriesEach = 20;
constexpr int kRounds = 400;
constexpr int64_t kStart = 1'000'000;

promql::Labels Of(int writer, int series) {
  return Named("x", {{"writer", absl::StrCat(writer)}, {"series", absl::StrCat(series)}});
}

// Each sample's value is its time.
void Write(Store& store, int writer) {
  std::vector<SeriesHandle> handles(kSeriesEach);
  for (int series = 0; series < kSeriesEach; ++series) {
    handles[series] = *store.Open(Of(writer, series));
  }
  for (int64_t round = 0; round < kRounds; ++round) {
    const int64_t time_ms = kStart + round * 1000;
    for (int series = 0; series < kSeriesEach; ++series) {
      absl::Status status =
          store.Append(handles[series], {time_ms, static_cast<double>(time_ms)}, time_ms);
      if (absl::IsNotFound(status)) {  // pruned before its first sample
        handles[series] = *store.Open(Of(writer, series));
        status = store.Append(handles[series], {time_ms, static_cast<double>(time_ms)}, time_ms);
      }
      EXPECT_TRUE(absl::IsNotFound(status) || status.ok()) << status;
    }
    // Comes, and goes with the next Prune that is late enough.
    const promql::Labels passing = Named("y", {{"round", absl::StrCat(writer, "-", round)}});
    EXPECT_TRUE(store.Append(passing, {time_ms, 1}, time_ms).ok());
  }
}

void ReadAll(const Store& store) {
  for (const auto& series : store.Select(Name("x"))) {
    std::vector<Point> points;
    series->Read(0, kStart * 1000, points);
    for (size_t i = 0; i < points.size(); ++i) {
      EXPECT_EQ(points[i].value, static_cast<double>(points[i].time_ms));
      if (i > 0) {
        EXPECT_EQ(points[i].time_ms, points[i - 1].time_ms + 1000);
      }
    }
  }
}

TEST(Store, ServesManyThreads) {
  Store store({.retention_ms = 100'000, .max_ahead_ms = kStart * 1000});
  const auto watch = std::make_shared<Watch>(std::vector<Selector>{Name("x")}, [] {});
  store.StartWatch(watch);
  std::atomic<int> writing = kWriters;
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      Write(store, writer);
      --writing;
    });
  }
  threads.emplace_back([&] {
    while (writing > 0) ReadAll(store);
  });
  threads.emplace_back([&] {
    while (writing > 0) {
      const auto other = std::make_shared<Watch>(std::vector<Selector>{Name("y")}, [] {});
      store.StartWatch(other);
      store.Prune(kStart);  // drops what has no sample at all
      store.Keep({{Name("x"), Name("y")}});
      store.StopWatch(other);
      EXPECT_GE(store.counts().series, 0u);
    }
  });
  // Who takes the mark and then reads has seen all but what marks it again.
  const auto newest_seen = [&store] {
    int64_t newest_ms = 0;
    for (const auto& series : store.Select(Name("x"))) {
      if (const auto newest = series->Newest(0, kStart * 1000)) {
        newest_ms = std::max(newest_ms, newest->time_ms);
      }
    }
    return newest_ms;
  };
  int64_t seen_ms = 0;
  while (writing > 0) {
    if (TakeMark(*watch)) seen_ms = newest_seen();
  }
  for (std::thread& thread : threads) thread.join();
  if (TakeMark(*watch)) seen_ms = newest_seen();
  EXPECT_EQ(seen_ms, kStart + (kRounds - 1) * 1000);
  EXPECT_EQ(store.Select(Name("x")).size(), size_t{kWriters} * kSeriesEach);
  store.Prune(kStart * 1000);
  EXPECT_EQ(store.counts().series, 0u);
  EXPECT_EQ(store.counts().bytes, 0u);
}

}  // namespace
}  // namespace flyball::live
