// Makes bodies of custom.metrics.k8s.io and external.metrics.k8s.io from the providers' values.
//
// Pure. These are the most frequent answers: each is made in one pass, appended to one buffer, with
// its fields in the order of the Go structs. A newline ends the JSON.
#pragma once

#include <string>

#include "adapter/provider.h"
#include "apiservice/wire/proto_writer.h"
#include "kube/objects/selector.h"

namespace flyball::apiservice::wire {

// `version` is v1beta1 or v1beta2.
std::string ToJson(const adapter::CustomMetricList& list, absl::string_view version);
std::string ToProtobuf(const adapter::CustomMetricList& list, absl::string_view version);

std::string ToJson(const adapter::ExternalMetricList& list);
std::string ToProtobuf(const adapter::ExternalMetricList& list);

// The operator of meta/v1 LabelSelectorRequirement: `=` is In and `!=` is NotIn. "": there is none.
absl::string_view SelectorOperator(kube::Operator op);

// Appends a requirement as meta/v1 LabelSelectorRequirement, which must have its operator.
void AppendRequirement(const kube::Requirement& requirement, std::string* out);

// A selector as meta/v1 LabelSelector: `null` if empty. Requirements that the type cannot express
// (!=, >, <) are left out; the provider refuses them earlier.
std::string LabelSelectorJson(const kube::Selector& selector);

}  // namespace flyball::apiservice::wire
