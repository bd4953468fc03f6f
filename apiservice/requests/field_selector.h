// Field selectors: `metadata.name=web-1,metadata.namespace!=x`.
//
// Pure. Source: k8s.io/apimachinery v0.34.4 pkg/fields, with the two fields that every type has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace flyball::apiservice {

class FieldSelector {
 public:
  FieldSelector() = default;

  // kInvalidArgument with upstream's text: a bare term, a bad escape.
  static absl::StatusOr<FieldSelector> Parse(absl::string_view text);
  // kInvalidArgument with upstream's text: a field other than metadata.name and metadata.namespace.
  // Upstream checks the fields later than the form of all terms. If there is such a field, only
  // ExactName may be called.
  absl::Status CheckFields() const;

  bool empty() const { return terms_.empty(); }
  // The value that `metadata.name` must equal, if a term says so.
  std::optional<std::string> ExactName() const;
  bool Matches(absl::string_view ns, absl::string_view name) const;

 private:
  struct Term {
    bool is_name = true;  // else the namespace
    bool equal = true;
    std::string value;
  };

  std::vector<Term> terms_;                   // sorted by their text, as upstream
  std::optional<std::string> unknown_field_;  // the first in that order
};

}  // namespace flyball::apiservice
