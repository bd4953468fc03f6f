// What KEDA's http-add-on scales, as Autoscalers (CRD) with the Services that clients call.
//
// Pure. Takes HTTPScaledObject (http.keda.sh/v1alpha1) and its successor InterceptorRoute
// (v1beta1) in JSON or YAML: one object, several documents, or a List. Beside them are read: the
// Services that they name, for the pods' port, and a ScaledObject with a trigger of the add-on, for
// the target and bounds that an InterceptorRoute does not say; other kinds are passed over.
// The add-on's defaults are written out where ours differ.
// Source: KEDA http-add-on 0.15, operator/apis/http and pkg/routing.
#pragma once

#include "absl/strings/string_view.h"
#include "convert/convert_hpa.h"

namespace flyball::convert {

// What can't be carried over stands in comments, each by its field. What would route otherwise is
// an error that names the field: rules whose headers differ, texts that a list can't hold.
Conversion ConvertHttpObjects(absl::string_view file, absl::string_view text,
                              const ConvertOptions& options);

}  // namespace flyball::convert
