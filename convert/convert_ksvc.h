// Converts each Service of Knative Serving to a Deployment, two Services and an Autoscaler (CRD).
//
// Pure. Takes serving.knative.dev/v1 in JSON or YAML: one object, several documents, or a List. It
// converts Services, Configurations that belong to no Service of the file, and Revisions that
// belong to no Configuration of the file. Comments say what Routes and DomainMappings did; objects
// of other kinds are skipped. Knative's defaults are written out where ours differ.
//
// Pods get from Knative more than their template has: PORT, the probes and the termination grace
// period are carried over; K_SERVICE and similar variables, and the proxy beside the container, are
// not.
// Source: Knative Serving v0.51.0 pkg/apis/serving/v1 and pkg/reconciler/revision/resources.
#pragma once

#include "absl/strings/string_view.h"
#include "convert/convert_hpa.h"

namespace flyball::convert {

// Comments name each field that can't be carried over: shares of traffic and tags, timeouts of
// single parts, domains, unknown fields. If the result would make no sense, that is an error that
// names the field: annotations that Knative refuses too, a class of autoscaler that is not one of
// Knative's, containers of which none takes requests.
Conversion ConvertKnativeServices(absl::string_view file, absl::string_view text,
                                  const ConvertOptions& options);

}  // namespace flyball::convert
