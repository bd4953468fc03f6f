#include "apiservice/endpoints/openapi_schemas.h"

namespace flyball::apiservice {
namespace {

#define META "io.k8s.apimachinery.pkg.apis.meta.v1."
#define METRICS "io.k8s.metrics.pkg.apis.metrics.v1beta1."
#define CUSTOM1 "io.k8s.metrics.pkg.apis.custom_metrics.v1beta1."
#define CUSTOM2 "io.k8s.metrics.pkg.apis.custom_metrics.v1beta2."
#define EXTERNAL "io.k8s.metrics.pkg.apis.external_metrics.v1beta1."
#define QUANTITY "io.k8s.apimachinery.pkg.api.resource.Quantity"

using enum FieldType;

const SchemaField kKind = {"kind", kString, "", "The kind of this object."};
const SchemaField kApiVersion = {"apiVersion", kString, "",
                                 "The group and version of this object."};
const SchemaField kListMeta = {"metadata", kObject, META "ListMeta", "Metadata of the list.", true};
const SchemaField kObjectMeta = {"metadata", kObject, META "ObjectMeta", "Metadata of the object."};
const SchemaField kTimestamp = {"timestamp", kDateTime, "", "When the values were measured.", true};
const SchemaField kUsageWindow = {"window", kString, "",
                                  "The span of time that the values were measured over.", true};
const SchemaField kUsage = {"usage", kMap, QUANTITY, "What is used of each resource.", true};
const SchemaField kValue = {"value", kObject, QUANTITY, "The value of the metric.", true};
const SchemaField kDescribed = {"describedObject", kObject, "io.k8s.api.core.v1.ObjectReference",
                                "The object that the metric is about.", true};

SchemaField Items(absl::string_view of) { return {"items", kArray, of, "The items.", true}; }

std::vector<Schema> MetaSchemas() {
  return {
      {QUANTITY, "A number with a unit suffix: 1500m, 2Gi.", "", "", "", {}},
      {META "ListMeta",
       "Metadata of a list.",
       "",
       "",
       "",
       {{"resourceVersion", kString, "", "Not set."}, {"continue", kString, "", "Not set."}}},
      {META "ObjectMeta",
       "Metadata of an object.",
       "",
       "",
       "",
       {{"name", kString, "", "The name of the object."},
        {"namespace", kString, "", "The namespace of the object."},
        {"creationTimestamp", kDateTime, "", "When the answer was made."},
        {"labels", kStringMap, "", "The labels of the object."}}},
      {META "LabelSelectorRequirement",
       "One condition on a label.",
       "",
       "",
       "",
       {{"key", kString, "", "The label.", true},
        {"operator", kString, "", "In, NotIn, Exists or DoesNotExist.", true},
        {"values", kStringArray, "", "The values of In and NotIn."}}},
      {META "LabelSelector",
       "Conditions on labels, all of which must hold.",
       "",
       "",
       "",
       {{"matchLabels", kStringMap, "", "Labels and the values they must have."},
        {"matchExpressions", kArray, META "LabelSelectorRequirement", "Further conditions."}}},
      {"io.k8s.api.core.v1.ObjectReference",
       "Names an object.",
       "",
       "",
       "",
       {kKind,
        kApiVersion,
        {"name", kString, "", "The name of the object."},
        {"namespace", kString, "", "The namespace of the object."}}},
  };
}

void AddMetricsGroup(std::vector<Schema>* out) {
  const auto group = "metrics.k8s.io";
  out->push_back({METRICS "ContainerMetrics",
                  "What one container uses.",
                  "",
                  "",
                  "",
                  {{"name", kString, "", "The container.", true}, kUsage}});
  out->push_back({METRICS "PodMetrics",
                  "What a pod's containers use.",
                  group,
                  "v1beta1",
                  "PodMetrics",
                  {kKind,
                   kApiVersion,
                   kObjectMeta,
                   kTimestamp,
                   kUsageWindow,
                   {"containers", kArray, METRICS "ContainerMetrics", "The containers.", true}}});
  out->push_back({METRICS "PodMetricsList",
                  "A list of PodMetrics.",
                  group,
                  "v1beta1",
                  "PodMetricsList",
                  {kKind, kApiVersion, kListMeta, Items(METRICS "PodMetrics")}});
  out->push_back({METRICS "NodeMetrics",
                  "What a node uses.",
                  group,
                  "v1beta1",
                  "NodeMetrics",
                  {kKind, kApiVersion, kObjectMeta, kTimestamp, kUsageWindow, kUsage}});
  out->push_back({METRICS "NodeMetricsList",
                  "A list of NodeMetrics.",
                  group,
                  "v1beta1",
                  "NodeMetricsList",
                  {kKind, kApiVersion, kListMeta, Items(METRICS "NodeMetrics")}});
}

void AddCustomGroup(std::vector<Schema>* out) {
  const auto group = "custom.metrics.k8s.io";
  out->push_back({CUSTOM1 "MetricValue",
                  "A metric of one object.",
                  group,
                  "v1beta1",
                  "MetricValue",
                  {kKind,
                   kApiVersion,
                   kDescribed,
                   {"metricName", kString, "", "The metric.", true},
                   kTimestamp,
                   {"window", kInteger, "", "Seconds that it was measured over."},
                   kValue,
                   {"selector", kObject, META "LabelSelector", "The selector of the metric."}}});
  out->push_back({CUSTOM1 "MetricValueList",
                  "A metric of some objects.",
                  group,
                  "v1beta1",
                  "MetricValueList",
                  {kKind, kApiVersion, kListMeta, Items(CUSTOM1 "MetricValue")}});
  out->push_back({CUSTOM2 "MetricIdentifier",
                  "Names a metric.",
                  "",
                  "",
                  "",
                  {{"name", kString, "", "The metric.", true},
                   {"selector", kObject, META "LabelSelector", "The selector of the metric."}}});
  out->push_back({CUSTOM2 "MetricValue",
                  "A metric of one object.",
                  group,
                  "v1beta2",
                  "MetricValue",
                  {kKind,
                   kApiVersion,
                   kDescribed,
                   {"metric", kObject, CUSTOM2 "MetricIdentifier", "The metric.", true},
                   kTimestamp,
                   {"windowSeconds", kInteger, "", "Seconds that it was measured over."},
                   kValue}});
  out->push_back({CUSTOM2 "MetricValueList",
                  "A metric of some objects.",
                  group,
                  "v1beta2",
                  "MetricValueList",
                  {kKind, kApiVersion, kListMeta, Items(CUSTOM2 "MetricValue")}});
}

void AddExternalGroup(std::vector<Schema>* out) {
  const auto group = "external.metrics.k8s.io";
  out->push_back({EXTERNAL "ExternalMetricValue",
                  "One series of an external metric.",
                  group,
                  "v1beta1",
                  "ExternalMetricValue",
                  {kKind,
                   kApiVersion,
                   {"metricName", kString, "", "The metric.", true},
                   {"metricLabels", kStringMap, "", "The labels of the series.", true},
                   kTimestamp,
                   {"window", kInteger, "", "Seconds that it was measured over."},
                   kValue}});
  out->push_back({EXTERNAL "ExternalMetricValueList",
                  "The series of an external metric.",
                  group,
                  "v1beta1",
                  "ExternalMetricValueList",
                  {kKind, kApiVersion, kListMeta, Items(EXTERNAL "ExternalMetricValue")}});
}

}  // namespace

const std::vector<Schema>& Schemas() {
  static const auto* const kSchemas = [] {
    auto* schemas = new std::vector<Schema>(MetaSchemas());
    AddMetricsGroup(schemas);
    AddCustomGroup(schemas);
    AddExternalGroup(schemas);
    return schemas;
  }();
  return *kSchemas;
}

const std::vector<ServedPath>& ServedPaths() {
  static const auto* const kPaths = new std::vector<ServedPath>{
      {"metrics.k8s.io", "v1beta1", "/nodes", "list", "NodeMetrics", METRICS "NodeMetricsList"},
      {"metrics.k8s.io", "v1beta1", "/nodes/{name}", "get", "NodeMetrics", METRICS "NodeMetrics"},
      {"metrics.k8s.io", "v1beta1", "/pods", "list", "PodMetrics", METRICS "PodMetricsList"},
      {"metrics.k8s.io", "v1beta1", "/namespaces/{namespace}/pods", "list", "PodMetrics",
       METRICS "PodMetricsList"},
      {"metrics.k8s.io", "v1beta1", "/namespaces/{namespace}/pods/{name}", "get", "PodMetrics",
       METRICS "PodMetrics"},
      {"custom.metrics.k8s.io", "v1beta1",
       "/namespaces/{namespace}/{resource}/{name}/{subresource}", "get", "MetricValueList",
       CUSTOM1 "MetricValueList"},
      {"custom.metrics.k8s.io", "v1beta1", "/{resource}/{name}/{subresource}", "get",
       "MetricValueList", CUSTOM1 "MetricValueList"},
      {"custom.metrics.k8s.io", "v1beta2",
       "/namespaces/{namespace}/{resource}/{name}/{subresource}", "get", "MetricValueList",
       CUSTOM2 "MetricValueList"},
      {"custom.metrics.k8s.io", "v1beta2", "/{resource}/{name}/{subresource}", "get",
       "MetricValueList", CUSTOM2 "MetricValueList"},
      {"external.metrics.k8s.io", "v1beta1", "/namespaces/{namespace}/{resource}", "list",
       "ExternalMetricValueList", EXTERNAL "ExternalMetricValueList"},
  };
  return *kPaths;
}

}  // namespace flyball::apiservice
