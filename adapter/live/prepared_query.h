// Queries of the live source, parsed and watched in the store, which it keeps as long as somebody
// holds an answer to them. Equal texts share one query.
//
// Thread-safe. The store outlives the queries.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/call_once.h"
#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "adapter/live/sample_news.h"
#include "adapter/live/store/store.h"
#include "base/freshness.h"
#include "promql/ast.h"
#include "promql/dialect.h"

namespace flyball::adapter {

class PreparedQuery : public std::enable_shared_from_this<PreparedQuery> {
 public:
  // `store` nullptr: no samples are reported.
  PreparedQuery(promql::ExprPtr expr, live::Store* store, std::shared_ptr<SampleNews> news)
      : expr_(std::move(expr)), store_(store), news_(std::move(news)) {}
  ~PreparedQuery();
  PreparedQuery(const PreparedQuery&) = delete;

  const promql::Expr& expr() const { return *expr_; }

  // The versions of the samples that are read from now on. The first call begins to watch the
  // series that the query reads.
  SamplesRead BeginToRead();

 private:
  const promql::ExprPtr expr_;
  live::Store* const store_;
  const std::shared_ptr<SampleNews> news_;
  absl::once_flag watched_;
  std::shared_ptr<live::Watch> watch_;  // nullptr: it reads no series
};

class PreparedQueries {
 public:
  PreparedQueries(live::Store* store, std::shared_ptr<SampleNews> news, promql::Dialect dialect)
      : store_(store), news_(std::move(news)), dialect_(dialect) {}

  // The parser's errors.
  absl::StatusOr<std::shared_ptr<PreparedQuery>> Get(absl::string_view promql);

 private:
  live::Store* const store_;
  const std::shared_ptr<SampleNews> news_;
  const promql::Dialect dialect_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::weak_ptr<PreparedQuery>> held_ ABSL_GUARDED_BY(mutex_);
  size_t sweep_at_ ABSL_GUARDED_BY(mutex_) = 256;
};

}  // namespace flyball::adapter
