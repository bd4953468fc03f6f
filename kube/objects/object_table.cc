#include "kube/objects/object_table.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace flyball::kube {
namespace {

// The first of a sorted vector's objects whose name is not below `name`.
template <typename Bucket>
auto LowerBound(Bucket& bucket, absl::string_view name) {
  return std::lower_bound(
      bucket.begin(), bucket.end(), name,
      [](const ObjectPtr& object, absl::string_view wanted) { return object->name < wanted; });
}

// True if it changed `bucket`.
bool Apply(const ObjectChange& change, std::vector<ObjectPtr>* bucket) {
  const auto at = LowerBound(*bucket, change.object->name);
  const bool present = at != bucket->end() && (*at)->name == change.object->name;
  if (change.deleted) {
    if (present) bucket->erase(at);
    return present;
  }
  if (!present) {
    bucket->insert(at, change.object);
    return true;
  }
  if (**at == *change.object) return false;
  *at = change.object;
  return true;
}

}  // namespace

ObjectTable::ObjectTable(std::vector<ObjectPtr> objects) {
  const auto key_less = [](const ObjectPtr& a, const ObjectPtr& b) {
    return std::tie(a->ns, a->name) < std::tie(b->ns, b->name);
  };
  std::stable_sort(objects.begin(), objects.end(), key_less);
  for (auto at = objects.begin(); at != objects.end();) {
    auto bucket = std::make_shared<Bucket>();
    const std::string ns = (*at)->ns;
    for (; at != objects.end() && (*at)->ns == ns; ++at) {
      if (!bucket->empty() && bucket->back()->name == (*at)->name) bucket->pop_back();
      bucket->push_back(std::move(*at));
    }
    size_ += bucket->size();
    buckets_.emplace_back(ns, std::move(bucket));
  }
}

std::shared_ptr<const ObjectTable> ObjectTable::With(
    const std::vector<ObjectChange>& changes) const {
  std::map<std::string, std::shared_ptr<Bucket>> touched;
  bool changed = false;
  for (const ObjectChange& change : changes) {
    std::shared_ptr<Bucket>& bucket = touched[change.object->ns];
    if (bucket == nullptr) {
      const Bucket* before = FindBucket(change.object->ns);
      bucket = before == nullptr ? std::make_shared<Bucket>() : std::make_shared<Bucket>(*before);
    }
    changed = Apply(change, bucket.get()) || changed;
  }
  if (!changed) return nullptr;

  auto next = std::make_shared<ObjectTable>();
  const auto add = [&](const std::string& ns, const std::shared_ptr<const Bucket>& bucket) {
    if (bucket->empty()) return;
    next->size_ += bucket->size();
    next->buckets_.emplace_back(ns, bucket);
  };
  auto before = buckets_.begin();
  for (const auto& [ns, bucket] : touched) {
    for (; before != buckets_.end() && before->first < ns; ++before) {
      add(before->first, before->second);
    }
    if (before != buckets_.end() && before->first == ns) ++before;
    add(ns, bucket);
  }
  for (; before != buckets_.end(); ++before) add(before->first, before->second);
  return next;
}

const ObjectTable::Bucket* ObjectTable::FindBucket(absl::string_view ns) const {
  const auto at = std::lower_bound(
      buckets_.begin(), buckets_.end(), ns,
      [](const auto& bucket, absl::string_view wanted) { return bucket.first < wanted; });
  return at != buckets_.end() && at->first == ns ? at->second.get() : nullptr;
}

ObjectPtr ObjectTable::Find(absl::string_view ns, absl::string_view name) const {
  const Bucket* bucket = FindBucket(ns);
  if (bucket == nullptr) return nullptr;
  const auto at = LowerBound(*bucket, name);
  return at != bucket->end() && (*at)->name == name ? *at : nullptr;
}

std::vector<ObjectPtr> ObjectTable::Select(absl::string_view ns, const Selector& selector) const {
  std::vector<ObjectPtr> selected;
  const auto add = [&](const Bucket& bucket) {
    for (const ObjectPtr& object : bucket) {
      if (selector.Matches(object->labels)) selected.push_back(object);
    }
  };
  if (ns.empty()) {
    for (const auto& [name, bucket] : buckets_) add(*bucket);
  } else if (const Bucket* bucket = FindBucket(ns)) {
    add(*bucket);
  }
  return selected;
}

bool ObjectTable::SameAs(const ObjectTable& other) const {
  const auto same_object = [](const ObjectPtr& a, const ObjectPtr& b) { return *a == *b; };
  return size_ == other.size_ &&
         std::equal(buckets_.begin(), buckets_.end(), other.buckets_.begin(), other.buckets_.end(),
                    [&](const auto& a, const auto& b) {
                      return a.first == b.first &&
                             (a.second == b.second ||
                              std::equal(a.second->begin(), a.second->end(), b.second->begin(),
                                         b.second->end(), same_object));
                    });
}

}  // namespace flyball::kube
