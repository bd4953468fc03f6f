// A queue in which everybody has a turn: who has put in thousands delays others by one of them.
//
// Not thread-safe. What one puts in comes out in order. Memory is what is in it.
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

  // The first item of whose turn it is; there is one.
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
  std::map<std::string, std::deque<Item>> items_;  // of those who have any
  std::deque<std::string> turns_;                  // the same, in order
  size_t size_ = 0;
};

}  // namespace flyball
