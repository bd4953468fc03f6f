// A store for tests that keeps everything as text.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "adapter/live/scrape/sample_store.h"
#include "promql/engine/series.h"

namespace flyball::scrape {

class RecordedStore : public SampleStore {
 public:
  absl::StatusOr<std::unique_ptr<OpenSeries>> Open(const promql::LabelSet& labels,
                                                   bool /*asked_for_by_pods*/) override {
    const std::string text = TextOf(labels);
    absl::MutexLock lock(&mutex_);
    ++opens_;
    if (!samples_.contains(text) && samples_.size() >= max_series_) {
      return absl::ResourceExhaustedError("full");
    }
    samples_[text];
    return std::make_unique<RecordedSeries>(*this, text);
  }

  void LimitSeries(size_t max_series) {
    absl::MutexLock lock(&mutex_);
    max_series_ = max_series;
  }
  // Drops all series, as the store does with those that have long had no sample.
  void DropAll() {
    absl::MutexLock lock(&mutex_);
    samples_.clear();
  }
  int opens() const {
    absl::MutexLock lock(&mutex_);
    return opens_;
  }
  // "1000:1 2000:stale"; "" if there is no such series.
  std::string Of(const std::string& series) const {
    absl::MutexLock lock(&mutex_);
    const auto found = samples_.find(series);
    std::string text;
    if (found == samples_.end()) return text;
    for (const auto& [ms, value] : found->second) {
      absl::StrAppend(&text, text.empty() ? "" : " ", ms, ":",
                      promql::IsStale(value) ? "stale" : absl::StrCat(value));
    }
    return text;
  }
  // Blocks until the series has so many samples.
  void AwaitSamples(const std::string& series, size_t count) const {
    absl::MutexLock lock(&mutex_);
    const auto there = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      const auto found = samples_.find(series);
      return found != samples_.end() && found->second.size() >= count;
    };
    mutex_.Await(absl::Condition(&there));
  }
  std::vector<std::string> Names() const {
    absl::MutexLock lock(&mutex_);
    std::vector<std::string> names;
    for (const auto& [name, samples] : samples_) names.push_back(name);
    return names;
  }

 private:
  class RecordedSeries : public OpenSeries {
   public:
    RecordedSeries(RecordedStore& store, std::string text)
        : store_(store), text_(std::move(text)) {}
    absl::Status Append(int64_t time_ms, double value, int64_t /*now_ms*/) override {
      absl::MutexLock lock(&store_.mutex_);
      const auto found = store_.samples_.find(text_);
      if (found == store_.samples_.end()) return absl::NotFoundError("dropped");
      auto& samples = found->second;
      if (!samples.empty() && samples.back().first > time_ms) return absl::OutOfRangeError("old");
      if (!samples.empty() && samples.back().first == time_ms) {
        return samples.back().second == value ? absl::OkStatus() : absl::AlreadyExistsError("");
      }
      samples.emplace_back(time_ms, value);
      return absl::OkStatus();
    }

   private:
    RecordedStore& store_;
    const std::string text_;
  };

  // name{a="b"}.
  static std::string TextOf(const promql::LabelSet& labels) {
    std::string text;
    for (const auto& [name, value] : labels) {
      if (name == "__name__") continue;
      absl::StrAppend(&text, text.empty() ? "" : ",", name, "=", value);
    }
    return absl::StrCat(promql::LabelValue(labels, "__name__"), "{", text, "}");
  }

  mutable absl::Mutex mutex_;
  std::map<std::string, std::vector<std::pair<int64_t, double>>> samples_ ABSL_GUARDED_BY(mutex_);
  size_t max_series_ ABSL_GUARDED_BY(mutex_) = 1000;
  int opens_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace flyball::scrape
