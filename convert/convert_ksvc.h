// Services of Knative Serving as a Deployment, two Services and an Autoscaler (CRD).
//
// Pure. Takes serving.knative.dev/v1 in JSON or YAML: one object, several documents, or a List. A
// Service is converted, a Configuration that no Service of the file has made, and a Revision that
// no Configuration of the file has made; of Routes and DomainMappings it is said what they said,
// and other kinds are passed over. Knative's defaults are written out where ours differ.
//
// Of what a Revision gives its pods beyond their template, PORT, the probes and the time to end are
// made; K_SERVICE and the like, and the proxy beside them, are not.
// Source: Knative Serving v0.51.0 pkg/apis/serving/v1 and pkg/reconciler/revision/resources.
#pragma once

#include "absl/strings/string_view.h"
#include "convert/convert_hpa.h"

namespace flyball::convert {

// What can't be carried over stands in comments, each by its field: shares of traffic and tags,
// timeouts of single parts, domains, fields that are not known. What makes no sense without it is
// an error that names the field: annotations that Knative refuses too, a class of autoscaler that
// is neither of Knative's, containers of which none takes requests.
Conversion ConvertKnativeServices(absl::string_view file, absl::string_view text,
                                  const ConvertOptions& options);

}  // namespace flyball::convert
