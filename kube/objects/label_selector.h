// metav1.LabelSelector: the structured form of a selector, as objects and answers carry it.
//
// Pure. Source: k8s.io/apimachinery v0.34.4 pkg/apis/meta/v1/helpers.go. A selector that is absent
// (null) is not a value of this type: it matches nothing, while an empty one matches everything.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/objects/selector.h"

namespace flyball::kube {

struct LabelSelector {
  struct Expression {
    std::string key;
    std::string op;  // In, NotIn, Exists, DoesNotExist; ToSelector refuses others
    std::vector<std::string> values;

    friend bool operator==(const Expression&, const Expression&) = default;
  };

  std::map<std::string, std::string> match_labels;
  std::vector<Expression> match_expressions;

  // From the text form; of several values for one key the last counts. kInvalidArgument, with the
  // text of upstream's ParseToLabelSelector: it does not parse, or has one of `!=`, `>` and `<`.
  static absl::StatusOr<LabelSelector> Parse(absl::string_view text,
                                             LabelRules rules = LabelRules::k1_34);

  // kInvalidArgument with upstream's text for an unknown operator, a bad key or value, or a wrong
  // number of values.
  absl::StatusOr<Selector> ToSelector(LabelRules rules = LabelRules::k1_34) const;

  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
};

}  // namespace flyball::kube
