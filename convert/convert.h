// Converts objects of other autoscalers to Autoscalers (CRD) and what these need, and Helm values
// of prometheus-adapter's chart to those of this project's chart.
//
// Pure. Each converter takes a file in JSON or YAML: one object, several documents, or a List;
// objects of kinds that it does not read are skipped. Defaults of the other autoscaler are written
// out where ours differ. Comments in the result name each field that can't be carried over. If the
// result would do something else, or would make no sense, that is an error that names the field.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "scaler/spec/dialect.h"

namespace flyball::convert {

struct ConvertOptions {
  std::string mode;  // "Shadow", "Advise", "Act"; "": left to the server's flag
  // For Knative's Services: the Service that clients call is NAME-front, since NAME belongs to
  // Knative as long as the Knative Service exists.
  bool beside = false;
  // The API server that has to admit the objects; absent: any.
  std::optional<scaler::Dialect> dialect;
};

struct Conversion {
  std::string yaml;                 // documents; comments say what could not be carried over
  std::vector<std::string> errors;  // `FILE:LINE: what`; if there are any, yaml must not be used
  bool nothing = false;             // the file has no object of the kind; also among the errors
};

// HorizontalPodAutoscalers (autoscaling/v2 and v1), as a person or kubectl wrote them. The
// resulting spec has every default that the API server would fill in. Those that KEDA made are
// skipped with a comment.
Conversion ConvertHpas(absl::string_view file, absl::string_view text,
                       const ConvertOptions& options);

// KEDA's ScaledObjects (keda.sh/v1alpha1). Also reads TriggerAuthentications, for the Secrets that
// they name. Errors: formulas, an idle count, types of triggers that do not exist here, credentials
// that are not in a Secret, parameters that are not read from one.
// Source: KEDA 2.20, apis/keda/v1alpha1, and the HPA that KEDA makes from a ScaledObject.
Conversion ConvertScaledObjects(absl::string_view file, absl::string_view text,
                                const ConvertOptions& options);

// The objects of KEDA's http-add-on, with the Services that clients call: HTTPScaledObject
// (http.keda.sh/v1alpha1) and its successor InterceptorRoute (v1beta1). Also reads the Services
// that they name, for the pods' port, and ScaledObjects with a trigger of the add-on, for the
// target and bounds that an InterceptorRoute does not have. Errors: rules whose headers differ,
// texts with a comma.
// Source: KEDA http-add-on 0.15, operator/apis/http and pkg/routing.
Conversion ConvertHttpObjects(absl::string_view file, absl::string_view text,
                              const ConvertOptions& options);

// Each Service of Knative Serving (serving.knative.dev/v1), with a Deployment and two Services;
// also Configurations that belong to no Service of the file, and Revisions that belong to no
// Configuration of the file. Comments tell what Routes and DomainMappings did, and name shares of
// traffic and tags, timeouts of single parts and domains. Errors: annotations that Knative refuses
// too, a class of autoscaler that is not one of Knative's, containers of which none takes requests.
//
// Pods get from Knative more than their template has: PORT, the probes and the termination grace
// period are carried over; K_SERVICE and similar variables, and the proxy beside the container, are
// not.
// Source: Knative Serving v0.51.0 pkg/apis/serving/v1 and pkg/reconciler/revision/resources.
Conversion ConvertKnativeServices(absl::string_view file, absl::string_view text,
                                  const ConvertOptions& options);

// Helm values. Nearly all names and meanings are the same in both charts, so most values are kept
// as they are. Values that name the other program's image, that have no effect any more, or that
// this chart's schema refuses are left out, each with a remark at the beginning that has its line.
// `path`: the keys that lead to the chart's own values, such as [prometheus-adapter] in the values
// of a parent chart; the result has only the chart's own values. `schema`: values.schema.json of
// this project's chart.
Conversion ConvertValues(absl::string_view file, absl::string_view text,
                         const std::vector<std::string>& path, absl::string_view schema);

}  // namespace flyball::convert
