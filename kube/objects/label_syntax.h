// Validates label keys, label values and DNS names, with Kubernetes' error texts.
//
// Pure. Source: k8s.io/apimachinery v0.34.4 and v0.37.1 pkg/util/validation and
// pkg/api/validate/content.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace flyball::kube {

// The version of the error texts and of the selector syntax: Kubernetes up to 1.34, or from 1.35
// on. Which labels are legal did not change; the selector `a in (b,,)` became legal.
enum class LabelRules { k1_34, k1_35 };

// Whether the text is RFC 1123 labels separated by dots, of any length.
bool IsSubdomain(absl::string_view text);

// Everything wrong with `key` as `[prefix/]name`; empty if it is a legal label key.
std::vector<std::string> LabelKeyProblems(absl::string_view key,
                                          LabelRules rules = LabelRules::k1_34);

// Everything wrong with `value`; empty if it is a legal label value.
std::vector<std::string> LabelValueProblems(absl::string_view value,
                                            LabelRules rules = LabelRules::k1_34);

// Everything wrong with `text` as a DNS-1123 subdomain or label; empty if it is one.
std::vector<std::string> SubdomainProblems(absl::string_view text);
std::vector<std::string> DnsLabelProblems(absl::string_view text);

}  // namespace flyball::kube
