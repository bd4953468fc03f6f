// Holds equal values once. A value lives as long as a pointer to it does.
//
// Not thread-safe. Values are found by a key, so different values need different keys. Entries of
// values that no longer exist are removed when the table has doubled since the last sweep.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace flyball::scaler {

template <typename T>
class SharedPool {
 public:
  using Ptr = std::shared_ptr<const T>;

  // `make()` makes the value if no equal one is in use.
  template <typename Make>
  Ptr Get(absl::string_view key, Make make) {
    if (values_.size() >= sweep_at_) Sweep();
    std::weak_ptr<const T>& stored = values_[key];
    Ptr value = stored.lock();
    if (value == nullptr) stored = value = std::make_shared<const T>(make());
    return value;
  }

 private:
  static constexpr size_t kFirstSweep = 64;

  void Sweep() {
    absl::erase_if(values_, [](const auto& item) { return item.second.expired(); });
    sweep_at_ = kFirstSweep + 2 * values_.size();
  }

  absl::flat_hash_map<std::string, std::weak_ptr<const T>> values_;
  size_t sweep_at_ = kFirstSweep;
};

}  // namespace flyball::scaler
