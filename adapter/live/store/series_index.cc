#include "adapter/live/store/series_index.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace flyball::live {

using promql::Matcher;

std::optional<std::vector<std::string>> LiteralAlternatives(absl::string_view pattern) {
  std::vector<std::string> literals(1);
  for (size_t i = 0; i < pattern.size(); ++i) {
    char c = pattern[i];
    if (c == '|') {
      literals.emplace_back();
      continue;
    }
    if (c == '\\') {  // before a punctuation mark it means that mark
      if (++i == pattern.size() || !absl::ascii_ispunct(pattern[i])) return std::nullopt;
      c = pattern[i];
    } else if (absl::StrContains(".+*?()[]{}^$", c) || static_cast<unsigned char>(c) >= 0x80) {
      return std::nullopt;  // beyond ASCII RE2 reads characters, not bytes
    }
    literals.back() += c;
  }
  std::sort(literals.begin(), literals.end());
  literals.erase(std::unique(literals.begin(), literals.end()), literals.end());
  return literals;
}

SeriesPtr SeriesIndex::Find(const promql::Labels& labels) const {
  const auto found = by_labels_.find(labels);
  return found == by_labels_.end() ? nullptr : by_id_[found->second];
}

void SeriesIndex::Add(SeriesPtr series) {
  uint32_t id = static_cast<uint32_t>(by_id_.size());
  if (free_ids_.empty()) {
    by_id_.emplace_back();
  } else {
    id = free_ids_.back();
    free_ids_.pop_back();
  }
  by_labels_.emplace(series.get(), id);
  for (const auto& [name, value] : series->labels()) ids_[name][value].push_back(id);
  by_id_[id] = std::move(series);
}

void SeriesIndex::Remove(const std::vector<SeriesPtr>& gone) {
  absl::flat_hash_set<promql::Label> labels;
  for (const SeriesPtr& series : gone) {
    const auto found = by_labels_.find(series.get());
    if (found == by_labels_.end() || by_id_[found->second] != series) continue;
    by_id_[found->second] = nullptr;
    free_ids_.push_back(found->second);
    by_labels_.erase(found);
    labels.insert(series->labels().begin(), series->labels().end());
  }
  for (const auto& [name, value] : labels) {
    const auto by_value = ids_.find(name);
    const auto of_value = by_value->second.find(value);
    Ids& ids = of_value->second;
    ids.erase(std::remove_if(ids.begin(), ids.end(),
                             [this](uint32_t id) { return by_id_[id] == nullptr; }),
              ids.end());
    if (ids.empty()) by_value->second.erase(of_value);
    if (by_value->second.empty()) ids_.erase(by_value);
  }
}

void SeriesIndex::NarrowByEqual(const Matcher& matcher, Candidates& best) const {
  Candidates these{.all = false, .matcher = &matcher};
  if (const auto label = ids_.find(matcher.label()); label != ids_.end()) {
    if (const auto value = label->second.find(matcher.value()); value != label->second.end()) {
      these.ids = {&value->second};
      these.count = value->second.size();
    }
  }
  if (these.count < best.count) best = std::move(these);
}

// Only where that takes fewer steps than to test the candidates that there are.
void SeriesIndex::NarrowByValues(const Matcher& matcher, Candidates& best) const {
  Candidates these{.all = false, .matcher = &matcher};
  const auto label = ids_.find(matcher.label());
  if (label == ids_.end()) {
    best = std::move(these);
    return;
  }
  const auto add = [&these](const Ids& ids) {
    these.ids.push_back(&ids);
    these.count += ids.size();
  };
  const IdsByValue& values = label->second;
  std::optional<std::vector<std::string>> literals;
  if (matcher.op() == Matcher::Op::kRegex) literals = LiteralAlternatives(matcher.value());
  if (literals && literals->size() < values.size()) {
    if (literals->size() >= best.count) return;
    for (const std::string& literal : *literals) {
      if (const auto value = values.find(literal); value != values.end()) add(value->second);
    }
  } else {
    if (values.size() >= best.count) return;
    for (const auto& [value, ids] : values) {
      if (matcher.Matches(value)) add(ids);
    }
  }
  if (these.count < best.count) best = std::move(these);
}

SeriesIndex::Candidates SeriesIndex::FindCandidates(const Selector& selector) const {
  Candidates best{.count = size() + 1};
  // What matches the empty value also matches series without the label, of which there is no list.
  for (const Matcher& matcher : selector) {
    if (matcher.op() == Matcher::Op::kEqual && !matcher.value().empty()) {
      NarrowByEqual(matcher, best);
    }
  }
  for (const Matcher& matcher : selector) {
    if (matcher.op() != Matcher::Op::kEqual && !matcher.Matches("")) NarrowByValues(matcher, best);
  }
  return best;
}

std::vector<SeriesPtr> SeriesIndex::Select(const Selector& selector) const {
  std::vector<SeriesPtr> selected;
  const Candidates candidates = FindCandidates(selector);
  const auto test = [&](const SeriesPtr& series) {
    if (series == nullptr) return;
    for (const Matcher& matcher : selector) {
      if (&matcher == candidates.matcher) continue;
      if (!matcher.Matches(series->labels().Get(matcher.label()))) return;
    }
    selected.push_back(series);
  };
  if (candidates.all) {
    for (const SeriesPtr& series : by_id_) test(series);
  }
  for (const Ids* const ids : candidates.ids) {
    for (const uint32_t id : *ids) test(by_id_[id]);
  }
  return selected;
}

}  // namespace flyball::live
