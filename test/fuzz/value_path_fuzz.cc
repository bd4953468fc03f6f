// links: scaler_trigger_parts
//
// `path`, a line end, then a document: a number or a reason, for JSON and YAML alike, and of JSON
// the same whether it was read piece by piece or whole.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/str_split.h"
#include "scaler/triggers/parts/value_path.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('\n', 1));
  const auto path = flyball::scaler::ValuePath::Parse(parts.first);
  const auto documents = flyball::scaler::ParseDocuments(parts.second, {.max_nodes = 10'000});
  if (!path.ok() || !documents.ok()) return 0;
  for (const auto& document : *documents) {
    const auto value = path->Read(document);
    Require(value.ok() ? !std::isnan(*value) : !value.status().message().empty());
    const auto pieces = path->ReadJson(parts.second);
    if (pieces.ok()) Require(value.ok() && *value == *pieces);
  }
  return 0;
}
