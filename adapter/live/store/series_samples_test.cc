#include "adapter/live/store/series_samples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "absl/base/casts.h"

namespace flyball::live {
namespace {

using Outcome = SeriesSamples::Outcome;
constexpr int64_t kForever = std::numeric_limits<int64_t>::max();
constexpr int64_t kNever = std::numeric_limits<int64_t>::min();
constexpr int64_t kStart = 1'700'000'000'000;

uint64_t Bits(double value) { return absl::bit_cast<uint64_t>(value); }

// Times and bits, as NaNs compare unequal.
std::vector<std::pair<int64_t, uint64_t>> Shown(const std::vector<Point>& points) {
  std::vector<std::pair<int64_t, uint64_t>> shown;
  for (const Point& point : points) shown.emplace_back(point.time_ms, Bits(point.value));
  return shown;
}

std::vector<Point> All(const SeriesSamples& samples) {
  std::vector<Point> points;
  samples.Read(kNever, kForever, points);
  return points;
}

// Values of one kind, each from the one before.
using Kind = double (*)(double before, std::mt19937_64& random);
const std::vector<Kind> kKinds = {
    [](double, std::mt19937_64&) { return 42.0; },
    [](double before, std::mt19937_64& r) { return before + static_cast<double>(r() % 100); },
    [](double, std::mt19937_64& r) { return static_cast<double>(r() % 100000) / 100; },
    [](double before, std::mt19937_64& r) { return before + static_cast<double>(r()) / 1e19; },
    [](double, std::mt19937_64& r) { return absl::bit_cast<double>(r()); },
    [](double, std::mt19937_64& r) { return r() % 2 == 0 ? 0.0 : -0.0; },
    [](double, std::mt19937_64& r) { return r() % 3 == 0 ? promql::StaleMarker() : 1.0; },
    [](double, std::mt19937_64& r) { return static_cast<double>(r() % 1000) * 4096; },
    [](double, std::mt19937_64& r) { return std::ldexp(1.0, static_cast<int>(r() % 2000) - 1000); },
    [](double, std::mt19937_64& r) {
      return static_cast<double>(static_cast<float>(r() % 1000) / 7);
    },
};

TEST(SeriesSamples, GivesBackTheVeryBits) {
  std::mt19937_64 random(1);
  for (size_t kind = 0; kind <= kKinds.size(); ++kind) {
    SeriesSamples samples;
    std::vector<Point> fed;
    int64_t time_ms = kStart;
    double value = 1000;
    for (int i = 0; i < 700; ++i) {
      const Kind next = kKinds[kind < kKinds.size() ? kind : random() % kKinds.size()];
      value = next(value, random);
      time_ms += random() % 50 == 0 ? static_cast<int64_t>(random() % 100000) + 1 : 1000;
      fed.push_back({time_ms, value});
      ASSERT_EQ(samples.Add(fed.back(), 0, kForever), Outcome::kAdded);
    }
    EXPECT_EQ(Shown(All(samples)), Shown(fed)) << "kind " << kind;
  }
}

TEST(SeriesSamples, TakesTimesFromOneEndToTheOther) {
  SeriesSamples samples;
  const std::vector<Point> fed = {{kNever, 1}, {-5, 2}, {0, 3}, {kForever - 1, 4}, {kForever, 5}};
  for (const Point& point : fed) ASSERT_EQ(samples.Add(point, 0, kForever), Outcome::kAdded);
  std::vector<uint8_t> bytes;
  samples.AppendChunksTo(bytes);
  SeriesSamples adopted;
  ASSERT_TRUE(adopted.AdoptChunks(bytes));
  EXPECT_EQ(Shown(All(adopted)), Shown(fed));
}

TEST(SeriesSamples, ReadsBothEndsOfAWindow) {
  SeriesSamples samples;
  for (int i = 0; i < 1000; ++i) samples.Add({i * 10, i * 1.5}, 0, kForever);
  for (int64_t from = -5; from < 10'000; from += 395) {
    for (const int64_t length : {0, 10, 155, 1600, 20'000}) {
      std::vector<Point> read = {{-1, -1}};  // what was there stays
      samples.Read(from, from + length, read);
      std::vector<Point> expected = {{-1, -1}};
      for (int i = 0; i < 1000; ++i) {
        if (i * 10 >= from && i * 10 <= from + length) expected.push_back({i * 10, i * 1.5});
      }
      ASSERT_EQ(Shown(read), Shown(expected)) << from << " " << length;
    }
  }
}

TEST(SeriesSamples, ForgetsWhatIsOlderThanTheRetention) {
  SeriesSamples samples;
  for (int i = 0; i < 100'000; ++i) samples.Add({i * 1000, 0.5 * (i % 700)}, 0, 600'000);
  const std::vector<Point> left = All(samples);
  EXPECT_LE(left.front().time_ms, 99'999'000 - 600'000);
  EXPECT_LE(left.size(), 601u + kChunkSamples + kBlockSamples);
  EXPECT_EQ(left.back().time_ms, 99'999'000);
}

// Against a map that has every sample: any order within the window, the same and other values.
TEST(SeriesSamples, PutsLateSamplesInTheirPlace) {
  for (const int64_t window_ms : {0, 50, 5'000, 1'000'000}) {
    std::mt19937_64 random(static_cast<uint64_t>(window_ms));
    SeriesSamples samples;
    std::map<int64_t, double> model;
    for (int i = 0; i < 4000; ++i) {
      const int64_t newest = model.empty() ? 0 : model.rbegin()->first;
      const bool late = random() % 4 == 0;
      const int64_t time_ms = late ? newest - static_cast<int64_t>(random() % 6000)
                                   : newest + static_cast<int64_t>(random() % 20);
      const double value = static_cast<double>(random() % 2);
      Outcome expected = Outcome::kAdded;
      if (const auto there = model.find(time_ms);
          there != model.end() && (time_ms == newest || time_ms >= newest - window_ms)) {
        expected = there->second == value ? Outcome::kThere : Outcome::kDuplicate;
      } else if (!model.empty() && time_ms < newest - window_ms) {
        expected = Outcome::kTooOld;
      } else {
        model[time_ms] = value;
      }
      ASSERT_EQ(samples.Add({time_ms, value}, window_ms, kForever), expected) << i;
    }
    std::vector<Point> points;
    for (const auto& [time_ms, value] : model) points.push_back({time_ms, value});
    EXPECT_EQ(Shown(All(samples)), Shown(points)) << window_ms;
  }
}

TEST(AdoptChunks, GoesOnWhereTheOthersWere) {
  for (const int count : {1, 15, 16, 17, 127, 128, 129, 145, 500}) {
    SeriesSamples samples;
    for (int i = 0; i < count; ++i) samples.Add({i, i / 8.0}, 0, kForever);
    std::vector<uint8_t> bytes;
    samples.AppendChunksTo(bytes);
    SeriesSamples adopted;
    ASSERT_TRUE(adopted.AdoptChunks(bytes)) << count;
    for (int i = count; i < count + 300; ++i) {
      samples.Add({i, 1.0 * i}, 0, kForever);
      adopted.Add({i, 1.0 * i}, 0, kForever);
    }
    EXPECT_EQ(Shown(All(adopted)), Shown(All(samples))) << count;
  }
}

TEST(AdoptChunks, RefusesWhatIsNone) {
  SeriesSamples samples;
  for (int i = 0; i < 200; ++i) samples.Add({i * 1000, i / 8.0}, 0, kForever);
  std::vector<uint8_t> bytes;
  samples.AppendChunksTo(bytes);
  SeriesSamples adopted;
  EXPECT_FALSE(adopted.AdoptChunks({}));
  std::set<size_t> ends;  // of chunks: what ends there is whole
  for (size_t at = 0; at < bytes.size(); at += ReadChunkHead(&bytes[at]).bytes) ends.insert(at);
  for (size_t left = 1; left < bytes.size(); ++left) {
    SeriesSamples other;
    EXPECT_EQ(other.AdoptChunks(absl::MakeSpan(bytes).first(left)), ends.count(left) > 0) << left;
  }
  std::vector<uint8_t> twice = bytes;
  twice.insert(twice.end(), bytes.begin(), bytes.end());
  EXPECT_FALSE(adopted.AdoptChunks(twice)) << "times that do not rise";
  EXPECT_TRUE(adopted.empty());
}

}  // namespace
}  // namespace flyball::live
