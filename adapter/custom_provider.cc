#include "adapter/custom_provider.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "spdlog/spdlog.h"

namespace flyball::adapter {
namespace {

// The original's limit for the list call of a `*` request.
constexpr absl::Duration kListTimeout = absl::Seconds(45);

// As written in the request; `pods.` has an empty group, which is left out.
absl::string_view ResourceAsWritten(const CustomMetricRequest& request) {
  if (request.namespace_itself) return "namespaces";
  const absl::string_view written = request.resource;
  const bool no_group = !written.empty() && written.find('.') + 1 == written.size();
  return no_group ? written.substr(0, written.size() - 1) : written;
}

absl::Status NoMetric(const CustomMetricRequest& request) {
  return absl::NotFoundError(absl::StrCat("the server could not find the metric ", request.metric,
                                          " for ", ResourceAsWritten(request)));
}

absl::Status NoSample(const CustomMetricRequest& request) {
  return absl::NotFoundError(absl::StrCat(NoMetric(request).message(), " ", request.name));
}

// The original's client asks the API server for no other namespace.
bool CanBeSegment(absl::string_view ns) {
  return ns != "." && ns != ".." && ns.find_first_of("/%") == absl::string_view::npos;
}

// A `!=` term cannot be expressed in the LabelSelector that each item carries.
absl::Status CheckShowable(const kube::Selector& selector) {
  for (const kube::Requirement& requirement : selector.requirements()) {
    if (requirement.op == kube::Operator::kNotEquals) {
      return absl::UnknownError("\"!=\" is not a valid label selector operator");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CustomMetricList> CustomProvider::Get(const CustomMetricRequest& request) {
  const MonotonicTime deadline = answering_.clock.MonotonicNow() + request.timeout;
  const uint64_t epoch = Epoch();
  const std::shared_ptr<const SeriesRegistry> registry = answering_.relister.registry();
  const kube::ResourceInfo* resource =
      registry->mapper()->FindQualified(ResourceAsWritten(request));
  if (resource == nullptr) answering_.directory.ResourceMissed();  // it may be new

  if (request.name == "*") RETURN_IF_ERROR(CheckListable(request, resource));
  if (resource == nullptr) return NoMetric(request);
  // Before anything is listed: a list starts a watch, which an unknown metric is not worth.
  const MetricSeries found =
      registry->FindCustom(*resource, request.ns.has_value(), request.metric);
  if (found.rule == nullptr) return NoMetric(request);
  std::vector<std::string> names = {request.name};
  if (request.name == "*") {
    ASSIGN_OR_RETURN(names, ListNames(request, *resource, deadline));
    if (names.empty()) return NoMetric(request);
  }

  const ObjectQuestion question = {.rule = found.rule,
                                   .mapper = registry->mapper(),
                                   .args = {.series = std::string(found.series),
                                            .resource = resource->name,
                                            .ns = request.ns,
                                            .names = std::move(names),
                                            .selector = request.metric_selector.requirements()},
                                   .max_age = request.max_age};
  const absl::StatusOr<ObjectAnswer> values = answering_.batcher.QueryObjects(question, deadline);
  if (absl::IsNotFound(values.status())) {
    if (answering_.complaints.Due(request.metric)) {
      spdlog::warn("no query for metric {} of {}: {}", request.metric, resource->name.ToString(),
                   std::string(values.status().message()));
    }
    return NoMetric(request);
  }
  const RuleName rule = {"rules", found.rule->index};
  if (!values.ok()) {
    return FetchFailure(answering_, rule, *found.rule, request.metric, values.status());
  }
  answering_.failures.Succeeded(rule);

  ASSIGN_OR_RETURN(CustomMetricList list, Answer(request, *resource, question.args.names, *values));
  list.freshness = values->freshness;
  list.freshness.epoch = epoch;
  return list;
}

absl::StatusOr<CustomMetricList> CustomProvider::Answer(const CustomMetricRequest& request,
                                                        const kube::ResourceInfo& resource,
                                                        const std::vector<std::string>& names,
                                                        const ObjectAnswer& values) {
  CustomMetricList list;
  list.metric = request.metric;
  list.metric_selector = request.metric_selector;
  list.timestamp = WholeSeconds(answering_.clock.WallNow());
  list.items.reserve(names.size());
  const std::string api_version = absl::StrCat(resource.name.group, "/", resource.version);
  for (size_t i = 0; i < names.size(); ++i) {
    if (!values.values[i]) continue;
    const std::optional<int64_t> milli =
        answering_.values.ToMilli(*values.values[i], "custom", request.metric);
    if (!milli) continue;
    list.items.push_back({.object = {.kind = resource.kind,
                                     .api_version = api_version,
                                     .ns = request.ns.value_or(""),
                                     .name = names[i]},
                          .value_milli = *milli});
  }
  if (list.items.empty() && request.name != "*") return NoSample(request);
  if (!list.items.empty()) RETURN_IF_ERROR(CheckShowable(request.metric_selector));
  return list;
}

absl::Status CustomProvider::ListFailure(const CustomMetricRequest& request,
                                         const absl::Status& cause) {
  // Unknown resources share one line: clients may think of any number of names.
  const absl::string_view resource =
      absl::IsNotFound(cause) ? "a resource" : ResourceAsWritten(request);
  if (answering_.complaints.Due(resource)) {
    spdlog::error("unable to list {}: {}", std::string(resource), std::string(cause.message()));
  }
  return absl::InternalError("unable to list matching resources");
}

absl::Status CustomProvider::CheckListable(const CustomMetricRequest& request,
                                           const kube::ResourceInfo* resource) {
  if (resource == nullptr) return ListFailure(request, absl::NotFoundError("it is not known"));
  if (request.ns && !resource->namespaced && IsCoreClusterScoped(resource->name)) {
    return ListFailure(request, absl::NotFoundError("it has no namespaces"));
  }
  if (request.ns && !CanBeSegment(*request.ns)) {
    return ListFailure(request, absl::NotFoundError("no namespace can have that name"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> CustomProvider::ListNames(
    const CustomMetricRequest& request, const kube::ResourceInfo& resource,
    MonotonicTime deadline) {
  const absl::StatusOr<std::vector<kube::ObjectPtr>> objects = answering_.directory.List(
      {.resource = resource.name,
       .ns = resource.namespaced ? request.ns.value_or("") : "",
       .selector = request.object_selector,
       .running_only = false,
       .timeout = std::min(kListTimeout, deadline - answering_.clock.MonotonicNow())});
  if (!objects.ok()) return ListFailure(request, objects.status());
  if (request.admit != nullptr) RETURN_IF_ERROR(request.admit(ListSize::Of(*objects)));
  std::vector<std::string> names;
  names.reserve(objects->size());
  for (const kube::ObjectPtr& object : *objects) names.push_back(object->name);
  // By name already within one namespace; a root-scoped path of a namespaced kind sees several.
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::shared_ptr<const std::vector<CustomMetricInfo>> CustomProvider::ListAll() const {
  return answering_.relister.registry()->custom_list();
}

uint64_t CustomProvider::Epoch() const {
  // Both only grow, so their sum changes whenever one of them does.
  return answering_.relister.generation() + answering_.directory.Generation();
}

}  // namespace flyball::adapter
