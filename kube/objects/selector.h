// Label selectors in their text form: `app=web,tier in (a,b),!x`.
//
// Pure. Parse is in selector_parser.cc. Not here: metav1.LabelSelector (label_selector.h).
//
// Source:  k8s.io/apimachinery v0.34.4 pkg/labels; compared with it by replaying
//          test/data/kube/selector.jsonl. What 0.35 changed: LabelRules.
// Differs: if many values are wrong, an error names only the first eight.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/objects/label_syntax.h"

namespace flyball::kube {

using Labels = std::map<std::string, std::string>;

enum class Operator {
  kIn,
  kNotIn,
  kEquals,
  kDoubleEquals,
  kNotEquals,
  kExists,
  kDoesNotExist,
  kGreaterThan,
  kLessThan
};

struct Requirement {
  std::string key;
  Operator op = Operator::kExists;
  std::vector<std::string> values;  // sorted, without repeats

  bool Matches(const Labels& labels) const;
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

// Makes a requirement with sorted values; a repeated value stays repeated, as in upstream.
//   kInvalidArgument  a key, a value or a number of values that is not allowed; the text is that of
//                     upstream's NewRequirement
absl::StatusOr<Requirement> MakeRequirement(absl::string_view key, Operator op,
                                            std::vector<std::string> values,
                                            LabelRules rules = LabelRules::k1_34);

// The conjunction of its requirements; none matches everything.
class Selector {
 public:
  Selector() = default;
  explicit Selector(std::vector<Requirement> requirements);  // sorts by key, stably

  // kInvalidArgument with the text of upstream's parser.
  static absl::StatusOr<Selector> Parse(absl::string_view text,
                                        LabelRules rules = LabelRules::k1_34);

  bool empty() const { return requirements_.empty(); }
  bool Matches(const Labels& labels) const;
  const std::vector<Requirement>& requirements() const { return requirements_; }

  // Canonical text: sorted by key, set values sorted, `==` kept.
  std::string ToString() const;

 private:
  std::vector<Requirement> requirements_;
};

}  // namespace flyball::kube
