// Metadata of metrics as senders give it: type, help text and unit, by the name of the family.
//
// Thread-safe. The newest metadata count. Limits: kMaxFamilies, of which the least recently updated
// one is dropped first, and kMaxTextBytes of a text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
  static constexpr size_t kMaxFamilies = 20'000;
  static constexpr size_t kMaxTextBytes = 1024;

  // Only what is given counts.
  void Note(absl::string_view family, std::optional<absl::string_view> type,
            std::optional<absl::string_view> help, std::optional<absl::string_view> unit);

  // By name.
  std::vector<std::pair<std::string, MetricMetadata>> All() const;

 private:
  Striped<RecentlyUsed<MetricMetadata>> families_;
};

}  // namespace flyball::live
