#include "scaler/stores/state_store_codec.h"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/go/arithmetic.h"
#include "base/status_macros.h"
#include "scaler/stores/packed.h"
#include "scaler/stores/state_upkeep.h"

namespace flyball::scaler {
namespace {

constexpr uint64_t kVersion = 1;
constexpr size_t kMostNameBytes = 253;
constexpr size_t kMostChanges = 64;    // how many changes are kept in each direction
constexpr size_t kMostHeadBytes = 32;  // what comes before the first autoscaler

int64_t Micros(absl::Time time) {
  const absl::Duration since = time - absl::UnixEpoch();
  return absl::ToInt64Microseconds(absl::Ceil(since, absl::Microseconds(1)));
}

// Recommendations or changes: the `amount` of each and how long before `base` it was.
template <typename Item>
void WriteItems(const std::vector<Item>& items, int32_t Item::*amount, int64_t base,
                PackedWriter& out) {
  out.Unsigned(items.size());
  for (const Item& item : items) {
    out.Signed(item.*amount);
    out.Signed(WrapSub(base, Micros(item.time)));
  }
}

void WriteAutoscaler(const KeptAutoscaler& kept, int64_t base, std::string& bytes) {
  PackedWriter out(bytes);
  out.Bool(kept.key.kind == AutoscalerKind::kOwn);
  out.Text(kept.key.ns);
  out.Text(kept.key.name);
  out.Signed(kept.replicas);
  WriteItems(kept.state.recommendations, &Recommendation::replicas, base, out);
  // An addition that the next one will replace is written as less than zero: an earlier version,
  // which does not know this, then allows fewer removals.
  std::vector<ScaleEvent> ups = kept.state.scale_ups;
  for (ScaleEvent& event : ups) {
    if (event.outdated) event.change = WrapSub32(0, event.change);
  }
  WriteItems(ups, &ScaleEvent::change, base, out);
  WriteItems(kept.state.scale_downs, &ScaleEvent::change, base, out);
}

std::string Deflate(const std::string& plain) {
  uLongf size = compressBound(plain.size());
  std::string out(size, '\0');
  compress2(reinterpret_cast<Bytef*>(out.data()), &size,
            reinterpret_cast<const Bytef*>(plain.data()), plain.size(), Z_BEST_SPEED);
  out.resize(size);
  return out;
}

absl::StatusOr<std::string> Inflate(absl::string_view bytes) {
  // Not set to zero, so that only what is used of it takes memory and time.
  const auto out = std::make_unique_for_overwrite<char[]>(kMostInflatedBytes);
  uLongf size = kMostInflatedBytes;
  uLong used = bytes.size();
  const int result = uncompress2(reinterpret_cast<Bytef*>(out.get()), &size,
                                 reinterpret_cast<const Bytef*>(bytes.data()), &used);
  if (result == Z_BUF_ERROR) {
    return absl::DataLossError(
        absl::StrCat("it is more than ", kMostInflatedBytes >> 20, " MiB when inflated"));
  }
  if (result != Z_OK || used < bytes.size()) {
    return absl::DataLossError("it is not deflated, or cut off");
  }
  return std::string(out.get(), size);
}

class ShardReader {
 public:
  explicit ShardReader(absl::string_view plain) : in_(plain) {}

  absl::StatusOr<KeptShard> Read() {
    const uint64_t version = in_.Unsigned();
    if (in_.ok() && version != kVersion) {
      return absl::DataLossError(
          absl::StrCat("it is of version ", version, ", expected ", kVersion));
    }
    KeptShard shard;
    base_ = in_.Signed();
    shard.saved_at = absl::FromUnixMicros(base_);
    shard.complete = in_.Bool();
    const size_t count = in_.Count();
    if (count > kMostKeptAutoscalers) {
      return absl::DataLossError(
          absl::StrCat("it holds ", count, " autoscalers, more than ", kMostKeptAutoscalers));
    }
    for (size_t i = 0; i < count && in_.ok(); ++i) shard.autoscalers.push_back(ReadAutoscaler());
    if (items_ > kMostKeptItems) {
      return absl::DataLossError(
          absl::StrCat("it holds more than ", kMostKeptItems, " recommendations and changes"));
    }
    if (!in_.ok() || !in_.at_end()) return absl::DataLossError("it is damaged");
    return shard;
  }

 private:
  std::string Name() {
    const absl::string_view name = in_.Text();
    if (name.empty() || name.size() > kMostNameBytes) in_.Fail();
    return std::string(name);
  }

  KeptAutoscaler ReadAutoscaler() {
    KeptAutoscaler kept;
    kept.key.kind = in_.Bool() ? AutoscalerKind::kOwn : AutoscalerKind::kHpa;
    kept.key.ns = Name();
    kept.key.name = Name();
    kept.replicas = in_.Int32();
    ReadItems(kept.state.recommendations, &Recommendation::replicas);
    ReadItems(kept.state.scale_ups, &ScaleEvent::change);
    for (ScaleEvent& event : kept.state.scale_ups) {
      event.outdated = event.change < 0;
      if (event.outdated) event.change = WrapSub32(0, event.change);
    }
    ReadItems(kept.state.scale_downs, &ScaleEvent::change);
    return kept;
  }

  // Reads what WriteItems wrote; all items of the shard together may be kMostKeptItems.
  template <typename Item>
  void ReadItems(std::vector<Item>& items, int32_t Item::*amount) {
    const size_t count = in_.Count();
    items_ += count;
    if (items_ > kMostKeptItems) in_.Fail();
    for (size_t i = 0; i < count && in_.ok(); ++i) {
      Item& item = items.emplace_back();
      item.*amount = in_.Int32();
      item.time = absl::FromUnixMicros(WrapSub(base_, in_.Signed()));
    }
  }

  PackedReader in_;
  int64_t base_ = 0;
  size_t items_ = 0;
};

// If there are too many, the oldest become one: a removal as young as the youngest of them, or an
// addition, which allows removals, as old as the oldest.
void CompactChanges(const std::vector<ScaleEvent>& events, bool additions,
                    std::vector<ScaleEvent>& out) {
  out.assign(events.begin(), events.end());
  // A removal that is kept for longer allows less.
  if (!additions) {
    for (ScaleEvent& event : out) event.outdated = false;
  }
  // Their order is kept if possible: it determines which of them the next one replaces.
  if (out.size() <= kMostChanges) return;
  std::sort(out.begin(), out.end(),
            [](const ScaleEvent& a, const ScaleEvent& b) { return a.time < b.time; });
  const size_t over = out.size() - kMostChanges;
  const absl::Time oldest = out.front().time;
  int32_t sum = 0;
  for (size_t i = 0; i <= over; ++i) sum = WrapAdd32(sum, out[i].change);
  out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(over));
  out.front().change = sum;
  out.front().outdated = false;
  if (additions) out.front().time = oldest;
}

}  // namespace

EncodedShard EncodeShard(const KeptShard& shard, size_t most) {
  const int64_t base = Micros(shard.saved_at);
  std::string entries;
  std::vector<size_t> ends;  // of each autoscaler in `entries`
  ends.reserve(shard.autoscalers.size());
  size_t items = 0;
  for (const KeptAutoscaler& kept : shard.autoscalers) {
    items += kept.state.recommendations.size() + kept.state.scale_ups.size() +
             kept.state.scale_downs.size();
    WriteAutoscaler(kept, base, entries);
    if (ends.size() == kMostKeptAutoscalers || items > kMostKeptItems ||
        entries.size() + kMostHeadBytes > kMostInflatedBytes) {
      break;
    }
    ends.push_back(entries.size());
  }
  for (size_t count = ends.size();;) {
    std::string plain;
    PackedWriter out(plain);
    out.Unsigned(kVersion);
    out.Signed(base);
    out.Bool(shard.complete);
    out.Unsigned(count);
    plain.append(entries, 0, count == 0 ? 0 : ends[count - 1]);
    std::string bytes = Deflate(plain);
    if (bytes.size() <= most || count == 0) {
      return {.bytes = std::move(bytes), .dropped = shard.autoscalers.size() - count};
    }
    // The next try is in proportion to the excess, and a little less, so that there are seldom more
    // than two.
    count = std::min(count - 1, static_cast<size_t>(0.97 * static_cast<double>(count) *
                                                    static_cast<double>(most) /
                                                    static_cast<double>(bytes.size())));
  }
}

absl::StatusOr<KeptShard> DecodeShard(absl::string_view bytes) {
  ASSIGN_OR_RETURN(const std::string plain, Inflate(bytes));
  return ShardReader(plain).Read();
}

void CompactState(const ScalerState& state, ScalerState& out) {
  CompactRecommendations(state.recommendations, out.recommendations);
  CompactChanges(state.scale_ups, /*additions=*/true, out.scale_ups);
  CompactChanges(state.scale_downs, /*additions=*/false, out.scale_downs);
}

}  // namespace flyball::scaler
