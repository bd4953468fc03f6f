#include "adapter/live/relabel/label_editor.h"

#include <algorithm>
#include <iterator>

namespace flyball::relabel {
namespace {

template <typename Set>
auto FindName(Set& labels, absl::string_view name) {
  return std::find_if(labels.begin(), labels.end(),
                      [name](const auto& label) { return label.first == name; });
}

}  // namespace

bool LabelEditor::IsChanged(absl::string_view name) const {
  return std::find(deleted_.begin(), deleted_.end(), name) != deleted_.end() ||
         FindName(set_, name) != set_.end();
}

absl::string_view LabelEditor::Get(absl::string_view name) const {
  const auto set = FindName(set_, name);
  if (set != set_.end()) return set->second;
  return IsChanged(name) ? "" : promql::LabelValue(base_, name);
}

void LabelEditor::Set(absl::string_view name, std::string value) {
  const auto set = FindName(set_, name);
  if (value.empty()) {
    if (set != set_.end()) set_.erase(set);
    deleted_.emplace_back(name);
  } else if (set != set_.end()) {
    set->second = std::move(value);
  } else {
    set_.emplace_back(std::string(name), std::move(value));
  }
}

void LabelEditor::ForEach(absl::FunctionRef<void(absl::string_view, absl::string_view)> on) const {
  const bool changed = !set_.empty() || !deleted_.empty();
  for (const auto& [name, value] : base_) {
    if (!changed || !IsChanged(name)) on(name, value);
  }
  for (const auto& [name, value] : set_) on(name, value);
}

promql::LabelSet LabelEditor::Unsorted() const {
  promql::LabelSet labels;
  ForEach([&labels](absl::string_view name, absl::string_view value) {
    labels.emplace_back(std::string(name), std::string(value));
  });
  return labels;
}

promql::LabelSet LabelEditor::Build() const {
  promql::LabelSet labels = Unsorted();
  std::sort(labels.begin(), labels.end());
  return labels;
}

promql::LabelSet LabelEditor::Take() {
  if (!set_.empty() || !deleted_.empty()) {
    std::erase_if(base_, [this](const auto& label) { return IsChanged(label.first); });
  }
  promql::LabelSet labels = std::exchange(base_, {});
  labels.insert(labels.end(), std::make_move_iterator(set_.begin()),
                std::make_move_iterator(set_.end()));
  set_.clear();
  deleted_.clear();
  std::sort(labels.begin(), labels.end());
  return labels;
}

}  // namespace flyball::relabel
