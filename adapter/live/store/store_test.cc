#include "adapter/live/store/store.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "absl/base/casts.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "adapter/live/store/testing/make_labels.h"
#include "adapter/live/store/testing/take_mark.h"

namespace flyball::live {
namespace {

using absl::StatusCode;
using promql::Matcher;
constexpr int64_t kNow = 1'700'000'000'000;

// Every sample that a reader sees, as "time=value " series by series.
std::string Show(const Store& store, const Selector& selector) {
  std::string text;
  for (const auto& series : store.Select(selector)) {
    std::vector<Point> points;
    series->Read(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), points);
    for (const Point& point : points) {
      text += std::to_string(point.time_ms - kNow) + "=" +
              std::to_string(static_cast<int>(point.value)) + " ";
    }
  }
  return text;
}

TEST(Append, FollowsPrometheusRules) {
  Store store({.out_of_order_ms = 0});
  const promql::Labels x = Named("x");
  const auto append = [&](int64_t time_ms, double value) {
    return store.Append(x, {kNow + time_ms, value}, kNow).code();
  };
  EXPECT_EQ(append(0, 1), StatusCode::kOk);
  EXPECT_EQ(append(0, 1), StatusCode::kOk) << "the same again is fine";
  EXPECT_EQ(append(0, 2), StatusCode::kAlreadyExists);
  EXPECT_EQ(append(-1, 1), StatusCode::kOutOfRange);
  EXPECT_EQ(append(1, 3), StatusCode::kOk);
  EXPECT_EQ(append(600'000, 4), StatusCode::kOk);
  EXPECT_EQ(append(600'001, 4), StatusCode::kOutOfRange) << "ten minutes ahead of now at most";
  EXPECT_EQ(Show(store, Name("x")), "0=1 1=3 600000=4 ");
  EXPECT_EQ(store.Append(Named("y"), {kNow - 600'001, 1}, kNow).code(), StatusCode::kOutOfRange);
  EXPECT_EQ(store.Append(Named("y"), {kNow - 600'000, 1}, kNow).code(), StatusCode::kOk);
}

TEST(Append, SaysWhatIsWrongWithWhichSeries) {
  Store store({.out_of_order_ms = 0});
  const promql::Labels x = Named("x", {{"a", "b"}});
  ASSERT_TRUE(store.Append(x, {kNow, 1}, kNow).ok());
  EXPECT_EQ(store.Append(x, {kNow, 2}, kNow).message(),
            "duplicate sample for timestamp for x{a=\"b\"}");
  EXPECT_EQ(store.Append(x, {kNow - 1, 2}, kNow).message(), "out of order sample for x{a=\"b\"}");
  EXPECT_EQ(store.Append(x, {kNow + 600'007, 2}, kNow).message(),
            "out of bounds: 600007 ms ahead of now, for x{a=\"b\"}");
}

TEST(Append, OfALongSeriesOnlyTheBeginningIsNamed) {
  Store store;
  std::string text = "a";
  while (text.size() < 4000) text += "\u00e9";  // of two bytes
  const promql::Labels x = Named("x", {{"a", text}, {"b", text}});
  ASSERT_TRUE(store.Append(x, {kNow, 1}, kNow).ok());
  EXPECT_EQ(store.Append(x, {kNow, 2}, kNow).message(),
            absl::StrCat("duplicate sample for timestamp for x{a=\"", text.substr(0, 511),
                         "... (3490 bytes more)\"}..."));
}

TEST(Append, KeepsTheMarkerAndMakesOtherNansOne) {
  Store store;
  const auto bits = [](double value) { return absl::bit_cast<uint64_t>(value); };
  const std::vector<double> fed = {promql::StaleMarker(),
                                   absl::bit_cast<double>(0x7ff0000000000001),
                                   -std::numeric_limits<double>::quiet_NaN(), -0.0};
  for (size_t i = 0; i < fed.size(); ++i) {
    ASSERT_TRUE(store.Append(Named("x"), {kNow + static_cast<int64_t>(i), fed[i]}, kNow).ok());
  }
  std::vector<Point> points;
  store.Select(Name("x")).at(0)->Read(0, kNow * 2, points);
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(bits(points[0].value), promql::kStaleBits);
  EXPECT_EQ(bits(points[1].value), 0x7ff8000000000001u);
  EXPECT_EQ(bits(points[2].value), 0x7ff8000000000001u);
  EXPECT_EQ(bits(points[3].value), bits(-0.0));
}

TEST(Append, NormalizesLabels) {
  Store store;
  int64_t now = kNow;
  const auto append = [&](const promql::LabelSet& labels) {
    return store.Append(labels, {++now, 1}, now);
  };
  EXPECT_TRUE(append({{"b", "2"}, {"gone", ""}, {"__name__", "x"}}).ok());
  EXPECT_TRUE(append({{"__name__", "x"}, {"b", "2"}}).ok());
  EXPECT_EQ(store.counts().series, 1u);
  EXPECT_EQ(append({{"b", "2"}, {"b", "3"}}).message(), "label b is given twice");
  EXPECT_EQ(append({{"b", ""}}).message(), "a series needs at least one label");
}

TEST(Append, TakesLateSamplesWithinTheWindow) {
  Store store({.out_of_order_ms = 100});
  ASSERT_TRUE(store.Append(Named("x"), {kNow, 1}, kNow).ok());
  EXPECT_TRUE(store.Append(Named("x"), {kNow - 100, 2}, kNow).ok());
  EXPECT_TRUE(store.Append(Named("x"), {kNow - 50, 3}, kNow).ok());
  EXPECT_EQ(store.Append(Named("x"), {kNow - 50, 4}, kNow).code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(store.Append(Named("x"), {kNow - 101, 5}, kNow).code(), StatusCode::kOutOfRange);
  EXPECT_EQ(Show(store, Name("x")), "-100=2 -50=3 0=1 ");
}

TEST(DropLaterThan, ASeriesOfTheFutureBeginsAnew) {
  Store store;
  const promql::Labels a = Named("a"), b = Named("b");
  ASSERT_TRUE(store.Append(a, {kNow, 1}, kNow).ok());
  ASSERT_TRUE(store.Append(b, {kNow - 600'000, 2}, kNow).ok());
  const int64_t back_ms = kNow - 300'000;
  EXPECT_FALSE(store.Append(a, {back_ms, 3}, back_ms).ok());
  store.DropLaterThan(back_ms);
  EXPECT_TRUE(store.Append(a, {back_ms, 3}, back_ms).ok());
  EXPECT_EQ(Show(store, Name("a")), "-300000=3 ");
  EXPECT_EQ(Show(store, Name("b")), "-600000=2 ");
}

TEST(AddPast, LiesBeforeWhatTheSeriesHas) {
  Store store(StoreOptions{.max_series = 1});
  const promql::LabelSet labels = {{"__name__", "a"}};
  ASSERT_TRUE(store.Append(labels, {5000, 5}, 5000).ok());
  ASSERT_TRUE(store.AddPast(labels, {{3000, 3}, {4000, 4}, {5000, 50}, {6000, 60}}).ok());
  ASSERT_TRUE(store.AddPast(labels, {{1000, 1}, {2000, 2}, {3000, 30}}).ok());
  ASSERT_TRUE(store.Append(labels, {7000, 7}, 7000).ok());
  std::vector<double> values;
  std::vector<Point> points;
  store.Select({})[0]->Read(0, 10'000, points);
  for (const Point& point : points) values.push_back(point.value);
  EXPECT_EQ(values, (std::vector<double>{1, 2, 3, 4, 5, 7}));
  EXPECT_TRUE(absl::IsResourceExhausted(store.AddPast({{"__name__", "b"}}, {{1, 1}})));
}

TEST(AddPast, CountsItsBytesAndTellsWhoWatches) {
  Store store;
  const promql::LabelSet labels = {{"__name__", "a"}};
  ASSERT_TRUE(store.Append(labels, {5'000'000, 5}, 5'000'000).ok());
  int told = 0;
  const auto watch = std::make_shared<Watch>(std::vector<Selector>(1), [&told] { ++told; });
  store.StartWatch(watch);
  watch->Take();
  const size_t before = store.counts().bytes;
  std::vector<Point> past;
  for (int64_t i = 0; i < 500; ++i) past.push_back({4'500'000 + 1000 * i, static_cast<double>(i)});
  ASSERT_TRUE(store.AddPast(labels, past).ok());
  EXPECT_EQ(told, 1);
  EXPECT_GT(store.counts().bytes, before);
  store.Prune(10'000'000);
  EXPECT_EQ(store.counts().bytes, 0u);
}

TEST(EndPast, EndsWhatNobodyGoesOnWithOnceItHasMissedTwoSamples) {
  Store store;
  const auto add = [&store](const std::string& name, std::vector<Point> past) {
    ASSERT_TRUE(store.AddPast({{"__name__", name}}, std::move(past)).ok());
  };
  add("gone", {{kNow - 20'000, 1}, {kNow - 10'000, 1}});
  add("goes_on", {{kNow - 20'000, 1}, {kNow - 10'000, 1}});
  add("seldom", {{kNow - 51'000, 1}, {kNow - 11'000, 1}, {kNow - 10'000, 1}});
  add("once", {{kNow - 10'000, 1}});
  ASSERT_TRUE(store.Append(Named("goes_on"), {kNow, 1}, kNow).ok());
  const auto ended_at = [&store](int64_t ms) {
    std::string names = store.EndPast(kNow + ms) ? "" : "all: ";
    for (const auto& series : store.Select({})) {
      const auto newest = series->Newest(0, std::numeric_limits<int64_t>::max());
      if (promql::IsStale(newest->value)) absl::StrAppend(&names, series->labels().Get("__name__"));
    }
    return names;
  };
  EXPECT_EQ(ended_at(9'999), "");
  EXPECT_EQ(ended_at(10'000), "gone");
  EXPECT_EQ(ended_at(69'999), "gone");
  EXPECT_EQ(ended_at(70'000), "all: goneseldom");
  // A scrape that began before has its sample's time, and its series goes on.
  EXPECT_TRUE(store.Append(Named("seldom"), {kNow + 69'000, 1}, kNow + 70'001).ok());
  EXPECT_EQ(ended_at(70'001), "all: gone");
}

TEST(EndPast, WaitsForNoMoreThanTwoOrdinaryIntervals) {
  Store store;
  // There was another restart between them.
  ASSERT_TRUE(store.AddPast({{"__name__", "gone"}}, {{kNow - 300'000, 1}, {kNow, 1}}).ok());
  EXPECT_TRUE(store.EndPast(kNow + 139'999));
  EXPECT_FALSE(store.EndPast(kNow + 140'000));
}

TEST(Open, RefusesWhatIsOverALimit) {
  Store store(
      {.max_series = 2, .max_labels = 2, .max_label_name_bytes = 9, .max_label_value_bytes = 5});
  EXPECT_EQ(store.Open({}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(store.Open(Named("x", {{"a", "1"}, {"b", "2"}})).status().message(),
            "more than 2 labels on x");
  EXPECT_EQ(store.Open(Named("x", {{"a", "123456"}})).status().message(),
            "label a of x is longer than 9 bytes of name or 5 bytes of value");
  EXPECT_EQ(store.Open(Named("x", {{"name456789", "1"}})).status().code(),
            StatusCode::kInvalidArgument);
  ASSERT_TRUE(store.Append(Named("x"), {kNow, 1}, kNow).ok());
  ASSERT_TRUE(store.Append(Named("y"), {kNow, 1}, kNow).ok());
  EXPECT_EQ(store.Open(Named("z")).status().message(), "over the limit of 2 series");
  EXPECT_TRUE(store.Append(Named("x"), {kNow + 1, 1}, kNow).ok()) << "those there are go on";
  EXPECT_EQ(store.counts().refused_labels, 4u);
  EXPECT_EQ(store.counts().refused_max_series, 1u);
  EXPECT_EQ(store.counts().series, 2u);
}

promql::Labels OfPod(absl::string_view ns, int number) {
  return Named("x", {{"namespace", std::string(ns)}, {"number", absl::StrCat(number)}});
}

// Otherwise pods of one namespace could keep the series of all others out.
TEST(Open, ANamespaceOfAnybodyLeavesRoomForOthers) {
  Store store({.max_series = 100});
  int greedy = 0;
  while (store.Open(OfPod("greedy", greedy), Sender::kAnybody).ok()) ++greedy;
  EXPECT_EQ(greedy, 80);
  EXPECT_EQ(store.Open(OfPod("greedy", greedy), Sender::kAnybody).status().message(),
            "namespace greedy is over its share of 100 series");
  EXPECT_EQ(store.counts().refused_max_series, 2u);
  int modest = 0;
  while (store.Open(OfPod("modest", modest), Sender::kAnybody).ok()) ++modest;
  EXPECT_EQ(modest, 16);
  EXPECT_TRUE(store.Open(OfPod("greedy", greedy)).ok()) << "of a trusted sender";
  // What is gone leaves its room.
  store.Prune(kNow);
  EXPECT_EQ(store.counts().series, 0u);
  EXPECT_TRUE(store.Open(OfPod("greedy", 0), Sender::kAnybody).ok());
}

// Neither by their number nor by what their samples take later.
TEST(Open, ANamespaceOfAnybodyTakesNoBytesFromTrustedSenders) {
  constexpr size_t kBytes = 200'000;
  Store store({.max_bytes = kBytes});
  std::vector<SeriesHandle> greedy;
  while (true) {
    const auto handle =
        store.Open(OfPod("greedy", static_cast<int>(greedy.size())), Sender::kAnybody);
    if (!handle.ok()) break;
    greedy.push_back(*handle);
  }
  EXPECT_LT(store.counts().bytes, kBytes * 9 / 10) << "others get a share at once";
  uint64_t random = 1;
  for (int64_t ms = -1000; ms < 0; ++ms) {
    for (const SeriesHandle& handle : greedy) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      ASSERT_TRUE(store.Append(handle, {kNow + ms, static_cast<double>(random)}, kNow).ok());
    }
  }
  EXPECT_GT(store.counts().bytes, kBytes);
  EXPECT_LT(store.counts().bytes, kBytes * 31 / 20);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(store.Open(OfPod("any", i)).ok()) << i;
}

// Otherwise trusted senders would get more than all bytes.
TEST(Open, BytesOfAnybodyCountUntilTheirSeriesAreDropped) {
  constexpr size_t kBytes = 10'000;
  const auto made_in = [](Store& store) {
    int made = 0;
    while (store.Open(OfPod("any", made)).ok()) ++made;
    return made;
  };
  Store fresh({.max_bytes = kBytes});
  const int expected = made_in(fresh);
  Store store({.max_bytes = kBytes});
  const promql::LabelSet labels = OfPod("greedy", 0).ToLabelSet();
  std::vector<Point> past;
  for (int64_t ms = -300'000; ms < -290'000; ++ms) {
    past.push_back({kNow + ms, static_cast<double>(ms) / 7});
  }
  // A series of the past becomes theirs with all samples that it has, and gets others.
  ASSERT_TRUE(store.AddPast(labels, {{kNow - 200'000, 1}}).ok());
  ASSERT_TRUE(store.Open(OfPod("greedy", 0), Sender::kAnybody).ok());
  ASSERT_TRUE(store.AddPast(labels, past).ok());
  EXPECT_GT(store.counts().bytes, kBytes);
  store.Prune(kNow + 10'000'000);
  EXPECT_EQ(store.counts().bytes, 0u);
  EXPECT_EQ(made_in(store), expected);
}

TEST(Open, SamplesThatTakeAllBytesKeepNoSmallNamespaceOut) {
  constexpr size_t kBytes = 200'000;
  Store store({.max_bytes = kBytes});
  const auto handle = store.Open(OfPod("greedy", 0), Sender::kAnybody);
  ASSERT_TRUE(handle.ok());
  uint64_t random = 1;
  for (int64_t ms = -100'000; ms < 0; ++ms) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    ASSERT_TRUE(store.Append(*handle, {kNow + ms, static_cast<double>(random)}, kNow).ok());
  }
  EXPECT_GT(store.counts().bytes, kBytes);
  int modest = 0;
  while (store.Open(OfPod("modest", modest), Sender::kAnybody).ok()) ++modest;
  EXPECT_GT(modest, 3);
  EXPECT_TRUE(store.Open(OfPod("any", 0)).ok()) << "the last of the room is for trusted senders";
  EXPECT_LT(store.counts().bytes, kBytes * 17 / 10);
}

TEST(Open, SeriesOfThePastCountForTheNamespaceThatGoesOnWithThem) {
  Store store({.max_series = 10});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(store.Restore(OfPod("greedy", i), {}).ok());
  for (int i = 4; i < 8; ++i) {
    ASSERT_TRUE(store.AddPast(OfPod("greedy", i).ToLabelSet(), {{kNow, 1}}).ok());
  }
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(store.Open(OfPod("greedy", i), Sender::kAnybody).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(store.Open(OfPod("greedy", 8), Sender::kAnybody).status()));
  EXPECT_TRUE(store.Open(OfPod("modest", 0), Sender::kAnybody).ok());
  store.Keep({{Name("none")}});
  store.Keep(std::nullopt);
  EXPECT_TRUE(store.Open(OfPod("greedy", 8), Sender::kAnybody).ok());
}

// Otherwise one sender could fill the memory through few series.
TEST(Append, KnownSeriesOverTheBytesForgetTheirOldestSamples) {
  constexpr size_t kBytes = 200'000;
  Store store({.max_bytes = kBytes});
  const auto modest = Named("modest"), greedy = Named("greedy"), other = Named("other");
  uint64_t random = 1;
  size_t most = 0;
  for (int64_t ms = -100'000; ms < 0; ++ms) {
    for (const auto& name : {greedy, other}) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      const auto value = static_cast<double>(random);
      ASSERT_TRUE(store.Append(name, {kNow + ms, value}, kNow).ok());
    }
    if (ms % 100 == 0) {
      ASSERT_TRUE(store.Append(modest, {kNow + ms, 1}, kNow).ok());
    }
    most = std::max(most, store.counts().bytes);
  }
  EXPECT_GT(most, kBytes);
  EXPECT_LT(most, kBytes * 16 / 10);
  EXPECT_GT(store.counts().forgotten_chunks, 100u);
  const auto samples = [&](const char* name) {
    std::vector<Point> points;
    store.Select({*Matcher::Make("__name__", Matcher::Op::kEqual, name)})
        .at(0)
        ->Read(0, kNow, points);
    return points;
  };
  EXPECT_EQ(samples("modest").size(), 1000u);
  const auto kept = samples("greedy");
  EXPECT_GT(kept.size(), 5'000u);
  EXPECT_LT(kept.size(), 50'000u);
  for (size_t i = 1; i < kept.size(); ++i) {
    ASSERT_EQ(kept[i].time_ms, kept[i - 1].time_ms + 1);
  }
  EXPECT_EQ(kept.back().time_ms, kNow - 1);
}

// Even the newest chunk, where there is no room for any.
TEST(Append, ManySeriesWithoutRoomKeepTheNewestSamples) {
  Store store({.max_bytes = 100'000});
  for (int series = 0; series < 50; ++series) {
    const auto labels = Named("x", {{"a", std::to_string(series)}});
    ASSERT_TRUE(store.Append(labels, {kNow - 1000, 1}, kNow).ok());
  }
  for (int64_t ms = -999; ms <= 0; ++ms) {
    for (int series = 0; series < 50; ++series) {
      const auto labels = Named("x", {{"a", std::to_string(series)}});
      const double value = 1.0 / static_cast<double>(2 - ms);
      ASSERT_TRUE(store.Append(labels, {kNow + ms, value}, kNow).ok());
    }
  }
  EXPECT_LT(store.counts().bytes, 250'000u);
  std::vector<Point> points;
  store.Select({}).at(0)->Read(0, kNow, points);
  ASSERT_FALSE(points.empty());
  EXPECT_EQ(points.back().time_ms, kNow);
  EXPECT_EQ(points.back().value, 0.5);
}

TEST(Open, RefusesNewSeriesOverTheBytes) {
  Store store({.max_bytes = 20'000});
  size_t made = 0;
  for (; made < 1000; ++made) {
    if (!store.Append(Named("x", {{"a", std::to_string(made)}}), {kNow, 1}, kNow).ok()) break;
  }
  EXPECT_GT(made, 10u);
  EXPECT_LT(made, 60u);
  const absl::Status refused = store.Open(Named("y")).status();
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(absl::StartsWith(refused.message(), "over the limit of 20000 bytes: ")) << refused;
  EXPECT_EQ(store.counts().refused_max_bytes, 2u);
  const size_t full = store.counts().bytes;
  store.Prune(kNow + 600'001);
  EXPECT_EQ(store.counts().bytes, 0u) << "of " << full;
  EXPECT_TRUE(store.Open(Named("y")).ok());
}

TEST(Prune, SeriesThatEndedMakeRoomAndTheirHandlesSaySo) {
  Store store({.retention_ms = 1000, .max_series = 2});
  const SeriesHandle old = *store.Open(Named("x", {{"a", "1"}}));
  ASSERT_TRUE(store.Append(old, {kNow, 1}, kNow).ok());
  ASSERT_TRUE(store.Append(Named("x", {{"a", "2"}}), {kNow + 1, 1}, kNow).ok());
  const auto read_by_a_query = store.Select(Name("x"));
  store.Prune(kNow + 1000);
  EXPECT_EQ(store.counts().series, 2u) << "within the retention, the end included";
  store.Prune(kNow + 1001);
  EXPECT_EQ(Show(store, Name("x")), "1=1 ");
  EXPECT_EQ(store.Append(old, {kNow + 1002, 2}, kNow).code(), StatusCode::kNotFound);
  ASSERT_TRUE(store.Append(Named("x", {{"a", "1"}}), {kNow + 1002, 2}, kNow).ok());
  EXPECT_EQ(Show(store, Name("x")), "1002=2 1=1 ") << "the old samples are gone";
  EXPECT_EQ(store.counts().series, 2u);
}

TEST(Read, GivesNothingOlderThanTheRetention) {
  Store store({.retention_ms = 1000});
  for (int64_t t : {0, 1, 500, 1001})
    ASSERT_TRUE(store.Append(Named("x"), {kNow + t, 1}, kNow).ok());
  EXPECT_EQ(Show(store, Name("x")), "1=1 500=1 1001=1 ");
  const auto series = store.Select(Name("x")).at(0);
  EXPECT_EQ(series->Newest(0, kNow + 1000)->time_ms, kNow + 500);
  EXPECT_EQ(series->Newest(0, kNow + 1001)->time_ms, kNow + 1001);
  EXPECT_EQ(series->Newest(0, kNow), std::nullopt) << "forgotten";
  EXPECT_EQ(series->Newest(kNow + 501, kNow + 1000), std::nullopt);
}

// Whoever makes a series waits only until a query knows which series to look at: here the query
// itself makes one while it is asked.
TEST(Select, MatchesWithoutTheLockAndEndsWhenItIsTold) {
  Store store;
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(store.Append(Named("x", {{"pod", absl::StrCat(i)}}), {kNow, 1}, kNow).ok());
  }
  Selector selector = Name("x");
  for (int i = 0; i < 40; ++i) {
    selector.push_back(Is("pod", Op::kNotEqual, absl::StrCat(i)));
  }
  int asked = 0;
  const promql::Interrupted make = [&] {
    ++asked;
    return store.Append(Named("y", {{"pod", "new"}}), {kNow, 1}, kNow);
  };
  const auto found = store.SelectUnless(make, selector);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->size(), 1960u);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(
      store.SelectUnless([] { return absl::CancelledError("gone"); }, selector).status().message(),
      "gone");
}

// What an expression takes counts: a large one is not tried on many values under the lock.
TEST(Select, CountsWhatExpressionsTake) {
  Store store;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(store.Append(Named("x", {{"pod", absl::StrCat(i)}}), {kNow, 1}, kNow).ok());
  }
  const auto large = promql::Matcher::Make("pod", Op::kRegex, "1|(abcdefghij[0-9]){0,1000}z|2");
  ASSERT_TRUE(large.ok()) << large.status();
  int asked = 0;
  const promql::Interrupted count = [&asked] {
    ++asked;
    return absl::OkStatus();
  };
  const auto found = store.SelectUnless(count, {*large, Is("pod", Op::kNotEqual, "2")});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->size(), 1u);
  EXPECT_GT(large->cost(), 600u);
  EXPECT_GT(asked, 8);
}

TEST(Keep, MakesOnlyWhatASelectorMatches) {
  Store store;
  ASSERT_TRUE(store.Append(Named("used", {{"a", "1"}}), {kNow, 1}, kNow).ok());
  ASSERT_TRUE(store.Append(Named("other"), {kNow, 2}, kNow).ok());
  const SeriesHandle other = *store.Open(Named("other"));
  store.Keep({{Name("used"), {Is("a", Op::kEqual, "by label")}}});
  EXPECT_EQ(store.counts().series, 1u) << "what nothing uses any more is dropped";
  EXPECT_EQ(store.Append(other, {kNow + 1, 2}, kNow).code(), StatusCode::kNotFound);

  const SeriesHandle dropping = *store.Open(Named("other"));
  EXPECT_FALSE(dropping.kept());
  EXPECT_TRUE(store.Append(dropping, {kNow + 1, 2}, kNow).ok());
  EXPECT_EQ(store.counts().not_kept, 1u);
  EXPECT_TRUE(store.Open(Named("third", {{"a", "by label"}}))->kept());
  EXPECT_EQ(Show(store, Name("other")), "");
  EXPECT_FALSE(store.Open(Named("other", {{"a", std::string(5000, 'x')}}))->kept())
      << "it would be refused for its labels if anything used it";

  for (const int64_t time_ms : {std::numeric_limits<int64_t>::min(), kNow - 600'001, kNow + 600'001,
                                std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(store.Append(dropping, {time_ms, 2}, kNow).code(), StatusCode::kOutOfRange)
        << "its samples have times too";
  }

  store.Keep(std::nullopt);
  EXPECT_EQ(store.Append(dropping, {kNow + 2, 2}, kNow).code(), StatusCode::kNotFound)
      << "it may be kept now";
  EXPECT_TRUE(store.Open(Named("other"))->kept());
  EXPECT_EQ(Show(store, Name("used")), "0=1 ");
}

TEST(StartWatch, MarksOnceForWhatMatches) {
  Store store;
  int told = 0;
  const auto watch = std::make_shared<Watch>(
      std::vector<Selector>{Name("x"), {Is("a", Op::kEqual, "1")}}, [&told] { ++told; });
  const SeriesHandle before = *store.Open(Named("x", {{"a", "1"}}));
  store.StartWatch(watch);
  int64_t time_ms = kNow;
  const auto marked_by = [&](const promql::Labels& labels) {
    EXPECT_TRUE(store.Append(labels, {++time_ms, 1}, kNow).ok());
    return TakeMark(*watch);
  };
  EXPECT_TRUE(marked_by(Named("x", {{"a", "1"}}))) << "a series that was there";
  EXPECT_TRUE(marked_by(Named("x", {{"a", "2"}}))) << "a new series";
  EXPECT_TRUE(marked_by(Named("y", {{"a", "1"}}))) << "by the other selector";
  EXPECT_FALSE(marked_by(Named("y", {{"a", "2"}})));
  EXPECT_EQ(told, 3);

  ASSERT_TRUE(store.Append(before, {++time_ms, 1}, kNow).ok());
  ASSERT_TRUE(store.Append(before, {time_ms, 1}, kNow).ok());
  ASSERT_TRUE(store.Append(before, {++time_ms, 1}, kNow).ok());
  EXPECT_EQ(told, 4) << "told when it becomes marked, not at each sample";
  EXPECT_TRUE(TakeMark(*watch));
  EXPECT_TRUE(store.Append(before, {time_ms, 1}, kNow).ok());
  EXPECT_FALSE(TakeMark(*watch)) << "the same sample again is none";

  store.StopWatch(watch);
  EXPECT_FALSE(marked_by(Named("x", {{"a", "1"}})));
  EXPECT_FALSE(marked_by(Named("x", {{"a", "3"}})));
  EXPECT_EQ(told, 4);
}

TEST(Select, IsInLabelOrder) {
  Store store;
  for (const char* b : {"3", "1", "2"}) {
    ASSERT_TRUE(
        store.Append(Named("x", {{"b", b}}), {kNow, static_cast<double>(*b - '0')}, kNow).ok());
  }
  ASSERT_TRUE(store.Append(Named("y", {{"b", "1"}}), {kNow, 4}, kNow).ok());
  EXPECT_EQ(Show(store, Name("x")), "0=1 0=2 0=3 ");
  EXPECT_EQ(Show(store, {Is("b", Op::kRegex, "1|2")}), "0=1 0=2 0=4 ");
}

}  // namespace
}  // namespace flyball::live
