#include "adapter/relist.h"

#include <algorithm>

#include "base/counted.h"
#include "spdlog/spdlog.h"

namespace flyball::adapter {
namespace {

// How soon a new REST mapping is noticed.
constexpr absl::Duration kMapperPoll = absl::Seconds(1);
// The same until the first mapping is known, before which nothing is served.
constexpr absl::Duration kFirstMapperPoll = absl::Milliseconds(50);
// While queries are under way the registry is built at most this often; at the end of a round at
// once.
constexpr absl::Duration kBuildEvery = absl::Milliseconds(200);

std::string SourceName(rules::SourceChoice source) {
  switch (source) {
    case rules::SourceChoice::kLive: return "live";
    case rules::SourceChoice::kPrometheus: return "prometheus";
    case rules::SourceChoice::kAny: break;
  }
  return "";
}

std::optional<RuleStatus::Answered> AnsweredAt(const rules::LastAnswer& last, Clock& clock) {
  std::optional<rules::AnsweredQuery> answered = last.Get();
  if (!answered.has_value()) return std::nullopt;
  return RuleStatus::Answered{.at = clock.WallNow() - (clock.MonotonicNow() - answered->sent),
                              .by = SourceName(answered->source),
                              .promql = std::move(answered->promql),
                              .values = answered->values,
                              .took = answered->took};
}

}  // namespace

Relister::Relister(Deps deps, RelistOptions options)
    : deps_(std::move(deps)), options_([&options] {
        if (options.max_age <= absl::ZeroDuration()) options.max_age = options.interval;
        return options;
      }()) {
  {
    absl::MutexLock lock(&mutex_);
    rules_ = std::make_shared<const rules::CompiledRules>();
  }
  Rebuild();
}

void Relister::SetRules(std::shared_ptr<const rules::CompiledRules> rules) {
  {
    absl::MutexLock lock(&mutex_);
    std::map<QueryKey, std::shared_ptr<Query>> queries;
    const MonotonicTime now = deps_.clock.MonotonicNow();
    for (const auto* list : {&rules->custom, &rules->external}) {
      for (const auto& rule : *list) {
        std::shared_ptr<Query>& query = queries[KeyOf(*rule)];
        if (query != nullptr) continue;
        if (const auto known = queries_.find(KeyOf(*rule)); known != queries_.end()) {
          query = known->second;
        } else {
          query = std::make_shared<Query>();
          query->selector = rule->series_query;
          query->choice = rule->source;
          query->due = query->relist = now;
        }
      }
    }
    queries_ = std::move(queries);
    rules_ = std::move(rules);
    changed_ = true;
    told_ = queries_.empty();
  }
  Rebuild();
  deps_.wake();
}

absl::Duration Relister::AskNowTook() const {
  absl::MutexLock lock(&mutex_);
  absl::Duration took;
  for (const auto& [key, query] : queries_) {
    if (query->failures == 0 && ReadsLive(*query)) took += query->duration;
  }
  return took;
}

bool Relister::ReadsLive(const Query& query) const {
  using rules::SourceChoice;
  // Where there is one source, it answers whatever a rule wants.
  return query.choice != SourceChoice::kPrometheus ||
         &deps_.source.Of(SourceChoice::kPrometheus) == &deps_.source.Of(SourceChoice::kLive);
}

void Relister::AskNow() {
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [selector, query] : queries_) {
      if (query->failures > 0 || !ReadsLive(*query)) continue;
      query->due = deps_.clock.MonotonicNow();
      query->again = query->running;
    }
  }
  deps_.wake();
}

absl::Duration Relister::Step() {
  std::vector<std::shared_ptr<Query>> due;
  {
    absl::MutexLock lock(&mutex_);
    const MonotonicTime now = deps_.clock.MonotonicNow();
    for (const auto& [key, query] : queries_) {
      if (query->running || query->due > now) continue;
      query->running = true;
      query->started = now;
      due.push_back(query);
    }
  }
  for (const auto& query : due) {
    const bool live = query->choice == rules::SourceChoice::kLive && deps_.run_live != nullptr;
    (live ? deps_.run_live : deps_.run)([this, query] { Run(query); });
  }

  const std::shared_ptr<const kube::RestMapper> mapper = deps_.directory.mapper();
  bool build = false;
  {
    absl::MutexLock lock(&mutex_);
    const bool quiet = std::none_of(queries_.begin(), queries_.end(),
                                    [](const auto& entry) { return entry.second->running; });
    const bool rested = deps_.clock.MonotonicNow() - built_at_ >= kBuildEvery;
    build = mapper != mapper_ || (changed_ && (quiet || rested));
  }
  if (build) Rebuild();

  bool tell = false;
  const absl::Duration wait = NextStep(tell);
  if (tell) TellFindings();
  return wait;
}

absl::Duration Relister::NextStep(bool& tell) {
  absl::MutexLock lock(&mutex_);
  const bool resources_known = !mapper_->resources().empty();
  absl::Duration wait = changed_ ? kBuildEvery : resources_known ? kMapperPoll : kFirstMapperPoll;
  bool all_attempted = resources_known;
  const MonotonicTime now = deps_.clock.MonotonicNow();
  for (const auto& [key, query] : queries_) {
    if (!query->running) wait = std::min(wait, query->due - now);
    const bool long_awaited = query->running && now - query->started >= options_.patience;
    all_attempted = all_attempted && (query->attempted || long_awaited);
  }
  // What was attempted is also in the registry: changed_ is set with it.
  if (all_attempted && !changed_) {
    first_round_done_.store(true, std::memory_order_release);
    tell = !std::exchange(told_, true);
  }
  return std::max(wait, absl::ZeroDuration());
}

void Relister::Run(const std::shared_ptr<Query>& query) {
  const MonotonicTime started = deps_.clock.MonotonicNow();
  const absl::Time at = deps_.clock.WallNow();
  absl::StatusOr<std::vector<SeriesName>> found =
      deps_.source.Of(query->choice)
          .Series(query->selector, at - options_.max_age, options_.timeout);
  if (deps_.metrics != nullptr) {
    deps_.metrics->OnSeriesQuery(found.ok(), deps_.clock.MonotonicNow() - started);
  }
  if (found.ok()) {
    Record(*query, std::make_shared<const SeriesTable>(*std::move(found)), started, at);
  } else {
    Record(*query, found.status(), started, at);
  }
  deps_.wake();
}

void Relister::Record(Query& query, absl::StatusOr<std::shared_ptr<const SeriesTable>> found,
                      MonotonicTime started, absl::Time at) {
  std::string old_error, new_error;
  if (!found.ok()) new_error = std::string(found.status().message());
  {
    absl::MutexLock lock(&mutex_);
    old_error = std::exchange(query.error, new_error);
    query.running = false;
    query.attempted = true;
    query.duration = deps_.clock.MonotonicNow() - started;
    changed_ = true;
    if (found.ok()) {
      query.failures = 0;
      query.last_success = at;
      // A query that was sent early is sent again at its time: only then is Prometheus asked.
      if (started >= query.relist) query.relist = started + options_.interval;
      query.due = query.relist;
      // An equal table stays the same pointer.
      if (query.series == nullptr || **found != *query.series) query.series = *std::move(found);
    } else {
      ++query.failures;
      query.due = deps_.clock.MonotonicNow() + RetryAfter(query.failures);
    }
    const bool again = std::exchange(query.again, false);
    if (again && query.failures == 0) query.due = deps_.clock.MonotonicNow();
  }
  if (old_error == new_error) return;
  if (new_error.empty()) {
    spdlog::info("relist: series query {} works again", query.selector);
  } else {
    spdlog::warn("relist: series query {} failed, its metrics stay as they were: {}",
                 query.selector, new_error);
  }
}

absl::Duration Relister::RetryAfter(int failures) const {
  absl::Duration wait = options_.retry_min;
  for (int i = 1; i < failures && wait < options_.retry_max; ++i) wait *= 2;
  return std::min({wait, options_.retry_max, std::max(options_.interval, options_.retry_min)});
}

void Relister::Rebuild() {
  absl::MutexLock build_lock(&build_mutex_);
  SeriesRegistry::Inputs inputs;
  inputs.mapper = deps_.directory.mapper();
  {
    absl::MutexLock lock(&mutex_);
    inputs.custom = Discovered(rules_->custom);
    inputs.external = Discovered(rules_->external);
    mapper_ = inputs.mapper;
    changed_ = false;
    built_at_ = deps_.clock.MonotonicNow();
  }
  const std::shared_ptr<const SeriesRegistry> before = registry_.Get();
  std::shared_ptr<const SeriesRegistry> built = SeriesRegistry::Build(inputs, before);
  if (built != before) {
    if (deps_.metrics != nullptr) {
      deps_.metrics->SetMetricCounts(built->custom_list()->size(), built->external_list()->size());
    }
    registry_.Set(std::move(built));
    generation_.fetch_add(1, std::memory_order_acq_rel);
  }
  if (deps_.metrics != nullptr) deps_.metrics->SetRules(Statuses());
}

std::vector<DiscoveredRule> Relister::Discovered(
    const std::vector<std::shared_ptr<const rules::CompiledRule>>& rules) const {
  std::vector<DiscoveredRule> discovered;
  discovered.reserve(rules.size());
  for (const auto& rule : rules) {
    const auto query = queries_.find(KeyOf(*rule));
    discovered.push_back({rule, query == queries_.end() ? nullptr : query->second->series});
  }
  return discovered;
}

void Relister::AppendStatuses(const char* list,
                              const std::vector<std::shared_ptr<const rules::CompiledRule>>& rules,
                              const std::vector<size_t>& counts,
                              std::vector<RuleStatus>& out) const {
  for (size_t i = 0; i < rules.size(); ++i) {
    RuleStatus& status = out.emplace_back();
    status.list = list;
    status.index = rules[i]->index;
    status.where = rules[i]->where;
    status.series_query = rules[i]->series_query;
    status.source = SourceName(rules[i]->source);
    status.last_answer = AnsweredAt(rules[i]->last_answer, deps_.clock);
    if (i < counts.size()) status.series = counts[i];
    const auto found = queries_.find(KeyOf(*rules[i]));
    if (found == queries_.end()) continue;
    const Query& query = *found->second;
    status.last_success = query.last_success;
    status.duration = query.duration;
    status.failures = query.failures;
    status.error = query.error;
  }
}

void Relister::TellFindings() const {
  size_t series = 0, metrics = 0;
  const std::vector<RuleStatus> statuses = Statuses(/*with_metrics=*/true);
  for (const RuleStatus& status : statuses) {
    series += status.series;
    metrics += status.metrics.size();
    if (!status.last_success.has_value() || !status.metrics.empty()) continue;
    if (status.series == 0) {
      spdlog::warn("relist: {}[{}] ({}) finds no series: {}", status.list, status.index,
                   status.where, status.series_query);
    } else {
      spdlog::warn(
          "relist: {}[{}] ({}) finds {} series, of which none becomes a metric: no label "
          "is a resource by its mapping, or later rules have the same names",
          status.list, status.index, status.where, status.series);
    }
  }
  spdlog::info("relist: {} found {} series (names with their labels), {} offered",
               Counted(statuses.size(), "rule"), series, Counted(metrics, "metric"));
}

std::vector<RuleStatus> Relister::Statuses(bool with_metrics) const {
  const std::shared_ptr<const SeriesRegistry> registry = registry_.Get();
  std::vector<RuleStatus> statuses;
  absl::MutexLock lock(&mutex_);
  AppendStatuses("rules", rules_->custom, registry->custom_counts(), statuses);
  AppendStatuses("externalRules", rules_->external, registry->external_counts(), statuses);
  if (!with_metrics) return statuses;
  // The registry may be behind the rules.
  size_t next = 0;
  for (const auto& [of_rules, count] :
       {std::pair(registry->CustomNames(), rules_->custom.size()),
        std::pair(registry->ExternalNames(), rules_->external.size())}) {
    for (size_t i = 0; i < count; ++i, ++next) {
      if (i < of_rules.size()) statuses[next].metrics = of_rules[i];
    }
  }
  return statuses;
}

}  // namespace flyball::adapter
