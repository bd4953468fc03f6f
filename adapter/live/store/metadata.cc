#include "adapter/live/store/metadata.h"

#include "absl/hash/hash.h"
#include "base/one_line.h"

namespace flyball::live {
namespace {

void Assign(std::optional<absl::string_view> text, size_t most, std::string& to) {
  if (!text || *text == to) return;
  const absl::string_view beginning = Beginning(*text, most);
  to.assign(beginning.data(), beginning.size());
}

}  // namespace

void MetadataTable::Note(absl::string_view family, std::optional<absl::string_view> type,
                         std::optional<absl::string_view> help,
                         std::optional<absl::string_view> unit, absl::string_view asking) {
  if (family.empty() || family.size() > kMaxNameBytes) return;
  const auto stripe = stripes_.Lock(absl::HashOf(family));
  RecentlyUsed<Family>& families = stripe->families;
  constexpr size_t kStripes = decltype(stripes_)::size();
  Family* known = families.Find(family);
  if (known == nullptr) {
    if (!asking.empty()) {
      size_t& has = stripe->of_asking[asking];
      if (has == kPart / kStripes) return;
      ++has;
    }
    known = &families[family];
    known->asking = std::string(asking);
  }
  Assign(type, kMaxNameBytes, known->metadata.type);
  Assign(help, kMaxHelpBytes, known->metadata.help);
  Assign(unit, kMaxNameBytes, known->metadata.unit);
  if (families.size() <= kMaxFamilies / kStripes) return;
  const auto of_oldest = stripe->of_asking.find(families.oldest().asking);
  if (of_oldest != stripe->of_asking.end() && --of_oldest->second == 0) {
    stripe->of_asking.erase(of_oldest);
  }
  families.EraseOldest();
}

std::vector<std::pair<std::string, MetricMetadata>> MetadataTable::All() const {
  std::vector<std::pair<std::string, MetricMetadata>> all;
  stripes_.ForEach([&](const Stripe& stripe) {
    stripe.families.ForEach([&](const std::string& name, const Family& family) {
      all.emplace_back(name, family.metadata);
    });
  });
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return all;
}

}  // namespace flyball::live
