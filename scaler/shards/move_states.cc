#include "scaler/shards/state_records.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "scaler/shards/shards.h"
#include "scaler/stores/state_upkeep.h"

namespace flyball::scaler {
namespace {

// What one record contains about an autoscaler. Records that a smaller number of shards leaves
// unused, and copies that are left for another try, stay in the cluster. Their times do not show
// that they are old, since each record counts as saved when it is read.
struct Found {
  int64_t division = 0;  // of the record
  bool in_its_shard = false;
  KeptAutoscaler kept;

  bool IsWorseThan(const Found& other) const {
    return std::tuple(division, in_its_shard, NewestRecommendation(kept.state)) <
           std::tuple(other.division, other.in_its_shard, NewestRecommendation(other.kept.state));
  }
};

}  // namespace

absl::Status MoveStates(const StateRecords& records, Clock& clock, int before, int shards,
                        int64_t division, size_t most_bytes) {
  const int count = std::max(before, shards);
  std::vector<StateRecord> stored(static_cast<size_t>(count));
  std::vector<KeptShard> kept_before;
  std::map<AutoscalerKey, Found> all;
  for (int index = 0; index < count; ++index) {
    StateRecord& record = stored[static_cast<size_t>(index)];
    KeptShard kept;
    RETURN_IF_ERROR(records.Read(index, record, kept));
    const int divided_by = record.division == division ? shards : before;
    for (const KeptAutoscaler& item : kept.autoscalers) {
      const Found found = {.division = record.division,
                           .in_its_shard = ShardOf(item.key, divided_by) == index,
                           .kept = item};
      const auto [best, fresh] = all.try_emplace(item.key, found);
      if (!fresh && best->second.IsWorseThan(found)) best->second = found;
    }
    kept_before.push_back(std::move(kept));
  }
  for (int index = 0; index < shards; ++index) {
    const StateRecord& old = stored[static_cast<size_t>(index)];
    // Another replica that began this Move has done this shard, or its owner has saved it since.
    if (old.division == division && !old.resource_version.empty()) continue;
    KeptShard kept{.saved_at = clock.WallNow(), .complete = false, .autoscalers = {}};
    for (const auto& [key, found] : all) {
      if (ShardOf(key, shards) == index) kept.autoscalers.push_back(found.kept);
    }
    OrderForRecord(kept.autoscalers);
    // What the record held before is appended: if Move has to begin anew, all of it is found.
    for (const KeptAutoscaler& item : kept_before[static_cast<size_t>(index)].autoscalers) {
      if (ShardOf(item.key, shards) == index) continue;
      kept.autoscalers.push_back(all.at(item.key).kept);
    }
    if (kept.autoscalers.empty() && old.resource_version.empty()) continue;
    const ShardTerm writer{.epoch = old.epoch, .division = division};
    RETURN_IF_ERROR(
        records.PutOnce(index, writer, EncodeShard(kept, most_bytes).bytes, old.resource_version)
            .status());
  }
  return absl::OkStatus();
}

}  // namespace flyball::scaler
