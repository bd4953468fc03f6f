// Converts the objects of KEDA's http-add-on to Autoscalers (CRD) with the Services that clients
// call.
//
// Pure. Takes HTTPScaledObject (http.keda.sh/v1alpha1) and its successor InterceptorRoute
// (v1beta1) in JSON or YAML: one object, several documents, or a List. It also reads the Services
// that they name, for the pods' port, and ScaledObjects with a trigger of the add-on, for the
// target and bounds that an InterceptorRoute does not have; objects of other kinds are skipped.
// The add-on's defaults are written out where ours differ.
// Source: KEDA http-add-on 0.15, operator/apis/http and pkg/routing.
#pragma once

#include "absl/strings/string_view.h"
#include "convert/convert_hpa.h"

namespace flyball::convert {

// Comments name each field that can't be carried over. If requests would be routed differently,
// that is an error that names the field: rules whose headers differ, texts with a comma.
Conversion ConvertHttpObjects(absl::string_view file, absl::string_view text,
                              const ConvertOptions& options);

}  // namespace flyball::convert
