// A label set that is changed step by step.
//
// Pure; not thread-safe. Source: Prometheus 3.15.0 model/labels (Builder), including the order,
// which matters if two labels are mapped to one name.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "promql/labels.h"

namespace flyball::relabel {

class LabelEditor {
 public:
  LabelEditor() = default;
  explicit LabelEditor(promql::LabelSet base) : base_(std::move(base)) {}

  // "" if it is absent. Valid until the next change.
  absl::string_view Get(absl::string_view name) const;
  // An empty value deletes.
  void Set(absl::string_view name, std::string value);
  void Delete(absl::string_view name) { Set(name, ""); }

  // Calls `on` with the labels of the base that were not changed, then with those that were set, in
  // the order in which they were first set. The callback changes nothing.
  void ForEach(absl::FunctionRef<void(absl::string_view name, absl::string_view value)> on) const;
  // The labels of ForEach, in its order.
  promql::LabelSet Unsorted() const;
  promql::LabelSet Build() const;
  // Returns the same and empties the editor.
  promql::LabelSet Take();

 private:
  bool IsChanged(absl::string_view name) const;

  promql::LabelSet base_;
  promql::LabelSet set_;  // unsorted
  std::vector<std::string> deleted_;
};

}  // namespace flyball::relabel
