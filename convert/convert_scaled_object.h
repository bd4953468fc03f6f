// KEDA's ScaledObjects as Autoscalers (CRD).
//
// Pure. Takes keda.sh/v1alpha1 in JSON or YAML: one object, several documents, or a List; a
// TriggerAuthentication beside them is read for the Secrets that it names, other kinds are passed
// over. KEDA's defaults are written out where ours differ.
// Source: KEDA 2.20, apis/keda/v1alpha1 and its HPA: what a ScaledObject means without Flyball.
#pragma once

#include "absl/strings/string_view.h"
#include "convert/convert_hpa.h"

namespace flyball::convert {

// An object that an Autoscaler can't stand for is an error that names the field: formulas, an idle
// count, types of triggers that there are not, credentials that no Secret holds.
Conversion ConvertScaledObjects(absl::string_view file, absl::string_view text,
                                const ConvertOptions& options);

}  // namespace flyball::convert
