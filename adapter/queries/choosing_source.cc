#include "adapter/queries/choosing_source.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/status_macros.h"

namespace flyball::adapter {

absl::StatusOr<std::shared_ptr<const QueryResult>> ChoosingSource::Query(absl::string_view promql,
                                                                         absl::Time at,
                                                                         absl::Duration timeout) {
  auto result = live_.Query(promql, at, timeout);
  if (result.ok()) return result;
  return prometheus_.Query(promql, at, timeout);
}

absl::StatusOr<StandingResult> ChoosingSource::Ask(StandingQuery& query, absl::Time at,
                                                   absl::Duration timeout) {
  auto result = live_.Ask(query, at, timeout);
  if (result.ok()) return result;
  return prometheus_.Ask(query, at, timeout);
}

absl::StatusOr<std::vector<SeriesName>> ChoosingSource::Series(absl::string_view selector,
                                                               absl::Time start,
                                                               absl::Duration timeout) {
  ASSIGN_OR_RETURN(std::vector<SeriesName> names, live_.Series(selector, start, timeout));
  ASSIGN_OR_RETURN(std::vector<SeriesName> others, prometheus_.Series(selector, start, timeout));
  names.insert(names.end(), std::make_move_iterator(others.begin()),
               std::make_move_iterator(others.end()));
  const auto key = [](const SeriesName& name) { return std::tie(name.name, name.labels); };
  std::sort(names.begin(), names.end(),
            [&](const SeriesName& a, const SeriesName& b) { return key(a) < key(b); });
  names.erase(
      std::unique(names.begin(), names.end(),
                  [&](const SeriesName& a, const SeriesName& b) { return key(a) == key(b); }),
      names.end());
  return names;
}

MetricSource& ChoosingSource::Of(rules::SourceChoice choice) {
  switch (choice) {
    case rules::SourceChoice::kLive:
      return live_;
    case rules::SourceChoice::kPrometheus:
      return prometheus_;
    case rules::SourceChoice::kAny:
      break;
  }
  return *this;
}

}  // namespace flyball::adapter
