// external.metrics.k8s.io with the rules' `onFailure`: what is answered while the source fails.
//
// For up to keepLast after the last good answer, a kept answer is given with its own times
// (adapter/kept_answers.h). After that the answer is what `then` says, with the present time: a
// value as the total, or the total with which the asking HPAs arrive at that many replicas
// (adapter/replicas_as_total.h; in Get only, since standing requests come from our own scaler,
// which holds the count itself). All of these set `replaced`, which says that they are not current.
// A kept answer with which a stock HPA would make its target smaller is not given: the metric
// fails, and the HPA holds. An answer without samples counts as an answer. The source gets only a
// part of the request's timeout, so that time is left to answer in its place.
//
// If a source has not answered since the start, its silence counts from the start, and that of a
// new question from its first failure; the rule is then found by the name that its seriesQuery
// alone gives (rules::CompiledRule::sole_metric).
//
// Thread-safe. What the constructor is given outlives this.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "adapter/answering.h"
#include "adapter/kept_answers.h"
#include "adapter/metric_askers.h"
#include "adapter/provider.h"
#include "rules/compiled_rules.h"

namespace flyball::adapter {

class ExternalOnFailure : public ExternalMetricsProvider {
 public:
  // `askers`: nullptr if it cannot be known which HPAs ask.
  ExternalOnFailure(const Answering& answering, KeptAnswers& kept,
                    std::shared_ptr<const rules::CompiledRules> rules,
                    std::shared_ptr<ExternalMetricsProvider> source, MetricAskers* askers)
      : answering_(answering),
        kept_(kept),
        rules_(std::move(rules)),
        source_(std::move(source)),
        askers_(askers) {}

  absl::StatusOr<ExternalMetricList> Get(const ExternalMetricRequest& request) override;
  std::unique_ptr<StandingExternal> Stand(std::vector<ExternalMetricRequest> requests) override;
  std::shared_ptr<const std::vector<std::string>> ListAll() const override {
    return source_->ListAll();
  }
  uint64_t Epoch() const override { return source_->Epoch(); }

 private:
  class Standing;
  using RulePtr = std::shared_ptr<const rules::CompiledRule>;

  struct Found {
    RulePtr rule;        // the rule with the `onFailure`; nullptr: there is none
    bool heard = false;  // its source has answered since the start
  };
  Found RuleOf(const std::string& metric) const;
  // Keeps a good answer, or replaces a failure of the source. `found` has a rule.
  absl::StatusOr<ExternalMetricList> Replaced(const ExternalMetricRequest& request,
                                              absl::StatusOr<ExternalMetricList> answer,
                                              const Found& found, MetricAskers* askers);
  // The answer that `then` gives, or the failure with the reason why there is none.
  absl::StatusOr<ExternalMetricList> AfterKeeping(const ExternalMetricRequest& request,
                                                  const rules::CompiledRule& rule,
                                                  absl::Duration silent,
                                                  const absl::Status& failure,
                                                  MetricAskers* askers);

  const Answering answering_;
  KeptAnswers& kept_;
  const std::shared_ptr<const rules::CompiledRules> rules_;
  const std::shared_ptr<ExternalMetricsProvider> source_;
  MetricAskers* const askers_;
};

}  // namespace flyball::adapter
