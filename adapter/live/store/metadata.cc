#include "adapter/live/store/metadata.h"

#include <algorithm>

#include "absl/hash/hash.h"

namespace flyball::live {
namespace {

// The beginning of a text, cut between two characters.
void Assign(std::optional<absl::string_view> text, std::string& to) {
  if (!text || *text == to) return;
  size_t size = std::min(text->size(), MetadataTable::kMaxTextBytes);
  if (size < text->size()) {
    while (size > 0 && ((*text)[size] & 0xc0) == 0x80) --size;
  }
  to.assign(text->data(), size);
}

}  // namespace

void MetadataTable::Note(absl::string_view family, std::optional<absl::string_view> type,
                         std::optional<absl::string_view> help,
                         std::optional<absl::string_view> unit) {
  if (family.empty() || family.size() > kMaxTextBytes) return;
  const auto stripe = families_.Lock(absl::HashOf(family));
  MetricMetadata& metadata = (*stripe)[family];
  Assign(type, metadata.type);
  Assign(help, metadata.help);
  Assign(unit, metadata.unit);
  if (stripe->size() > kMaxFamilies / families_.size()) stripe->EraseOldest();
}

std::vector<std::pair<std::string, MetricMetadata>> MetadataTable::All() const {
  std::vector<std::pair<std::string, MetricMetadata>> all;
  families_.ForEach([&](const RecentlyUsed<MetricMetadata>& families) {
    families.ForEach([&](const std::string& name, const MetricMetadata& metadata) {
      all.emplace_back(name, metadata);
    });
  });
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return all;
}

}  // namespace flyball::live
