// Labels and selectors in few words, for tests.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "adapter/live/store/selector_table.h"
#include "promql/labels.h"

namespace flyball::live {

// In any order, without empty values.
inline promql::Labels Make(promql::LabelSet labels) {
  std::sort(labels.begin(), labels.end());
  return promql::Labels(labels);
}

// `name` with {{"pod", "a"}, …}.
inline promql::Labels Named(const std::string& name, promql::LabelSet labels = {}) {
  labels.emplace_back("__name__", name);
  return Make(std::move(labels));
}

using Op = promql::Matcher::Op;

inline promql::Matcher Is(absl::string_view label, Op op, absl::string_view value) {
  return *promql::Matcher::Make(label, op, value);
}

inline Selector Name(absl::string_view name) { return {Is("__name__", Op::kEqual, name)}; }

}  // namespace flyball::live
