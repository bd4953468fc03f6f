// links: kube_watch
// A text that parses prints a text that parses to the same selector, which then prints the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "kube/objects/selector.h"

using flyball::kube::Selector;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto selector =
      Selector::Parse(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!selector.ok()) {
    if (selector.status().message().empty()) std::abort();
    return 0;
  }
  const auto again = Selector::Parse(selector->ToString());
  if (!again.ok() || again->requirements() != selector->requirements()) std::abort();
  selector->Matches({{"a", "5"}, {"b", ""}});
  return 0;
}
