// Metadata of metrics as senders give it: type, help text and unit, by the name of the family.
//
// Thread-safe. The newest metadata count. Limits: kMaxFamilies, of which the least recently updated
// one is dropped first, kMaxNameBytes of a name or a unit, and kMaxHelpBytes of a help text. Of the
// families, the pods of one namespace that asked to be scraped have no more than kPart.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "base/recently_used.h"
#include "base/striped.h"

namespace flyball::live {

struct MetricMetadata {
  std::string type = "unknown";  // the word of OpenMetrics
  std::string help;
  std::string unit;
};

class MetadataTable {
 public:
  static constexpr size_t kMaxFamilies = 10'000;
  static constexpr size_t kPart = kMaxFamilies / 8;
  static constexpr size_t kMaxNameBytes = 256;
  static constexpr size_t kMaxHelpBytes = 512;

  // Only what is given counts. `asking`: the namespace, if it comes from a pod that asked to be
  // scraped.
  void Note(absl::string_view family, std::optional<absl::string_view> type,
            std::optional<absl::string_view> help, std::optional<absl::string_view> unit,
            absl::string_view asking = "");

  // By name.
  std::vector<std::pair<std::string, MetricMetadata>> All() const;

 private:
  struct Family {
    MetricMetadata metadata;
    std::string asking;  // who said it first
  };
  struct Stripe {
    RecentlyUsed<Family> families;
    absl::flat_hash_map<std::string, size_t> of_asking;
  };

  Striped<Stripe> stripes_;
};

}  // namespace flyball::live
