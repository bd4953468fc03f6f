#include "scaler/views/advise.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/snapshot.h"

namespace flyball::scaler {
namespace {

constexpr int64_t kThousandths = 1000;

// The rules' provider, which may be null, and ours as one.
class AdvisedProvider : public adapter::ExternalMetricsProvider {
 public:
  AdvisedProvider(const Advise& advise, std::shared_ptr<adapter::ExternalMetricsProvider> rules)
      : advise_(advise), rules_(std::move(rules)) {}

  absl::StatusOr<adapter::ExternalMetricList> Get(
      const adapter::ExternalMetricRequest& request) override {
    if (rules_ == nullptr || Advise::IsOurs(request.metric)) return advise_.Get(request);
    return rules_->Get(request);
  }

  std::unique_ptr<adapter::StandingExternal> Stand(
      std::vector<adapter::ExternalMetricRequest> requests) override {
    const bool any_of_ours = std::any_of(requests.begin(), requests.end(), [](const auto& request) {
      return Advise::IsOurs(request.metric);
    });
    if (rules_ == nullptr || any_of_ours)
      return ExternalMetricsProvider::Stand(std::move(requests));
    return rules_->Stand(std::move(requests));
  }

  std::shared_ptr<const std::vector<std::string>> ListAll() const override {
    const std::shared_ptr<const std::vector<std::string>> of_rules =
        rules_ == nullptr ? nullptr : rules_->ListAll();
    const std::shared_ptr<const Merged> last = merged_.Get();
    if (last != nullptr && last->of_rules == of_rules) return last->names;
    std::vector<std::string> names;
    if (of_rules != nullptr) names = *of_rules;
    const auto place = std::lower_bound(names.begin(), names.end(), kAdvisedMetric);
    if (place == names.end() || *place != kAdvisedMetric) names.emplace(place, kAdvisedMetric);
    auto merged = std::make_shared<Merged>();
    merged->of_rules = of_rules;
    merged->names = std::make_shared<const std::vector<std::string>>(std::move(names));
    merged_.Set(merged);
    return merged->names;
  }

  // Our answers are never reused, so they need no epoch.
  uint64_t Epoch() const override { return rules_ == nullptr ? 0 : rules_->Epoch(); }

 private:
  struct Merged {
    std::shared_ptr<const std::vector<std::string>> of_rules, names;
  };

  const Advise& advise_;
  const std::shared_ptr<adapter::ExternalMetricsProvider> rules_;
  mutable Snapshot<Merged> merged_;
};

}  // namespace

bool Advise::IsOurs(absl::string_view metric) {
  return metric == kAdvisedMetric || absl::StartsWith(metric, kAdvisedPrefix);
}

void Advise::OnDecision(const DecisionRecord& record) {
  const AutoscalerKey& key = record.managed->key;
  if (record.mode != Mode::kAdvise) {
    if (ever_.load(std::memory_order_relaxed)) OnForgotten(key);  // its mode was changed
    return;
  }
  const Decision& decision = *record.decision;
  const absl::Duration period = record.managed->own.cadence.interval.value_or(sync_period_);
  ever_ = true;
  absl::MutexLock lock(&mutex_);
  Advised& advised = advised_[{key.ns, key.name}][key.kind];
  if (decision.outcome == Outcome::kScaleUnknown || decision.outcome == Outcome::kMetricsFailed) {
    advised.error = decision.error;
    return;
  }
  advised.target_kind = record.managed->autoscaler.scale_target.kind;
  const int32_t replicas = record.scale_error.empty() ? decision.count() : decision.current;
  // An HPA may have followed what was published before, so that a smaller count would be a removal
  // that was not decided as one.
  const bool followed = record.scale_is_old && advised.time.has_value();
  advised.replicas = followed ? std::max(replicas, advised.replicas) : replicas;
  advised.time = record.time;
  advised.good_until = record.monotonic + std::max(2 * period, sync_period_);
  advised.error.clear();
}

void Advise::OnForgotten(const AutoscalerKey& key) {
  absl::MutexLock lock(&mutex_);
  const auto found = advised_.find({key.ns, key.name});
  if (found == advised_.end()) return;
  found->second.erase(key.kind);
  if (found->second.empty()) advised_.erase(found);
}

absl::StatusOr<adapter::ExternalMetricList> Advise::Get(
    const adapter::ExternalMetricRequest& request) const {
  adapter::ExternalMetricList list;
  list.metric = request.metric;
  absl::string_view name = request.metric;
  const bool all = name == kAdvisedMetric;
  if (!all && !absl::ConsumePrefix(&name, kAdvisedPrefix)) {
    return absl::NotFoundError(
        absl::StrCat("the server could not find the metric ", request.metric, " for namespaces"));
  }
  const MonotonicTime now = clock_.MonotonicNow();
  absl::MutexLock lock(&mutex_);
  auto item = advised_.lower_bound({request.ns, all ? "" : std::string(name)});
  for (; item != advised_.end() && item->first.first == request.ns; ++item) {
    if (!all && item->first.second != name) break;
    // kOwn comes last in the order of the kinds.
    const Advised& advised = item->second.rbegin()->second;
    const kube::Labels labels = {{"autoscaler", item->first.second},
                                 {"kind", advised.target_kind},
                                 {"namespace", request.ns}};
    if (!request.selector.Matches(labels)) continue;
    if (!advised.time.has_value() || now > advised.good_until) {
      return absl::UnavailableError(absl::StrCat(
          "the replicas that ", request.ns, "/", item->first.second, " should have are not known",
          advised.time ? absl::StrCat(" since ", absl::FormatTime(absl::RFC3339_sec, *advised.time,
                                                                  absl::UTCTimeZone()))
                       : "",
          advised.error.empty() ? "" : ": ", advised.error));
    }
    list.items.push_back({.labels = adapter::LabelSet(labels.begin(), labels.end()),
                          .timestamp = *advised.time,
                          .value_milli = advised.replicas * kThousandths});
  }
  if (list.items.empty()) {
    return absl::NotFoundError(absl::StrCat(
        "no autoscaler in namespace ", request.ns, " publishes ", request.metric,
        request.selector.empty() ? "" : absl::StrCat(" with ", request.selector.ToString()),
        "; it needs mode advise"));
  }
  return list;
}

adapter::Providers Advise::Wrap(adapter::Providers providers) {
  if (!ever_.load(std::memory_order_relaxed)) return providers;
  absl::MutexLock lock(&mutex_);
  if (wrapper_ == nullptr || wrapped_ != providers.external) {
    wrapped_ = providers.external;
    wrapper_ = std::make_shared<AdvisedProvider>(*this, providers.external);
  }
  providers.external = wrapper_;
  return providers;
}

size_t Advise::size() const {
  absl::MutexLock lock(&mutex_);
  return advised_.size();
}

}  // namespace flyball::scaler
