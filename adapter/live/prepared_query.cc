#include "adapter/live/prepared_query.h"

#include <vector>

#include "base/status_macros.h"
#include "promql/parser.h"
#include "promql/selectors.h"

namespace flyball::adapter {

PreparedQuery::~PreparedQuery() {
  if (watch_ != nullptr) store_->StopWatch(watch_);
}

SamplesRead PreparedQuery::BeginToRead() {
  if (store_ == nullptr) return SamplesRead();
  absl::call_once(watched_, [this] {
    std::vector<live::Selector> selectors;
    promql::ForEachSelector(
        *expr_, [&](const promql::Selector& selector) { selectors.push_back(selector.matchers); });
    if (selectors.empty()) return;
    // A weak pointer, so that the callback does not keep the query alive.
    watch_ = std::make_shared<live::Watch>(
        std::move(selectors), [news = news_, self = weak_from_this()] {
          const std::shared_ptr<PreparedQuery> query = self.lock();
          if (query != nullptr) news->Add(std::weak_ptr<const SampleVersion>(query->watch_));
        });
    store_->StartWatch(watch_);
  });
  std::vector<SamplesRead::Version> versions;
  // A holder of the answer holds the query, and with it the watch.
  if (watch_ != nullptr) {
    versions.push_back(
        {std::shared_ptr<const SampleVersion>(shared_from_this(), watch_.get()), watch_->Take()});
  }
  return SamplesRead(std::move(versions));
}

absl::StatusOr<std::shared_ptr<PreparedQuery>> PreparedQueries::Get(absl::string_view promql) {
  {
    absl::MutexLock lock(&mutex_);
    const auto held = held_.find(promql);
    if (held != held_.end()) {
      if (std::shared_ptr<PreparedQuery> query = held->second.lock()) return query;
    }
  }
  ASSIGN_OR_RETURN(promql::ExprPtr expr, promql::Parse(promql, dialect_));
  auto made = std::make_shared<PreparedQuery>(std::move(expr), store_, news_);
  absl::MutexLock lock(&mutex_);
  std::weak_ptr<PreparedQuery>& held = held_[promql];
  if (std::shared_ptr<PreparedQuery> other = held.lock()) return other;
  held = made;
  if (held_.size() >= sweep_at_) {
    absl::erase_if(held_, [](const auto& item) { return item.second.expired(); });
    sweep_at_ = 256 + 2 * held_.size();
  }
  return made;
}

}  // namespace flyball::adapter
