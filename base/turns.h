// A queue in which owners take turns: thousands of items of one owner delay each other one by a
// single item.
//
// Not thread-safe. The items of one owner come out in order. Memory is proportional to the items.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>

namespace flyball {

template <typename Item>
class Turns {
 public:
  void Push(const std::string& who, Item item) {
    std::deque<Item>& items = items_[who];
    if (items.empty()) turns_.push_back(who);
    items.push_back(std::move(item));
    ++size_;
  }

  // The first item of the owner whose turn it is. There must be one.
  Item Pop() {
    std::string who = std::move(turns_.front());
    turns_.pop_front();
    const auto of = items_.find(who);
    Item item = std::move(of->second.front());
    of->second.pop_front();
    --size_;
    if (of->second.empty()) {
      items_.erase(of);
    } else {
      turns_.push_back(std::move(who));
    }
    return item;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  size_t SizeOf(const std::string& who) const {
    const auto of = items_.find(who);
    return of == items_.end() ? 0 : of->second.size();
  }

 private:
  std::map<std::string, std::deque<Item>> items_;  // of owners that have any
  std::deque<std::string> turns_;                  // the same owners in order
  size_t size_ = 0;
};

}  // namespace flyball
