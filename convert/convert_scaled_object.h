// Converts KEDA's ScaledObjects to Autoscalers (CRD).
//
// Pure. Takes keda.sh/v1alpha1 in JSON or YAML: one object, several documents, or a List. It also
// reads TriggerAuthentications, for the Secrets that they name; objects of other kinds are skipped.
// KEDA's defaults are written out where ours differ.
// Source: KEDA 2.20, apis/keda/v1alpha1, and the HPA that KEDA makes from a ScaledObject.
#pragma once

#include "absl/strings/string_view.h"
#include "convert/convert_hpa.h"

namespace flyball::convert {

// Comments name each field that can't be carried over. If an Autoscaler can't replace an object,
// that is an error that names the field: formulas, an idle count, types of triggers that do not
// exist here, credentials that are not in a Secret, parameters that are not read from one.
Conversion ConvertScaledObjects(absl::string_view file, absl::string_view text,
                                const ConvertOptions& options);

}  // namespace flyball::convert
