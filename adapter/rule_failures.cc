#include "adapter/rule_failures.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "adapter/queries/failure_notes.h"
#include "rules/last_answer.h"
#include "spdlog/spdlog.h"

namespace flyball::adapter {

void RuleFailures::Failed(RuleName rule, absl::string_view where, absl::string_view metric,
                          const absl::Status& cause) {
  std::string promql = NoteOf(cause, kQueryNote);
  // A selector may be long, and each rule keeps one query.
  promql.resize(std::min(promql.size(), rules::LastAnswer::kMaxPromql));
  const bool log = complaints_.Due(metric);
  uint64_t not_logged = 0;
  {
    absl::MutexLock lock(&mutex_);
    Failing& failing = rules_[Key(rule.list, rule.index)];
    RuleFailure& failure = failing.failure;
    ++failure.in_all;
    if (++failure.in_a_row == 1) failing_.fetch_add(1, std::memory_order_relaxed);
    failure.metric = std::string(metric);
    failure.promql = promql;
    failure.error = std::string(cause.message());
    failure.at = clock_.WallNow();
    not_logged = failing.not_logged;
    failing.not_logged = log ? 0 : not_logged + 1;
  }
  if (metrics_ != nullptr) metrics_->OnRuleQueryFailure(rule.list, rule.index);
  if (!log) return;
  spdlog::error(
      "unable to fetch metric {}: {}; {}[{}] ({}){}{}{}", std::string(metric),
      std::string(cause.message()), std::string(rule.list), rule.index, std::string(where),
      promql.empty() ? "" : ", query ", promql,
      not_logged == 0 ? "" : absl::StrCat("; ", not_logged, " more since the last such line"));
}

void RuleFailures::Succeeded(RuleName rule) {
  if (failing_.load(std::memory_order_relaxed) == 0) return;
  absl::MutexLock lock(&mutex_);
  const auto found = rules_.find(Key(rule.list, rule.index));
  if (found == rules_.end() || found->second.failure.in_a_row == 0) return;
  found->second.failure.in_a_row = 0;
  failing_.fetch_sub(1, std::memory_order_relaxed);
}

std::optional<RuleFailure> RuleFailures::Of(RuleName rule) const {
  absl::MutexLock lock(&mutex_);
  const auto found = rules_.find(Key(rule.list, rule.index));
  if (found == rules_.end()) return std::nullopt;
  return found->second.failure;
}

void RuleFailures::Forget() {
  absl::MutexLock lock(&mutex_);
  rules_.clear();
  failing_.store(0, std::memory_order_relaxed);
}

}  // namespace flyball::adapter
