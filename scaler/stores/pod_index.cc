#include "scaler/stores/pod_index.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "scaler/stores/pod_owner.h"
#include "scaler/stores/pod_record.h"

namespace flyball::scaler {
namespace {

template <typename List, typename T>
void Take(List& list, const T& item) {
  const auto found = std::find(list.rbegin(), list.rend(), item);
  if (found == list.rend()) return;
  *found = list.back();
  list.pop_back();
}

// Label pairs of which every matching set of labels has at least one: those of the requirement with
// the fewest values. Empty when no requirement names values.
std::vector<uint64_t> Anchors(const kube::Selector& selector) {
  const kube::Requirement* best = nullptr;
  for (const kube::Requirement& requirement : selector.requirements()) {
    const bool names_values = requirement.op == kube::Operator::kIn ||
                              requirement.op == kube::Operator::kEquals ||
                              requirement.op == kube::Operator::kDoubleEquals;
    if (!names_values || requirement.values.empty()) continue;
    if (best == nullptr || requirement.values.size() < best->values.size()) best = &requirement;
  }
  std::vector<uint64_t> out;
  if (best == nullptr) return out;
  for (const std::string& value : best->values) out.push_back(absl::HashOf(best->key, value));
  return out;
}

}  // namespace

struct PodIndex::Namespace {
  absl::flat_hash_map<absl::string_view, std::unique_ptr<PodRecord>> pods;   // by PodRecord::name
  absl::flat_hash_map<absl::string_view, std::unique_ptr<LabelSet>> sets;    // by LabelSet::text
  absl::flat_hash_map<std::string, std::unique_ptr<SelectedPods>> groups;    // by selector text
  absl::flat_hash_map<uint64_t, absl::InlinedVector<LabelSet*, 1>> sets_of;  // by label pair
  absl::flat_hash_map<uint64_t, absl::InlinedVector<SelectedPods*, 1>> groups_of;  // by anchor
  std::vector<SelectedPods*> loose_groups;  // without anchors

  bool empty() const { return pods.empty() && groups.empty(); }

  template <typename F>
  void ForEachCandidate(const kube::Selector& selector, F on_set) const;
};

// The label sets that may match: they are found by their pairs where the selector names values.
template <typename F>
void PodIndex::Namespace::ForEachCandidate(const kube::Selector& selector, F on_set) const {
  const std::vector<uint64_t> anchors = Anchors(selector);
  if (anchors.empty()) {
    for (const auto& [text, set] : sets) on_set(set.get());
    return;
  }
  for (const uint64_t anchor : anchors) {
    const auto found = sets_of.find(anchor);
    if (found == sets_of.end()) continue;
    for (LabelSet* set : found->second) on_set(set);
  }
}

PodIndex::PodIndex() = default;
PodIndex::~PodIndex() = default;

PodIndex::Namespace& PodIndex::NamespaceOf(absl::string_view ns) {
  std::unique_ptr<Namespace>& space = namespaces_[ns];
  if (space == nullptr) space = std::make_unique<Namespace>();
  return *space;
}

void PodIndex::DropIfEmpty(absl::string_view ns) {
  const auto found = namespaces_.find(ns);
  if (found != namespaces_.end() && found->second->empty()) namespaces_.erase(found);
}

LabelSet* PodIndex::LabelSetOf(Namespace& space, const Pod& pod) {
  LabelSet::Write(pod.labels, scratch_);
  if (const auto found = space.sets.find(scratch_); found != space.sets.end()) {
    return found->second.get();
  }
  auto made = std::make_unique<LabelSet>();
  LabelSet* const set = made.get();
  set->text = scratch_;
  space.sets.emplace(set->text, std::move(made));
  const auto join = [&](SelectedPods* group) {
    if (!group->selector_.Matches(pod.labels)) return;
    set->groups.push_back(group);
    group->sets_.push_back(set);
  };
  for (const auto& [key, value] : pod.labels) {
    const uint64_t pair = absl::HashOf(key, value);
    space.sets_of[pair].push_back(set);
    const auto groups = space.groups_of.find(pair);
    if (groups == space.groups_of.end()) continue;
    for (SelectedPods* group : groups->second) join(group);
  }
  for (SelectedPods* group : space.loose_groups) join(group);
  return set;
}

void PodIndex::Touch(const LabelSet& set) {
  for (SelectedPods* group : set.groups) Touch(*group);
}

void PodIndex::Attach(PodRecord& pod, LabelSet* set) {
  pod.labels = set;
  pod.place = static_cast<uint32_t>(set->pods.size());
  set->pods.push_back(&pod);
}

// Takes the pod out of its label set, and the set away when it was the last one.
void PodIndex::Detach(Namespace& space, PodRecord& pod) {
  LabelSet* const set = pod.labels;
  Touch(*set);
  set->pods[pod.place] = set->pods.back();
  set->pods[pod.place]->place = pod.place;
  set->pods.pop_back();
  if (!set->pods.empty()) return;
  for (SelectedPods* group : set->groups) Take(group->sets_, set);
  for (const auto& [key, value] : set->Labels()) {
    const auto found = space.sets_of.find(absl::HashOf(key, value));
    Take(found->second, set);
    if (found->second.empty()) space.sets_of.erase(found);
  }
  space.sets.erase(space.sets.find(set->text));
}

void PodIndex::Put(const Pod& pod, absl::string_view node, uint64_t list) {
  Namespace& space = NamespaceOf(pod.ns);
  LabelSet* const set = LabelSetOf(space, pod);
  PodRecord fresh(pod);
  WriteShapeKey(pod, scratch_);
  fresh.shape = shapes_.Get(scratch_, [&] { return ShapeOf(pod); });
  if (!node.empty()) fresh.node = nodes_.Get(node, [&] { return std::string(node); });
  fresh.list = list;

  const auto found = space.pods.find(pod.name);
  if (found == space.pods.end()) {
    auto made = std::make_unique<PodRecord>(std::move(fresh));
    PodRecord& record = *made;
    space.pods.emplace(record.name, std::move(made));
    ++size_;
    Attach(record, set);
    return Touch(*set);
  }
  PodRecord& record = *found->second;
  const bool same = record.SameTo(fresh);
  record.list = list;
  if (same && record.labels == set) return;
  record.TakeFrom(fresh);
  if (record.labels != set) {
    Detach(space, record);
    Attach(record, set);
  }
  Touch(*set);
}

void PodIndex::Remove(absl::string_view ns, absl::string_view name) {
  const auto space = namespaces_.find(ns);
  if (space == namespaces_.end()) return;
  const auto found = space->second->pods.find(name);
  if (found == space->second->pods.end()) return;
  Detach(*space->second, *found->second);
  const std::unique_ptr<PodRecord> gone = std::move(found->second);  // holds the key
  space->second->pods.erase(found);
  --size_;
  DropIfEmpty(ns);
}

void PodIndex::RemoveBefore(absl::string_view ns, uint64_t list) {
  std::vector<std::pair<std::string, std::string>> gone;
  for (const auto& [name, space] : namespaces_) {
    if (!ns.empty() && ns != name) continue;
    for (const auto& [pod, record] : space->pods) {
      if (record->list < list) gone.emplace_back(name, record->name);
    }
  }
  for (const auto& [space, pod] : gone) Remove(space, pod);
}

SelectedPods* PodIndex::Select(const AutoscalerKey& who, const kube::Selector& selector,
                               absl::string_view text, bool rival) {
  if (const auto found = selected_.find(who); found != selected_.end()) {
    SelectedPods* const group = found->second;
    if (group->text_ == text && absl::c_linear_search(group->users_, who) == rival) return group;
    Forget(who);
  }
  Namespace& space = NamespaceOf(who.ns);
  std::unique_ptr<SelectedPods>& group = space.groups[text];
  if (group == nullptr) {
    group = std::make_unique<SelectedPods>();
    group->text_ = std::string(text);
    group->selector_ = selector;
    group->anchors_ = Anchors(selector);
    for (const uint64_t anchor : group->anchors_) space.groups_of[anchor].push_back(group.get());
    if (group->anchors_.empty()) space.loose_groups.push_back(group.get());
    space.ForEachCandidate(selector, [&](LabelSet* set) {
      if (!selector.Matches(set->Labels())) return;
      set->groups.push_back(group.get());
      group->sets_.push_back(set);
    });
  }
  ++group->holders_;
  selected_.emplace(who, group.get());
  Touch(*group);
  if (!rival) return group.get();
  group->users_.push_back(who);
  for (const LabelSet* set : group->sets_) Touch(*set);  // the others have a new rival
  return group.get();
}

void PodIndex::Retire(const AutoscalerKey& who) {
  const auto found = selected_.find(who);
  if (found == selected_.end()) return;
  Take(found->second->users_, who);
  for (const LabelSet* set : found->second->sets_) Touch(*set);
}

void PodIndex::Forget(const AutoscalerKey& who) {
  Retire(who);
  const auto found = selected_.find(who);
  if (found == selected_.end()) return;
  SelectedPods* const group = found->second;
  selected_.erase(found);
  if (--group->holders_ > 0) return;
  Namespace& space = *namespaces_.find(who.ns)->second;
  for (LabelSet* set : group->sets_) Take(set->groups, group);
  for (const uint64_t anchor : group->anchors_) {
    const auto groups = space.groups_of.find(anchor);
    Take(groups->second, group);
    if (groups->second.empty()) space.groups_of.erase(groups);
  }
  if (group->anchors_.empty()) Take(space.loose_groups, group);
  space.groups.erase(space.groups.find(group->text_));
  DropIfEmpty(who.ns);
}

RivalsPtr PodIndex::RivalsOf(const SelectedPods& group, AutoscalerKind kind) {
  RivalsPtr& rivals = group.rivals_[static_cast<size_t>(kind)];
  if (rivals != nullptr) return rivals;
  absl::flat_hash_set<const SelectedPods*> others;
  for (const LabelSet* set : group.sets_) others.insert(set->groups.begin(), set->groups.end());
  std::vector<const AutoscalerKey*> found;  // all of one namespace
  for (const SelectedPods* other : others) {
    // A group of only those pods that a target owns and a group of all pods with the labels are
    // not rivals.
    if (IsOwnedByText(group.text_) && !IsOwnedByText(other->text_)) continue;
    for (const AutoscalerKey& user : other->users_) {
      if (user.kind == kind) found.push_back(&user);
    }
  }
  const auto end = found.begin() + std::min(found.size(), Rivals::kMaxNames);
  std::partial_sort(
      found.begin(), end, found.end(),
      [](const AutoscalerKey* a, const AutoscalerKey* b) { return a->name < b->name; });
  Rivals made{.names = {}, .total = found.size()};
  for (auto user = found.begin(); user != end; ++user) made.names.push_back((*user)->ToString());
  rivals = std::make_shared<const Rivals>(std::move(made));
  return rivals;
}

PodView PodIndex::View(const SelectedPods& group, AutoscalerKind kind,
                       absl::Span<const MetricSpec> metrics, const RequestRules& rules) const {
  PodView view;
  view.version = group.version();
  view.rivals = RivalsOf(group, kind);
  std::vector<const PodRecord*> pods;
  for (const LabelSet* set : group.sets_) {
    pods.insert(pods.end(), set->pods.begin(), set->pods.end());
  }
  std::sort(pods.begin(), pods.end(),
            [](const PodRecord* a, const PodRecord* b) { return a->name < b->name; });
  std::vector<PodTable::Source> rows;
  rows.reserve(pods.size());
  for (const PodRecord* pod : pods) {
    if (pod->row.has_start_time) view.last_start = std::max(view.last_start, pod->row.start_time);
    rows.push_back({.name = pod->name, .row = pod->row, .shape = pod->shape.get()});
  }
  view.table = std::make_shared<const PodTable>(rows, metrics, rules);
  return view;
}

std::vector<AlikePods> PodIndex::Candidates(absl::string_view ns,
                                            const kube::Selector& selector) const {
  std::vector<AlikePods> candidates;
  const auto space = namespaces_.find(ns);
  if (space == namespaces_.end()) return candidates;
  space->second->ForEachCandidate(selector, [&](const LabelSet* set) {
    AlikePods alike;
    for (const PodRecord* pod : set->pods) {
      if (pod->row.phase == PodPhase::kSucceeded || pod->row.phase == PodPhase::kFailed) continue;
      alike.nodes.push_back(pod->node.get());
    }
    if (alike.nodes.empty()) return;
    alike.labels = set->text;
    candidates.push_back(std::move(alike));
  });
  return candidates;
}

int64_t CountMatching(absl::Span<const AlikePods> pods, const kube::Selector& selector,
                      bool distinct_nodes) {
  size_t count = 0;
  absl::flat_hash_set<const std::string*> nodes;
  for (const AlikePods& alike : pods) {
    if (!selector.Matches(LabelSet::Read(alike.labels))) continue;
    count += alike.nodes.size();
    if (distinct_nodes) nodes.insert(alike.nodes.begin(), alike.nodes.end());
  }
  nodes.erase(nullptr);
  return static_cast<int64_t>(distinct_nodes ? nodes.size() : count);
}

std::vector<std::string> PodIndex::Namespaces() const {
  std::vector<std::string> names;
  names.reserve(namespaces_.size());
  for (const auto& [name, space] : namespaces_) names.push_back(name);
  return names;
}

void PodIndex::ForEachPod(
    absl::string_view ns,
    absl::FunctionRef<void(absl::string_view, const kube::Labels&, PodPhase)> on_pod) const {
  const auto space = namespaces_.find(ns);
  if (space == namespaces_.end()) return;
  for (const auto& [text, set] : space->second->sets) {
    const kube::Labels labels = set->Labels();
    for (const PodRecord* pod : set->pods) on_pod(pod->name, labels, pod->row.phase);
  }
}

}  // namespace flyball::scaler
