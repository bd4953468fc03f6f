// external.metrics.k8s.io: the samples of a metric's query, as they come.
//
// Thread-safe; nothing of its own changes.
// Source: prometheus-adapter 0.12.0, status texts included.
//
// Of requests that come together, those that differ only in the value of one label become one query
// where the template is seen to keep that label's values apart (ExternalQueriesSeparate): each gets
// the samples that its own query would have given.
//
// Errors beyond those of provider.h:
//   kNotFound   the metric is not registered
//   kInternal   `unable to fetch metrics`: the rule has no query for this, or the source failed
//   kUnknown    a result that is neither vector nor scalar, or null
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapter/answering.h"
#include "adapter/provider.h"
#include "base/worker_pool.h"

namespace flyball::adapter {

class ExternalProvider : public ExternalMetricsProvider {
 public:
  // `pool` (may be nullptr) outlives the provider: what a request asks at once beyond one query.
  explicit ExternalProvider(const Answering& answering, WorkerPool* pool = nullptr)
      : answering_(answering), pool_(pool) {}

  absl::StatusOr<ExternalMetricList> Get(const ExternalMetricRequest& request) override;
  std::vector<absl::StatusOr<ExternalMetricList>> GetAll(
      absl::Span<const ExternalMetricRequest* const> requests) override;
  std::optional<Repeated> Again(const OriginPtr& origin, absl::Duration timeout,
                                absl::Duration max_age) override;
  std::shared_ptr<const std::vector<std::string>> ListAll() const override;
  uint64_t Epoch() const override;

 private:
  static constexpr size_t kParallel = 8;

  struct Call;
  struct GroupOrigin;  // an Origin
  using Answers = std::vector<absl::StatusOr<ExternalMetricList>>;
  // What is asked together, and what all of it is answered by.
  struct Batch {
    absl::Span<const ExternalMetricRequest* const> requests;
    std::shared_ptr<const SeriesRegistry> registry;
    uint64_t epoch = 0;
    std::shared_ptr<const Call> call;
  };
  // Requests of a batch that one query answers.
  struct RequestGroup;

  static const GroupOrigin* LastOriginOf(const ExternalMetricRequest& request);
  static std::optional<AgainWish> WishOf(const Batch& batch, const RequestGroup& group);
  static std::vector<RequestGroup> KnownGroups(Batch& batch);
  std::vector<RequestGroup> GroupsOf(const Batch& batch, Answers& answers) const;
  std::vector<RequestGroup> Split(std::vector<RequestGroup> groups,
                                  absl::Span<const ExternalMetricRequest* const> requests) const;
  static absl::StatusOr<std::string> QueryOf(const Batch& batch, const RequestGroup& group);
  void AskGroup(const Batch& batch, RequestGroup& group, Answers& answers);
  static OriginPtr OriginOf(const Batch& batch, const RequestGroup& group, const AnswerMark& mark);
  void HandOut(const Batch& batch, const RequestGroup& group, const FreshResult& fresh,
               Answers& answers);
  absl::StatusOr<ExternalMetricList> Answer(const ExternalMetricRequest& request,
                                            const FreshResult& fresh,
                                            absl::Span<const Sample* const> samples);

  const Answering answering_;
  WorkerPool* const pool_;
};

}  // namespace flyball::adapter
