// What a label key, a label value and the names of DNS may look like, with Kubernetes' wording of
// what is wrong.
//
// Pure. Source: k8s.io/apimachinery v0.34.4 pkg/util/validation.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace flyball::kube {

// Whether it is RFC 1123 labels with dots between them; how long it is does not matter.
bool IsSubdomain(absl::string_view text);

// Everything wrong with `key` as `[prefix/]name`; empty if it is a legal label key.
std::vector<std::string> LabelKeyProblems(absl::string_view key);

// Everything wrong with `value`; empty if it is a legal label value.
std::vector<std::string> LabelValueProblems(absl::string_view value);

// Everything wrong with `text` as a DNS-1123 subdomain or label; empty if it is one.
std::vector<std::string> SubdomainProblems(absl::string_view text);
std::vector<std::string> DnsLabelProblems(absl::string_view text);

}  // namespace flyball::kube
