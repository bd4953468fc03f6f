#include "adapter/kept_answers.h"

#include <algorithm>
#include <utility>

#include "base/joined_key.h"

namespace flyball::adapter {
namespace {

std::string KeyOf(const ExternalMetricRequest& request, absl::string_view meaning) {
  return JoinedKey(request.metric, request.ns, request.selector.ToString(), meaning);
}

// Totals are only compared, so a double is precise enough for the sum of any amounts.
double TotalOf(const ExternalMetricList& list) {
  double total = 0;
  for (const ExternalMetricValue& item : list.items) total += static_cast<double>(item.value_milli);
  return total;
}

size_t ListBytes(const ExternalMetricList& list) {
  constexpr size_t kForEachLabel = 2 * sizeof(std::string);
  size_t bytes = sizeof(list);
  for (const ExternalMetricValue& item : list.items) {
    bytes += sizeof(item);
    if (!item.labels.has_value()) continue;
    for (const auto& [key, value] : *item.labels)
      bytes += kForEachLabel + key.size() + value.size();
  }
  return bytes;
}

// 0 for a list that is too large, of which nothing is kept.
size_t BytesToKeep(const ExternalMetricList& list) {
  if (list.items.size() > KeptAnswers::kMaxItems) return 0;
  const size_t bytes = ListBytes(list);
  return bytes <= KeptAnswers::kMaxAnswerBytes ? bytes : 0;
}

// The largest age of a bucket's beginning if a part of the bucket is in the window.
absl::Duration Reach(absl::Duration window) { return window + window / KeptAnswers::kBuckets; }

}  // namespace

void KeptAnswers::Keep(const ExternalMetricRequest& request, absl::string_view meaning,
                       const ExternalMetricList& list, absl::Duration window, MonotonicTime now) {
  const double total = TotalOf(list);
  const std::string key = KeyOf(request, meaning);
  absl::MutexLock lock(&mutex_);
  if (!histories_.contains(key) && histories_.size() >= kMaxQuestions) MakeRoom(now);
  History& history = HistoryOf(key);
  history.ns = request.ns;
  history.window = window;
  history.last_good = history.last_asked = std::max(history.last_good, now);
  history.silent_since.reset();
  if (!list.items.empty()) KeepList(list, total, window, now, history.buckets);
  while (bytes_ > kMaxBytes && histories_.size() > 1) MakeRoom(now);
}

KeptAnswers::History& KeptAnswers::HistoryOf(const std::string& key) {
  const auto [known, added] = histories_.try_emplace(key);
  if (added) {
    known->second.key_bytes = key.size();
    bytes_ += key.size();
  }
  return known->second;
}

void KeptAnswers::KeepList(const ExternalMetricList& list, double total, absl::Duration window,
                           MonotonicTime now, std::deque<Bucket>& buckets) {
  while (!buckets.empty() && now - buckets.front().begin > Reach(window)) {
    bytes_ -= buckets.front().bytes;
    buckets.pop_front();
  }
  if (buckets.empty() || now - buckets.back().begin >= window / kBuckets) {
    buckets.push_back({.begin = now, .total_milli = total, .list = nullptr});
  }
  Bucket& last = buckets.back();
  if (total < last.total_milli) return;
  // A list that is too large still replaces a smaller answer, which must not be given any more.
  const size_t bytes = BytesToKeep(list);
  last.total_milli = total;
  last.list = bytes == 0 ? nullptr : std::make_shared<const ExternalMetricList>(list);
  bytes_ += bytes - std::exchange(last.bytes, bytes);
}

KeptAnswers::Kept KeptAnswers::Find(const ExternalMetricRequest& request, absl::string_view meaning,
                                    absl::Duration window, MonotonicTime now, bool heard) {
  absl::MutexLock lock(&mutex_);
  const std::string key = KeyOf(request, meaning);
  const bool known = histories_.contains(key);
  if (!known && !heard) return {.silent_since = started_};
  const auto has_room = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return histories_.size() < kMaxQuestions && bytes_ + key.size() <= kMaxBytes;
  };
  if (!known && !has_room()) {
    // A failure of a new question must not push out what is kept for others.
    DropForgotten(now);
    if (!has_room()) return {.silent_since = now};
  }
  History& history = HistoryOf(key);
  history.ns = request.ns;
  history.window = window;
  if (!known) history.last_good = now;
  const bool good_lately = now - history.last_good <= window;
  if (!history.silent_since.has_value() || IsForgotten(history, now)) {
    history.silent_since = good_lately ? history.last_good : now;
  }
  history.last_asked = now;
  Kept kept = {.silent_since = *history.silent_since};
  if (!good_lately) return kept;
  const Bucket* greatest = nullptr;
  for (const Bucket& bucket : history.buckets) {
    if (history.last_good - bucket.begin > Reach(window)) continue;
    if (greatest == nullptr || bucket.total_milli >= greatest->total_milli) greatest = &bucket;
  }
  if (greatest == nullptr) return kept;
  kept.list = greatest->list;
  kept.total_milli = greatest->total_milli;
  return kept;
}

bool KeptAnswers::IsForgotten(const History& history, MonotonicTime now) {
  return now - history.last_asked > std::max(history.window, kLongestPause);
}

size_t KeptAnswers::BytesOf(const History& history) {
  size_t bytes = history.key_bytes;
  for (const Bucket& bucket : history.buckets) bytes += bucket.bytes;
  return bytes;
}

void KeptAnswers::DropForgotten(MonotonicTime now) {
  absl::erase_if(histories_, [&](const auto& one) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const bool dropped = IsForgotten(one.second, now);
    if (dropped) bytes_ -= BytesOf(one.second);
    return dropped;
  });
}

// Drops what is forgotten or, if that is not enough, the older half of the questions of the
// namespace that takes most. So this is done only once for many new questions, and no namespace
// takes the room of the others.
void KeptAnswers::MakeRoom(MonotonicTime now) {
  constexpr size_t kForEachQuestion = kMaxBytes / kMaxQuestions;
  DropForgotten(now);
  if (histories_.size() < kMaxQuestions && bytes_ <= kMaxBytes) return;
  absl::flat_hash_map<absl::string_view, size_t> taken;
  for (const auto& [key, history] : histories_) {
    taken[history.ns] += kForEachQuestion + BytesOf(history);
  }
  const std::string most(
      std::max_element(taken.begin(), taken.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      })->first);
  std::vector<MonotonicTime> times;
  for (const auto& [key, history] : histories_) {
    if (history.ns == most) times.push_back(history.last_good);
  }
  const auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  const MonotonicTime oldest = *middle;
  size_t left = (times.size() + 1) / 2;
  absl::erase_if(histories_, [&](const auto& one) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const History& history = one.second;
    const bool dropped = history.ns == most && history.last_good <= oldest && left > 0;
    if (!dropped) return false;
    --left;
    bytes_ -= BytesOf(history);
    return true;
  });
}

}  // namespace flyball::adapter
