// Relabelling: rules that rewrite the labels of targets and samples, or drop them.
//
// Pure. Compiled rules are immutable and thread-safe. Source: Prometheus 3.15.0 model/relabel,
// whose answers on random rules and labels are replayed by relabel_replay_test.cc.
// Different: a regular expression that is valid only together with the anchors around it (`a)|(b`)
// is refused, and fields that an action does not use may be given with their defaults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "adapter/live/relabel/label_editor.h"
#include "base/go/regexp.h"

namespace flyball::relabel {

enum class Action {
  kReplace,
  kKeep,
  kDrop,
  kKeepEqual,
  kDropEqual,
  kHashMod,
  kLabelMap,
  kLabelDrop,
  kLabelKeep,
  kLowercase,
  kUppercase,
};

// One rule as it is written.
struct RuleText {
  std::string action = "replace";  // in any case
  std::vector<std::string> source_labels = {};
  std::string separator = ";";
  std::string regex = "(.*)";  // anchored at both ends; `.` is any character
  uint64_t modulus = 0;
  std::string target_label = {};
  std::string replacement = "$1";
  bool legacy_names = false;  // label names are [a-zA-Z_][a-zA-Z0-9_]*; otherwise any UTF-8
};

class Rule {
 public:
  // kInvalidArgument: "field: what is wrong with it".
  static absl::StatusOr<Rule> Compile(RuleText text);

  // False: whatever has these labels is dropped.
  bool Apply(LabelEditor& labels) const;

  const std::vector<std::string>& source_labels() const { return text_.source_labels; }

 private:
  Rule(RuleText text, Action action, go::Regexp regex)
      : text_(std::move(text)), action_(action), regex_(std::move(regex)) {}

  std::string SourceOf(const LabelEditor& labels) const;
  void Replace(const std::string& source, LabelEditor& labels) const;
  void EditByName(LabelEditor& labels) const;

  RuleText text_;
  Action action_;
  go::Regexp regex_;
};

// Applies the rules in order until one drops the labels; then it returns false.
bool Apply(absl::Span<const Rule> rules, LabelEditor& labels);

// Whether a label may have this name; `legacy` as in RuleText.
bool IsLabelName(absl::string_view name, bool legacy);

}  // namespace flyball::relabel
