// external.metrics.k8s.io with the rules' `onFailure`: what is answered while the source fails.
//
// For up to keepLast after the last good answer a kept one is given (adapter/kept_answers.h), with
// its own times; after that what `then` says, a value in the place of the total, with the time of
// now, or the total by which those that ask come to so many replicas (adapter/replicas_as_total.h;
// of Get alone, since a standing request is our own scaler's, which holds). All carry in `replaced`
// that they are no answers of now. A kept answer by which a stock HPA would make its target smaller
// is held back: the metric fails, and the HPA holds. An answer without samples is an answer. A
// source that hangs is not waited for as long as whoever asks would wait.
//
// A source that never answered since the start counts from the start on, a question that is new
// from its first failure; the rule is then found by the name that its seriesQuery alone gives
// (rules::CompiledRule::sole_metric).
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
  // `askers`: nullptr where nobody knows who asks.
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
    RulePtr rule;        // whose `onFailure` is meant; nullptr: there is none
    bool heard = false;  // its source has answered since the start
  };
  Found RuleOf(const std::string& metric) const;
  // Keeps a good answer; replaces a failure of the source. There is a rule.
  absl::StatusOr<ExternalMetricList> Replaced(const ExternalMetricRequest& request,
                                              absl::StatusOr<ExternalMetricList> answer,
                                              const Found& found, MetricAskers* askers);
  // What `then` says, or the failure with why it says nothing.
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
