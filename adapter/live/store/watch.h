// Watch: reports whether a sample has arrived for any of its selectors.
//
// Thread-safe. Its number changes with the first sample of a matching series since it was last
// taken (base/sample_version.h); until it is taken again, further samples cost only a check.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "adapter/live/store/selector_table.h"
#include "base/sample_version.h"

namespace flyball::live {

class Watch final : public SampleVersion {
 public:
  // Watches the series that match any of the selectors. `on_move` is called by the thread that
  // appends, without a lock of the store.
  Watch(std::vector<Selector> selectors, std::function<void()> on_move)
      : SampleVersion(std::move(on_move)), selectors_(std::move(selectors)) {}

  const std::vector<Selector>& selectors() const { return selectors_; }

 private:
  const std::vector<Selector> selectors_;
};

using Watches = std::vector<std::shared_ptr<Watch>>;

}  // namespace flyball::live
