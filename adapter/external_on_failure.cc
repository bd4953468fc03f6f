#include "adapter/external_on_failure.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapter/queries/failure_notes.h"
#include "adapter/replicas_as_total.h"
#include "base/go/duration.h"
#include "base/status_macros.h"

namespace flyball::adapter {
namespace {

// The longest that a source may take if another answer may stand in for its own.
constexpr absl::Duration kLongestWait = absl::Seconds(10);

// Whether the source caused the error. A metric that nobody has registered is kNotFound, which the
// caller handles.
bool SourceFailed(const absl::Status& status) {
  return absl::IsInternal(status) || absl::IsDeadlineExceeded(status);
}

std::string Since(const rules::CompiledRule& rule, absl::Duration silent) {
  return absl::StrCat("the source of rule ", rule.where, " has not answered for ",
                      go::DurationText(absl::Trunc(silent, absl::Seconds(1))));
}

absl::StatusOr<int64_t> TotalFor(const rules::ReplicasInstead& replicas,
                                 const ExternalMetricRequest& request, MetricAskers* askers) {
  if (askers == nullptr) {
    return absl::FailedPreconditionError("only a stock controller's HPAs get replicas by it");
  }
  ASSIGN_OR_RETURN(const std::vector<MetricAsker> who, askers->Of(request));
  return ReplicasAsTotal(replicas, who);
}

// Why a kept answer must not be given, so that the metric fails and nothing is made smaller; "": it
// may be given. If we have no right to read which HPAs ask, it is given: then the rule's author is
// responsible.
std::string MadeSmallerByKept(const ExternalMetricRequest& request, double total_milli,
                              MetricAskers* askers) {
  if (askers == nullptr) return "";
  const absl::StatusOr<std::vector<MetricAsker>> who = askers->Of(request);
  if (absl::IsPermissionDenied(who.status())) return "";
  if (!who.ok()) return std::string(who.status().message());
  const std::string name = MadeSmallerBy(total_milli, *who);
  return name.empty() ? "" : absl::StrCat("it would make the target of ", name, " smaller");
}

ExternalMetricList ValueOf(const std::string& metric, int64_t value_milli, absl::Time now) {
  ExternalMetricList list;
  list.metric = metric;
  list.items.push_back({.labels = LabelSet(), .timestamp = now, .value_milli = value_milli});
  return list;
}

}  // namespace

ExternalOnFailure::Found ExternalOnFailure::RuleOf(const std::string& metric) const {
  if (const MetricSeries found = answering_.relister.registry()->FindExternal(metric);
      found.rule != nullptr) {
    return {.rule = found.rule->on_failure.has_value() ? found.rule : nullptr, .heard = true};
  }
  // Of several the last wins, as in the registry.
  for (size_t i = rules_->external.size(); i-- > 0;) {
    const RulePtr& rule = rules_->external[i];
    if (!rule->on_failure.has_value() || rule->sole_metric != metric) continue;
    const std::vector<RuleStatus> all = answering_.relister.Statuses();
    const auto status = std::find_if(all.begin(), all.end(), [&](const RuleStatus& one) {
      return one.list == "externalRules" && one.index == rule->index;
    });
    // If series were looked for and none was found, that is no failure of the source.
    const bool unheard = status != all.end() && !status->last_success.has_value();
    return {.rule = unheard ? rule : nullptr};
  }
  return {};
}

absl::StatusOr<ExternalMetricList> ExternalOnFailure::Replaced(
    const ExternalMetricRequest& request, absl::StatusOr<ExternalMetricList> answer,
    const Found& found, MetricAskers* askers) {
  if (!answer.ok() && !SourceFailed(answer.status()) && !absl::IsNotFound(answer.status())) {
    return answer;
  }
  const rules::OnFailure& told = *found.rule->on_failure;
  const MonotonicTime now = answering_.clock.MonotonicNow();
  if (answer.ok()) {
    kept_.Keep(request, found.rule->query.text(), *answer, told.keep_last, now);
    return answer;
  }
  const KeptAnswers::Kept kept =
      kept_.Find(request, found.rule->query.text(), told.keep_last, now, found.heard);
  const absl::Duration silent = now - kept.silent_since;
  if (kept.list != nullptr) {
    const std::string smaller = MadeSmallerByKept(request, kept.total_milli, askers);
    if (!smaller.empty()) {
      return Reworded(
          answer.status(), answer.status().code(),
          absl::StrCat(answer.status().message(), "; the kept answer is held back: ", smaller));
    }
    ExternalMetricList list = *kept.list;
    list.freshness = {};
    list.kept = true;
    list.replaced =
        absl::StrCat(Since(*found.rule, silent), "; this is the greatest answer of the last ",
                     go::DurationText(told.keep_last), " before");
    return list;
  }
  if (silent <= told.keep_last) return answer;
  return AfterKeeping(request, *found.rule, silent, answer.status(), askers);
}

absl::StatusOr<ExternalMetricList> ExternalOnFailure::AfterKeeping(
    const ExternalMetricRequest& request, const rules::CompiledRule& rule, absl::Duration silent,
    const absl::Status& failure, MetricAskers* askers) {
  const rules::OnFailure& told = *rule.on_failure;
  std::optional<int64_t> total = told.value_milli;
  if (told.replicas.has_value()) {
    const absl::StatusOr<int64_t> replicas = TotalFor(*told.replicas, request, askers);
    if (!replicas.ok()) {
      return Reworded(failure, failure.code(),
                      absl::StrCat(failure.message(), "; the rule's onFailure.then holds: ",
                                   replicas.status().message()));
    }
    total = *replicas;
  }
  if (!total.has_value()) return failure;
  ExternalMetricList list =
      ValueOf(request.metric, *total, WholeSeconds(answering_.clock.WallNow()));
  list.replaced =
      absl::StrCat(Since(rule, silent), "; this is ",
                   told.replicas.has_value() ? "the total for the replicas" : "the value",
                   " of its onFailure.then");
  return list;
}

absl::StatusOr<ExternalMetricList> ExternalOnFailure::Get(const ExternalMetricRequest& request) {
  const Found found = RuleOf(request.metric);
  if (found.rule == nullptr) return source_->Get(request);
  // Leaves time to answer in the source's place before the client gives up.
  ExternalMetricRequest sooner = request;
  sooner.timeout = std::min(request.timeout / 2, kLongestWait);
  return Replaced(request, source_->Get(sooner), found, askers_);
}

// Passes on the answers of the source's own standing request, with failures replaced. If the source
// says "unchanged", its last answer is kept with the present time.
class ExternalOnFailure::Standing : public StandingExternal {
 public:
  Standing(ExternalOnFailure& provider, std::vector<ExternalMetricRequest> requests)
      : provider_(provider),
        requests_(std::move(requests)),
        source_(provider.source_->Stand(requests_)),
        last_(requests_.size()) {}

  std::vector<absl::StatusOr<StandingAnswer<ExternalMetricList>>> Ask(
      absl::Duration timeout) override {
    auto answers = source_->Ask(timeout);
    for (size_t i = 0; i < answers.size(); ++i) Replace(i, answers[i]);
    return answers;
  }

 private:
  void Replace(size_t i, absl::StatusOr<StandingAnswer<ExternalMetricList>>& answer) {
    const ExternalMetricRequest& request = requests_[i];
    const Found found = provider_.RuleOf(request.metric);
    if (found.rule == nullptr) return;
    if (answer.ok()) {
      if (!answer->unchanged) {
        last_[i] = answer->list;
      } else if (answer->time.has_value()) {
        for (ExternalMetricValue& item : last_[i].items) item.timestamp = *answer->time;
      }
      (void)provider_.Replaced(request, last_[i], found, nullptr);
      return;
    }
    absl::StatusOr<ExternalMetricList> replaced =
        provider_.Replaced(request, answer.status(), found, nullptr);
    if (replaced.ok()) {
      answer = StandingAnswer<ExternalMetricList>{.list = *std::move(replaced)};
    } else {
      answer = replaced.status();  // this also says why nothing replaces the answer
    }
  }

  ExternalOnFailure& provider_;
  const std::vector<ExternalMetricRequest> requests_;
  const std::unique_ptr<StandingExternal> source_;
  std::vector<ExternalMetricList> last_;  // of the source, beside the requests
};

std::unique_ptr<StandingExternal> ExternalOnFailure::Stand(
    std::vector<ExternalMetricRequest> requests) {
  return std::make_unique<Standing>(*this, std::move(requests));
}

}  // namespace flyball::adapter
