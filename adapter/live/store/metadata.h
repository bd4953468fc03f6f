// Metadata of metrics as senders give it: type, help text and unit, by the name of the family.
//
// Thread-safe. The newest metadata count. Limits: kMaxFamilies, of which the least recently updated
// one is dropped first, kMaxNameBytes for a name or a unit, and kMaxHelpBytes for a help text. The
// pods of one namespace that ask to be scraped have at most kPart of the families.
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
  std::string type = "unknown";  // the word in OpenMetrics
  std::string help;
  std::string unit;
};

class MetadataTable {
 public:
  static constexpr size_t kMaxFamilies = 10'000;
  static constexpr size_t kPart = kMaxFamilies / 8;
  static constexpr size_t kMaxNameBytes = 256;
  static constexpr size_t kMaxHelpBytes = 512;

  // Only fields that are given count. `asking`: the namespace, if the metadata come from a pod that
  // asked to be scraped.
  void Note(absl::string_view family, std::optional<absl::string_view> type,
            std::optional<absl::string_view> help, std::optional<absl::string_view> unit,
            absl::string_view asking = "");

  // Sorted by name.
  std::vector<std::pair<std::string, MetricMetadata>> All() const;

 private:
  struct Family {
    MetricMetadata metadata;
    std::string asking;  // of the first sender
  };
  struct Stripe {
    RecentlyUsed<Family> families;
    absl::flat_hash_map<std::string, size_t> of_asking;
  };

  Striped<Stripe> stripes_;
};

}  // namespace flyball::live
