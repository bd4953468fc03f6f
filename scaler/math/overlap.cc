#include "scaler/math/overlap.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace flyball::scaler {
namespace {

std::pair<std::string, std::string> Key(absl::string_view ns, absl::string_view name) {
  return {std::string(ns), std::string(name)};
}

}  // namespace

void SelectorRegistry::Register(absl::string_view ns, absl::string_view name) {
  selectors_.try_emplace(Key(ns, name));
}

void SelectorRegistry::Replace(absl::string_view ns, absl::string_view name,
                               const kube::Selector& selector) {
  const auto found = selectors_.find(Key(ns, name));
  if (found == selectors_.end()) return;
  std::string text = selector.ToString();
  if (text == found->second.text) return;
  found->second = {.selects_nothing = false, .selector = selector, .text = std::move(text)};
}

void SelectorRegistry::Remove(absl::string_view ns, absl::string_view name) {
  selectors_.erase(Key(ns, name));
}

std::vector<std::string> SelectorRegistry::Selecting(absl::string_view ns,
                                                     absl::Span<const Pod* const> pods) const {
  std::vector<std::string> out;
  for (auto it = selectors_.lower_bound(Key(ns, "")); it != selectors_.end(); ++it) {
    const auto& key = it->first;
    const RegisteredSelector& registered = it->second;
    if (key.first != ns) break;
    if (registered.selects_nothing) continue;
    const bool selects = std::any_of(pods.begin(), pods.end(), [&](const Pod* pod) {
      return registered.selector.Matches(pod->labels);
    });
    if (selects) out.push_back(absl::StrCat(key.first, "/", key.second));
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace flyball::scaler
