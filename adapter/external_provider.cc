#include "adapter/external_provider.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "adapter/external_standing.h"
#include "base/status_macros.h"

namespace flyball::adapter {
namespace {

ListSize SizeOf(const QueryResult& result) {
  ListSize size = {.items = result.samples.size(), .held_bytes = BytesOf(result)};
  for (const Sample& sample : result.samples) size.AddLabels(sample.labels);
  return size;
}

}  // namespace

// The original names a resource only for the namespace `default`.
absl::Status NoExternalMetric(const ExternalMetricRequest& request) {
  return absl::NotFoundError(absl::StrCat("the server could not find the metric ", request.metric,
                                          " for ", request.ns == "default" ? "namespaces" : ""));
}

absl::StatusOr<ExternalMetricList> ExternalListOf(const Answering& answering,
                                                  absl::string_view metric,
                                                  const QueryResult& result,
                                                  absl::Span<const Sample* const> samples) {
  using Type = QueryResult::Type;
  if (result.type == Type::kString) {
    return FetchFailure(answering, metric, absl::InternalError("the query's result is a string"));
  }
  if (result.type == Type::kMatrix) {
    return absl::UnknownError("encountered an unexpected query result type");
  }
  const bool scalar = result.type == Type::kScalar;
  if (result.null_result) {
    return absl::UnknownError(absl::StrCat("the provided input did not contain ",
                                           scalar ? "scalar" : "vector", " query results"));
  }
  ExternalMetricList list;
  list.metric = std::string(metric);
  list.items.reserve(samples.size());
  for (const Sample* sample : samples) {
    const std::optional<int64_t> milli =
        answering.values.ToMilli(sample->value, "external", metric);
    if (!milli) continue;
    list.items.push_back({.labels = scalar ? std::nullopt : std::optional<LabelSet>(sample->labels),
                          .timestamp = WholeSeconds(sample->time),
                          .value_milli = *milli});
  }
  return list;
}

absl::StatusOr<ExternalMetricList> ExternalProvider::Get(const ExternalMetricRequest& request) {
  const uint64_t epoch = Epoch();
  const std::shared_ptr<const SeriesRegistry> registry = answering_.relister.registry();
  const MetricSeries found = registry->FindExternal(request.metric);
  if (found.rule == nullptr) return NoExternalMetric(request);
  const absl::StatusOr<std::string> promql = found.rule->ExternalQuery(
      found.series, request.ns, request.selector.requirements(), *registry->mapper());
  if (!promql.ok()) {  // for example, a selector with < or > has no query
    return FetchFailure(answering_, request.metric, absl::InternalError(promql.status().message()));
  }
  const RuleName rule = {"externalRules", found.rule->index};
  absl::StatusOr<FreshResult> fresh = answering_.batcher.Query(
      *promql, answering_.clock.MonotonicNow() + request.timeout, found.rule->source);
  if (!fresh.ok()) {
    return FetchFailure(answering_, rule, *found.rule, request.metric, fresh.status());
  }
  answering_.failures.Succeeded(rule);
  NoteAnswer(*found.rule, *promql, *fresh);
  if (request.admit != nullptr) {
    ListSize size = SizeOf(*fresh->result);
    size.counted = &fresh->counted;
    RETURN_IF_ERROR(request.admit(size));
  }
  std::vector<const Sample*> samples;
  for (const Sample& sample : fresh->result->samples) samples.push_back(&sample);
  ASSIGN_OR_RETURN(ExternalMetricList list,
                   ExternalListOf(answering_, request.metric, *fresh->result, samples));
  list.freshness = fresh->freshness;
  list.freshness.epoch = epoch;
  return list;
}

std::unique_ptr<StandingExternal> ExternalProvider::Stand(
    std::vector<ExternalMetricRequest> requests) {
  return std::make_unique<ExternalStanding>(answering_, pool_, std::move(requests));
}

std::shared_ptr<const std::vector<std::string>> ExternalProvider::ListAll() const {
  return answering_.relister.registry()->external_list();
}

// Objects do not affect external metrics, so the registry's generation is enough.
uint64_t ExternalProvider::Epoch() const { return answering_.relister.generation(); }

}  // namespace flyball::adapter
