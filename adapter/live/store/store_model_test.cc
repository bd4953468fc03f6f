// The store beside a model that keeps everything in maps and walks over all of it: the same calls
// in random order must have the same answers.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "adapter/live/store/store.h"
#include "adapter/live/store/testing/make_labels.h"

namespace flyball::live {
namespace {

using absl::StatusCode;

class Model {
 public:
  explicit Model(const StoreOptions& options) : options_(options) {}

  StatusCode Append(const promql::LabelSet& labels, Point sample, int64_t now_ms) {
    const bool in_range = sample.time_ms <= now_ms + options_.max_ahead_ms &&
                          sample.time_ms >= now_ms - options_.retention_ms;
    if (series_.count(labels) == 0 && !kept(labels)) {
      return in_range ? StatusCode::kOk : StatusCode::kOutOfRange;
    }
    if (series_.count(labels) == 0 && series_.size() >= options_.max_series) {
      return StatusCode::kResourceExhausted;
    }
    std::map<int64_t, double>& samples = series_[labels];
    if (!in_range) return StatusCode::kOutOfRange;
    if (!samples.empty()) {
      const int64_t newest_ms = samples.rbegin()->first;
      if (sample.time_ms < newest_ms - options_.out_of_order_ms) return StatusCode::kOutOfRange;
      if (const auto there = samples.find(sample.time_ms); there != samples.end()) {
        const bool same =
            absl::bit_cast<uint64_t>(there->second) == absl::bit_cast<uint64_t>(sample.value);
        return same ? StatusCode::kOk : StatusCode::kAlreadyExists;
      }
    }
    samples[sample.time_ms] = sample.value;
    return StatusCode::kOk;
  }

  void Prune(int64_t now_ms) {
    std::erase_if(series_, [&](const auto& series) {
      return series.second.empty() ||
             series.second.rbegin()->first < now_ms - options_.retention_ms;
    });
  }

  void Keep(std::optional<std::vector<Selector>> selectors) {
    kept_ = std::move(selectors);
    std::erase_if(series_, [this](const auto& series) { return !kept(series.first); });
  }

  std::string Show(const Selector& selector, int64_t from_ms, int64_t to_ms) const {
    std::string text;
    for (const auto& [labels, samples] : series_) {
      if (!promql::MatchesAll(promql::Labels(labels), selector)) continue;
      absl::StrAppend(&text, "\n", promql::LabelValue(labels, "__name__"), ":");
      for (const auto& [time_ms, value] : samples) {
        if (time_ms < samples.rbegin()->first - options_.retention_ms) continue;
        if (time_ms < from_ms || time_ms > to_ms) continue;
        absl::StrAppend(&text, " ", time_ms, "=", absl::bit_cast<uint64_t>(value));
      }
    }
    return text;
  }

 private:
  bool kept(const promql::LabelSet& labels) const {
    if (!kept_) return true;
    return std::any_of(kept_->begin(), kept_->end(), [&labels](const Selector& selector) {
      return promql::MatchesAll(promql::Labels(labels), selector);
    });
  }

  const StoreOptions options_;
  std::optional<std::vector<Selector>> kept_;
  std::map<promql::LabelSet, std::map<int64_t, double>> series_;
};

std::string Show(const Store& store, const Selector& selector, int64_t from_ms, int64_t to_ms) {
  std::string text;
  for (const auto& series : store.Select(selector)) {
    absl::StrAppend(&text, "\n", series->labels().Get("__name__"), ":");
    std::vector<Point> points;
    series->Read(from_ms, to_ms, points);
    for (const Point& point : points) {
      absl::StrAppend(&text, " ", point.time_ms, "=", absl::bit_cast<uint64_t>(point.value));
    }
    const std::optional<Point> newest = series->Newest(from_ms, to_ms);
    EXPECT_EQ(newest.has_value(), !points.empty());
    if (newest) {
      EXPECT_EQ(newest->time_ms, points.back().time_ms);
    }
  }
  return text;
}

class RandomCalls {
 public:
  explicit RandomCalls(uint64_t seed) : random_(seed) {}

  uint64_t Below(uint64_t limit) { return random_() % limit; }

  promql::LabelSet Labels() {
    promql::LabelSet labels;
    if (Below(20) > 0) labels.emplace_back("__name__", Text("m", 6));
    if (Below(4) > 0) labels.emplace_back("a", Text("v", 5));
    if (Below(3) > 0) labels.emplace_back("b", Text("v", 40));
    if (labels.empty()) labels.emplace_back("c", "v");
    return labels;
  }

  Selector ASelector() {
    static const char* const kNames[] = {"__name__", "a", "b", "none"};
    Selector selector;
    for (uint64_t i = 0; i <= Below(3); ++i) {
      const char* const name = kNames[Below(4)];
      const std::string prefix = *name == '_' ? "m" : "v";
      switch (Below(6)) {
        case 0:
          selector.push_back(Is(name, Op::kNotEqual, Below(3) == 0 ? "" : Text(prefix, 6)));
          break;
        case 1: selector.push_back(Is(name, Op::kRegex, prefix + "(1|2.*)")); break;
        case 2:
          selector.push_back(
              Is(name, Op::kRegex, absl::StrCat(Text(prefix, 6), "|", Text(prefix, 40))));
          break;
        case 3:
          selector.push_back(Is(name, Op::kNotRegex, Below(2) == 0 ? "" : prefix + "1.*"));
          break;
        default: selector.push_back(Is(name, Op::kEqual, Below(8) == 0 ? "" : Text(prefix, 6)));
      }
    }
    return selector;
  }

  double Value() {
    switch (Below(8)) {
      case 0: return promql::StaleMarker();
      case 1: return static_cast<double>(random_()) / 3;
      default: return static_cast<double>(Below(1000)) / 10;
    }
  }

 private:
  std::string Text(const std::string& prefix, uint64_t kinds) {
    return absl::StrCat(prefix, Below(kinds));
  }

  std::mt19937_64 random_;
};

TEST(Store, AnswersAsAModelThatKeepsEverything) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const StoreOptions options{.retention_ms = 60'000,
                               .out_of_order_ms = seed % 2 == 0 ? 0 : 8'000,
                               .max_ahead_ms = 5'000,
                               .max_series = 150};
    Store store(options);
    Model model(options);
    RandomCalls calls(seed);
    int64_t now_ms = 1'000'000;
    for (int i = 0; i < 12'000; ++i) {
      now_ms += static_cast<int64_t>(calls.Below(30));
      const uint64_t call = calls.Below(1000);
      if (call < 4) {
        store.Prune(now_ms);
        model.Prune(now_ms);
      } else if (call < 5) {
        std::optional<std::vector<Selector>> kept;
        if (calls.Below(2) == 0) kept = {calls.ASelector(), calls.ASelector(), Name("m1")};
        store.Keep(kept);
        model.Keep(kept);
      } else if (call < 40) {
        const Selector selector = calls.ASelector();
        const int64_t from_ms = now_ms - static_cast<int64_t>(calls.Below(70'000));
        const int64_t to_ms = from_ms + static_cast<int64_t>(calls.Below(70'000));
        ASSERT_EQ(Show(store, selector, from_ms, to_ms), model.Show(selector, from_ms, to_ms))
            << seed << " " << i;
      } else {
        const promql::LabelSet labels = calls.Labels();
        const Point sample{now_ms + 6'000 - static_cast<int64_t>(calls.Below(12'000)),
                           calls.Value()};
        ASSERT_EQ(store.Append(promql::Labels(labels), sample, now_ms).code(),
                  model.Append(labels, sample, now_ms))
            << seed << " " << i;
      }
    }
    EXPECT_NE(model.Show({}, 0, now_ms * 2), "");
  }
}

}  // namespace
}  // namespace flyball::live
