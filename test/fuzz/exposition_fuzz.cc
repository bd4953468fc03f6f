// links: scaler_trigger_parts
//
// `selector`, a line end, then a page: a number or a reason; the same page again behind a comment
// gives the same.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scaler/triggers/parts/exposition.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using flyball::scaler::FindSample;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('\n', 1));
  const auto selector = flyball::scaler::SampleSelector::Parse(parts.first);
  if (!selector.ok()) return 0;
  Require(!selector->name.empty());
  const auto value = FindSample(parts.second, *selector);
  const auto again = FindSample(absl::StrCat("# comment\n", parts.second), *selector);
  Require(value.status().code() == again.status().code());
  if (value.ok()) Require(std::memcmp(&*value, &*again, sizeof(double)) == 0);
  return 0;
}
