#include "doctor/rule_series.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace flyball::doctor {
namespace {

constexpr absl::Duration kLookBack = absl::Hours(24);
constexpr size_t kMaxLooksBack = 20;

using Answer = absl::StatusOr<std::shared_ptr<const adapter::SeriesTable>>;

// Sends each distinct series query once.
class Asker {
 public:
  Asker(adapter::MetricSource& source, const DiscoverOptions& options)
      : source_(source), options_(options) {}

  const Answer& Series(const std::string& query) {
    const auto known = answers_.find(query);
    if (known != answers_.end()) return known->second;
    auto found = source_.Series(query, options_.now - options_.max_age, options_.timeout);
    Answer answer = found.ok()
                        ? Answer(std::make_shared<const adapter::SeriesTable>(*std::move(found)))
                        : Answer(found.status());
    return answers_.emplace(query, std::move(answer)).first->second;
  }

  // How many series there were in the last day; 0 also if that is not known.
  size_t Earlier(const std::string& query) {
    if (++looks_back_ > kMaxLooksBack || options_.max_age >= kLookBack) return 0;
    const auto found = source_.Series(query, options_.now - kLookBack, options_.timeout);
    return found.ok() ? found->size() : 0;
  }

 private:
  adapter::MetricSource& source_;
  const DiscoverOptions& options_;
  std::map<std::string, Answer> answers_;
  size_t looks_back_ = 0;
};

size_t Accepted(const rules::CompiledRule& rule, const adapter::SeriesTable& table) {
  size_t accepted = 0;
  for (const auto& series : table.series()) accepted += rule.naming.Accepts(series.name);
  return accepted;
}

void Look(const std::vector<std::shared_ptr<const rules::CompiledRule>>& rules, Asker& asker,
          std::vector<adapter::DiscoveredRule>& found, std::vector<RuleFacts>& facts) {
  for (const auto& rule : rules) {
    RuleFacts one = {.where = rule->where, .series_query = rule->series_query};
    const Answer& answer = asker.Series(rule->series_query);
    one.status = answer.status();
    if (answer.ok()) {
      one.found = (*answer)->series().size();
      one.accepted = Accepted(*rule, **answer);
      if (one.found == 0) one.earlier = asker.Earlier(rule->series_query);
    }
    found.push_back({rule, answer.ok() ? *answer : nullptr});
    facts.push_back(std::move(one));
  }
}

Finding NothingFound(const RuleFacts& rule, absl::Duration max_age, Level level) {
  const std::string what = absl::StrCat("rule ", rule.where, " matches no series: ");
  if (rule.found > 0) {
    return {level, "rule-series",
            absl::StrCat(what, rule.found, " are found by ", rule.series_query,
                         ", and seriesFilters or name.matches refuse all of them"),
            absl::StrCat("loosen seriesFilters or name.matches at ", rule.where)};
  }
  if (rule.earlier > 0) {
    return {level, "rule-series",
            absl::StrCat(what, rule.series_query, " had ", rule.earlier,
                         " in the last day and none in the last ", absl::FormatDuration(max_age)),
            "see that the exporter is still scraped (Prometheus: Status, Targets); with rare "
            "samples raise --metrics-max-age"};
  }
  return {level, "rule-series", absl::StrCat(what, rule.series_query),
          absl::StrCat("ask Prometheus for it, then correct seriesQuery at ", rule.where,
                       ", or let Prometheus scrape the exporter")};
}

}  // namespace

Discovered DiscoverSeries(const rules::CompiledRules& rules, adapter::MetricSource& source,
                          std::shared_ptr<const kube::RestMapper> mapper,
                          const DiscoverOptions& options) {
  Discovered discovered;
  discovered.max_age = options.max_age;
  discovered.source = source.Query("vector(1)", options.now, options.timeout).status();
  if (!discovered.source.ok()) return discovered;
  Asker asker(source, options);
  Look(rules.custom, asker, discovered.custom, discovered.rules);
  Look(rules.external, asker, discovered.external, discovered.rules);
  discovered.registry = adapter::SeriesRegistry::Build(
      {.custom = discovered.custom, .external = discovered.external, .mapper = std::move(mapper)},
      nullptr);
  return discovered;
}

Findings CheckDiscovered(const Discovered& discovered, absl::string_view from, bool strict) {
  Findings findings;
  if (!discovered.source.ok()) {
    return {Bad("prometheus",
                absl::StrCat("Prometheus does not answer: ", discovered.source.message()),
                absl::StrCat("start it, or correct --prometheus-url (chart: prometheus.url, "
                             "port, path) and its credentials"))};
  }
  findings.push_back(Good("prometheus", absl::StrCat("Prometheus answers at ", from)));
  const Level level = strict ? Level::kBad : Level::kDoubtful;
  size_t series = 0, good = 0;
  for (const RuleFacts& rule : discovered.rules) {
    if (!rule.status.ok()) {
      findings.push_back({level, "rule-series",
                          absl::StrCat("the series query of rule ", rule.where,
                                       " fails: ", rule.status.message(), ": ", rule.series_query),
                          absl::StrCat("correct seriesQuery at ", rule.where,
                                       "; `flyball check rules` says more")});
    } else if (rule.accepted == 0) {
      findings.push_back(NothingFound(rule, discovered.max_age, level));
    } else {
      series += rule.accepted;
      ++good;
    }
  }
  if (good > 0) {
    findings.push_back(Good("rule-series", absl::StrCat(good, " of ", discovered.rules.size(),
                                                        " rules match ", series, " series")));
  }
  return findings;
}

}  // namespace flyball::doctor
