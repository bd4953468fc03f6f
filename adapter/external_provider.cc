#include "adapter/external_provider.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace flyball::adapter {
namespace {

// The original names a resource only for the namespace `default`.
absl::Status NoMetric(const ExternalMetricRequest& request) {
  return absl::NotFoundError(absl::StrCat("the server could not find the metric ", request.metric,
                                          " for ", request.ns == "default" ? "namespaces" : ""));
}

}  // namespace

absl::StatusOr<ExternalMetricList> ExternalProvider::Get(const ExternalMetricRequest& request) {
  const MonotonicTime deadline = answering_.clock.MonotonicNow() + request.timeout;
  const uint64_t epoch = Epoch();
  const std::shared_ptr<const SeriesRegistry> registry = answering_.registry.registry();
  const MetricSeries found = registry->FindExternal(request.metric);
  if (found.rule == nullptr) return NoMetric(request);

  const absl::StatusOr<std::string> promql = found.rule->ExternalQuery(
      found.series, request.ns, ForRules(request.selector), *registry->names());
  if (!promql.ok()) {
    return FetchFailure(answering_, request.metric, absl::InternalError(promql.status().message()));
  }
  const absl::StatusOr<FreshResult> fresh = answering_.batcher.Query(*promql, deadline);
  if (!fresh.ok()) return FetchFailure(answering_, request.metric, fresh.status());

  ASSIGN_OR_RETURN(ExternalMetricList list, Answer(request, *fresh->result));
  list.freshness = {fresh->fresh_until, epoch, fresh->refresh_at};
  return list;
}

absl::StatusOr<ExternalMetricList> ExternalProvider::Answer(const ExternalMetricRequest& request,
                                                            const QueryResult& result) {
  using Type = QueryResult::Type;
  if (result.type == Type::kString) {
    return FetchFailure(answering_, request.metric,
                        absl::InternalError("the query's result is a string"));
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
  list.metric = request.metric;
  list.items.reserve(result.samples.size());
  for (const Sample& sample : result.samples) {
    const std::optional<int64_t> milli =
        answering_.values.ToMilli(sample.value, "external", request.metric);
    if (!milli) continue;
    list.items.push_back({.labels = scalar ? std::nullopt : std::optional<LabelSet>(sample.labels),
                          .timestamp = absl::FromUnixSeconds(absl::ToUnixSeconds(sample.time)),
                          .value_milli = *milli});
  }
  return list;
}

std::shared_ptr<const std::vector<std::string>> ExternalProvider::ListAll() const {
  return answering_.registry.registry()->external_list();
}

// No object plays a part.
uint64_t ExternalProvider::Epoch() const { return answering_.registry.generation(); }

}  // namespace flyball::adapter
