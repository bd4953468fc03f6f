#include "apiservice/endpoints/openapi_schemas.h"

#include "absl/strings/str_cat.h"

namespace flyball::apiservice {
namespace {

using enum FieldType;

constexpr SchemaPackage kMetricsBeta = {"io.k8s.metrics.pkg.apis.metrics.v1beta1.",
                                        "metrics.k8s.io", "v1beta1"};
constexpr SchemaPackage kMetrics = {"io.k8s.metrics.pkg.apis.metrics.v1.", "metrics.k8s.io", "v1"};
constexpr SchemaPackage kCustom1 = {"io.k8s.metrics.pkg.apis.custom_metrics.v1beta1.",
                                    "custom.metrics.k8s.io", "v1beta1"};
constexpr SchemaPackage kCustom2 = {"io.k8s.metrics.pkg.apis.custom_metrics.v1beta2.",
                                    "custom.metrics.k8s.io", "v1beta2"};
constexpr SchemaPackage kExternal = {"io.k8s.metrics.pkg.apis.external_metrics.v1beta1.",
                                     "external.metrics.k8s.io", "v1beta1"};

std::string Meta(absl::string_view name) {
  return absl::StrCat("io.k8s.apimachinery.pkg.apis.meta.v1.", name);
}

std::string InPackage(const SchemaPackage& package, absl::string_view name) {
  return absl::StrCat(package.prefix, name);
}

constexpr char kQuantity[] = "io.k8s.apimachinery.pkg.api.resource.Quantity";
constexpr char kReference[] = "io.k8s.api.core.v1.ObjectReference";

const SchemaField kKind = {"kind", "The kind of this object."};
const SchemaField kApiVersion = {"apiVersion", "The group and version of this object."};
const SchemaField kName = {"name", "The name of the object."};
const SchemaField kNamespace = {"namespace", "The namespace of the object."};
const SchemaField kTimestamp = {"timestamp", "When the values were measured.", true, kDateTime};
const SchemaField kUsage = {"usage", "What is used of each resource.", true, kMap, kQuantity};
const SchemaField kUsageWindow = {"window", "The span of time that the values were measured over.",
                                  true};
const SchemaField kValue = {"value", "The value of the metric.", true, kObject, kQuantity};
const SchemaField kMetricName = {"metricName", "The metric.", true};

SchemaField ObjectMeta() {
  return {"metadata", "Metadata of the object.", false, kObject, Meta("ObjectMeta")};
}

SchemaField DescribedObject() {
  return {"describedObject", "The object that the metric is about.", true, kObject, kReference};
}

SchemaField Selector() {
  return {"selector", "The selector of the metric.", false, kObject, Meta("LabelSelector")};
}

SchemaField Seconds(absl::string_view name) {
  return {name, "Seconds that it was measured over.", false, kInteger};
}

std::vector<Schema> MetaSchemas() {
  return {
      {kQuantity, "A number with a unit suffix: 1500m, 2Gi.", {}},
      {Meta("ListMeta"),
       "Metadata of a list.",
       {{"resourceVersion", "Not set."}, {"continue", "Not set."}}},
      {Meta("ObjectMeta"),
       "Metadata of an object.",
       {kName,
        kNamespace,
        {"creationTimestamp", "When the answer was made.", false, kDateTime},
        {"labels", "The labels of the object.", false, kMap}}},
      {Meta("LabelSelectorRequirement"),
       "One condition on a label.",
       {{"key", "The label.", true},
        {"operator", "In, NotIn, Exists or DoesNotExist.", true},
        {"values", "The values of In and NotIn.", false, kArray}}},
      {Meta("LabelSelector"),
       "Conditions on labels, all of which must hold.",
       {{"matchLabels", "Labels and the values they must have.", false, kMap},
        {"matchExpressions", "Further conditions.", false, kArray,
         Meta("LabelSelectorRequirement")}}},
      {kReference, "Names an object.", {kKind, kApiVersion, kName, kNamespace}},
  };
}

// A served kind, whose own fields come after those of its metadata.
Schema ServedKind(const SchemaPackage& package, absl::string_view kind,
                  absl::string_view description, std::vector<SchemaField> own) {
  own.insert(own.begin(), {kKind, kApiVersion});
  return {InPackage(package, kind), description, std::move(own), kind, package};
}

// The list of `kind`, whose name has List appended.
Schema ListKind(const SchemaPackage& package, absl::string_view kind,
                absl::string_view description) {
  const absl::string_view item = kind.substr(0, kind.size() - 4);
  return ServedKind(package, kind, description,
                    {{"metadata", "Metadata of the list.", true, kObject, Meta("ListMeta")},
                     {"items", "The items.", true, kArray, InPackage(package, item)}});
}

// metrics.k8s.io: both versions of it have the same kinds.
void AddMetricsKinds(const SchemaPackage& package, std::vector<Schema>* out) {
  const std::string container = InPackage(package, "ContainerMetrics");
  out->push_back(
      {container, "What one container uses.", {{"name", "The container.", true}, kUsage}});
  out->push_back(ServedKind(package, "PodMetrics", "What a pod's containers use.",
                            {ObjectMeta(),
                             kTimestamp,
                             kUsageWindow,
                             {"containers", "The containers.", true, kArray, container}}));
  out->push_back(ListKind(package, "PodMetricsList", "A list of PodMetrics."));
  out->push_back(ServedKind(package, "NodeMetrics", "What a node uses.",
                            {ObjectMeta(), kTimestamp, kUsageWindow, kUsage}));
  out->push_back(ListKind(package, "NodeMetricsList", "A list of NodeMetrics."));
}

std::vector<Schema> AllSchemas() {
  std::vector<Schema> out = MetaSchemas();
  for (const SchemaPackage& package : {kMetrics, kMetricsBeta}) AddMetricsKinds(package, &out);
  out.push_back(ServedKind(
      kCustom1, "MetricValue", "A metric of one object.",
      {DescribedObject(), kMetricName, kTimestamp, Seconds("window"), kValue, Selector()}));
  out.push_back(ListKind(kCustom1, "MetricValueList", "A metric of some objects."));
  const std::string identifier = InPackage(kCustom2, "MetricIdentifier");
  out.push_back({identifier, "Names a metric.", {{"name", "The metric.", true}, Selector()}});
  out.push_back(ServedKind(kCustom2, "MetricValue", "A metric of one object.",
                           {DescribedObject(),
                            {"metric", "The metric.", true, kObject, identifier},
                            kTimestamp,
                            Seconds("windowSeconds"),
                            kValue}));
  out.push_back(ListKind(kCustom2, "MetricValueList", "A metric of some objects."));
  out.push_back(ServedKind(kExternal, "ExternalMetricValue", "One series of an external metric.",
                           {kMetricName,
                            {"metricLabels", "The labels of the series.", true, kMap},
                            kTimestamp,
                            Seconds("window"),
                            kValue}));
  out.push_back(
      ListKind(kExternal, "ExternalMetricValueList", "The series of an external metric."));
  return out;
}

}  // namespace

const std::vector<Schema>& Schemas() {
  static const auto* const kSchemas = new std::vector<Schema>(AllSchemas());
  return *kSchemas;
}

const std::vector<ServedPath>& ServedPaths() {
  constexpr absl::string_view kInNamespace =
      "/namespaces/{namespace}/{resource}/{name}/{subresource}";
  constexpr absl::string_view kOfCluster = "/{resource}/{name}/{subresource}";
  static const auto* const kPaths = new std::vector<ServedPath>{
      {kMetrics, "/nodes", "list", "NodeMetrics", "NodeMetricsList"},
      {kMetrics, "/nodes/{name}", "get", "NodeMetrics", "NodeMetrics"},
      {kMetrics, "/pods", "list", "PodMetrics", "PodMetricsList"},
      {kMetrics, "/namespaces/{namespace}/pods", "list", "PodMetrics", "PodMetricsList"},
      {kMetrics, "/namespaces/{namespace}/pods/{name}", "get", "PodMetrics", "PodMetrics"},
      {kMetricsBeta, "/nodes", "list", "NodeMetrics", "NodeMetricsList"},
      {kMetricsBeta, "/nodes/{name}", "get", "NodeMetrics", "NodeMetrics"},
      {kMetricsBeta, "/pods", "list", "PodMetrics", "PodMetricsList"},
      {kMetricsBeta, "/namespaces/{namespace}/pods", "list", "PodMetrics", "PodMetricsList"},
      {kMetricsBeta, "/namespaces/{namespace}/pods/{name}", "get", "PodMetrics", "PodMetrics"},
      {kCustom1, kInNamespace, "get", "MetricValueList", "MetricValueList"},
      {kCustom1, kOfCluster, "get", "MetricValueList", "MetricValueList"},
      {kCustom2, kInNamespace, "get", "MetricValueList", "MetricValueList"},
      {kCustom2, kOfCluster, "get", "MetricValueList", "MetricValueList"},
      {kExternal, "/namespaces/{namespace}/{resource}", "list", "ExternalMetricValueList",
       "ExternalMetricValueList"},
  };
  return *kPaths;
}

}  // namespace flyball::apiservice
