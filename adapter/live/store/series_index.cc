#include "adapter/live/store/series_index.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "base/status_macros.h"

namespace flyball::live {

using promql::Matcher;

namespace {

// Of the metric name and the label names.
size_t HashOfNames(const promql::Labels& labels) {
  size_t hash = absl::HashOf(labels.Get("__name__"));
  for (const auto& [name, value] : labels) hash = absl::HashOf(hash, name);
  return hash;
}

}  // namespace

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

bool SeriesIndex::Add(SeriesPtr series) {
  uint32_t id = static_cast<uint32_t>(by_id_.size());
  if (free_ids_.empty()) {
    by_id_.emplace_back();
  } else {
    id = free_ids_.back();
    free_ids_.pop_back();
  }
  by_labels_.emplace(series.get(), id);
  for (const auto& [name, value] : series->labels()) ids_[name][value].push_back(id);
  const bool has_new_names = ++by_names_[HashOfNames(series->labels())] == 1;
  by_id_[id] = std::move(series);
  return has_new_names;
}

void SeriesIndex::Remove(const std::vector<SeriesPtr>& gone) {
  absl::flat_hash_set<promql::Label> labels;
  for (const SeriesPtr& series : gone) {
    const auto found = by_labels_.find(series.get());
    if (found == by_labels_.end() || by_id_[found->second] != series) continue;
    by_id_[found->second] = nullptr;
    free_ids_.push_back(found->second);
    by_labels_.erase(found);
    const auto named = by_names_.find(HashOfNames(series->labels()));
    if (--named->second == 0) by_names_.erase(named);
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

void SeriesIndex::NarrowByEqual(const Matcher& matcher, Place& best) const {
  Place here{.all = false, .matcher = &matcher};
  if (const auto label = ids_.find(matcher.label()); label != ids_.end()) {
    if (const auto value = label->second.find(matcher.value()); value != label->second.end()) {
      here.ids = {&value->second};
      here.count = value->second.size();
    }
  }
  if (here.count < best.count) best = std::move(here);
}

// Narrows the candidates only if that takes fewer steps than testing them.
void SeriesIndex::NarrowByValues(const Matcher& matcher, size_t& steps, Place& best) const {
  Place here{.all = false, .matcher = &matcher};
  const auto label = ids_.find(matcher.label());
  if (label == ids_.end()) {
    best = std::move(here);
    return;
  }
  const auto add = [&here](const Ids& ids) {
    here.ids.push_back(&ids);
    here.count += ids.size();
  };
  const IdsByValue& values = label->second;
  std::optional<std::vector<std::string>> literals;
  if (matcher.op() == Matcher::Op::kRegex) literals = LiteralAlternatives(matcher.value());
  const bool by_literal = literals && literals->size() < values.size();
  const size_t count = by_literal ? literals->size() : values.size();
  const size_t cost = count * (by_literal ? 1 : matcher.cost());
  if (count >= best.count || cost > steps) return;
  steps -= cost;
  if (by_literal) {
    for (const std::string& literal : *literals) {
      if (const auto value = values.find(literal); value != values.end()) add(value->second);
    }
  } else {
    for (const auto& [value, ids] : values) {
      if (matcher.Matches(value)) add(ids);
    }
  }
  if (here.count < best.count) best = std::move(here);
}

SeriesIndex::Place SeriesIndex::FindPlace(const Selector& selector) const {
  // Some hundredths of a second. A short expression is tried on a hundred thousand values.
  constexpr size_t kMaxSteps = 1 << 19;
  Place best{.count = size() + 1};
  // What matches the empty value also matches series without the label, of which there is no list.
  for (const Matcher& matcher : selector) {
    if (matcher.op() == Matcher::Op::kEqual && !matcher.value().empty()) {
      NarrowByEqual(matcher, best);
    }
  }
  size_t steps = kMaxSteps;
  for (const Matcher& matcher : selector) {
    if (matcher.op() != Matcher::Op::kEqual && !matcher.Matches("")) {
      NarrowByValues(matcher, steps, best);
    }
  }
  return best;
}

SeriesIndex::Candidates SeriesIndex::FindCandidates(const Selector& selector) const {
  const Place place = FindPlace(selector);
  Candidates candidates{.series = {}, .matched = place.matcher};
  candidates.series.reserve(place.all ? size() : place.count);
  if (place.all) {
    for (const SeriesPtr& series : by_id_) {
      if (series != nullptr) candidates.series.push_back(series);
    }
  }
  for (const Ids* const ids : place.ids) {
    for (const uint32_t id : *ids) candidates.series.push_back(by_id_[id]);
  }
  return candidates;
}

absl::Status KeepMatching(const Selector& selector, const promql::Interrupted& interrupted,
                          SeriesIndex::Candidates& candidates) {
  std::vector<const Matcher*> others;
  size_t cost = 1;
  for (const Matcher& matcher : selector) {
    if (&matcher == candidates.matched) continue;
    others.push_back(&matcher);
    cost += matcher.cost();
  }
  if (others.empty()) return absl::OkStatus();
  promql::WorkMeter work(interrupted);
  size_t kept = 0;
  for (SeriesPtr& series : candidates.series) {
    RETURN_IF_ERROR(work.Count(cost));
    const promql::Labels& labels = series->labels();
    const bool matches = std::all_of(others.begin(), others.end(), [&](const Matcher* matcher) {
      return matcher->Matches(labels.Get(matcher->label()));
    });
    if (matches) std::swap(candidates.series[kept++], series);
  }
  candidates.series.resize(kept);
  return absl::OkStatus();
}

}  // namespace flyball::live
