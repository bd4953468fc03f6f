// A map that knows the order in which its keys were used, so that the least recently used one can
// be dropped.
//
// Not thread-safe. References to values are valid until their key is erased.
#pragma once

#include <cstddef>
#include <iterator>
#include <list>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace flyball {

template <typename Value>
class RecentlyUsed {
 public:
  // nullptr: the key does not exist. Otherwise it counts as used.
  Value* Find(absl::string_view key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    values_.splice(values_.begin(), values_, found->second);
    return &found->second->second;
  }

  // Counts as a use; a missing value is default-constructed.
  Value& operator[](absl::string_view key) {
    if (Value* value = Find(key)) return *value;
    values_.emplace_front(std::string(key), Value());
    places_[values_.front().first] = values_.begin();
    return values_.front().second;
  }

  // Calls on_value(key, value) for each, the one used last first.
  template <typename OnValue>
  void ForEach(OnValue on_value) const {
    for (const auto& [key, value] : values_) on_value(key, value);
  }

  // Erases those for which `is_over(value)` holds.
  template <typename IsOver>
  void EraseIf(IsOver is_over) {
    for (auto place = values_.begin(); place != values_.end();) {
      const auto next = std::next(place);
      if (is_over(place->second)) Erase(place);
      place = next;
    }
  }
  void Erase(absl::string_view key) {
    if (const auto found = places_.find(key); found != places_.end()) Erase(found->second);
  }
  // The least recently used value. The map must not be empty.
  const Value& oldest() const { return values_.back().second; }
  void EraseOldest() { Erase(std::prev(values_.end())); }

  size_t size() const { return places_.size(); }

 private:
  using Values = std::list<std::pair<std::string, Value>>;

  void Erase(typename Values::iterator place) {
    places_.erase(place->first);
    values_.erase(place);
  }

  Values values_;  // the one used last first
  // By views of the keys in values_.
  absl::flat_hash_map<absl::string_view, typename Values::iterator> places_;
};

}  // namespace flyball
