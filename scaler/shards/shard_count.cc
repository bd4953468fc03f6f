#include "scaler/shards/shard_count.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scaler/shards/election.h"
#include "scaler/shards/shards.h"

namespace flyball::scaler {
namespace {

bool IsCount(absl::string_view text, int& count) {
  return absl::SimpleAtoi(text, &count) && count >= 1 && count <= kMaxShards;
}

}  // namespace

AgreedCount AgreedCount::Parse(absl::string_view holder) {
  const std::vector<absl::string_view> parts = absl::StrSplit(holder, "->");
  AgreedCount count;
  int announced = 0;
  if (parts.size() == 1 && IsCount(parts[0], count.shards)) return count;
  if (parts.size() == 2 && (parts[0] == "0" || IsCount(parts[0], count.shards)) &&
      IsCount(parts[1], announced)) {
    count.announced = announced;
    return count;
  }
  return {};
}

std::string AgreedCount::ToString() const {
  return announced.has_value() ? absl::StrCat(shards, "->", *announced) : absl::StrCat(shards);
}

ShardCount::ShardCount(LeaseKeeper& keeper, std::string prefix, int shards, ShardMemory* memory,
                       Clock& clock)
    : keeper_(keeper),
      prefix_(std::move(prefix)),
      shards_(shards),
      memory_(memory),
      clock_(clock),
      record_(keeper_.Watch(absl::StrCat(prefix_, "-shards"))) {}

std::string ShardCount::LeaseOf(size_t shard) const { return absl::StrCat(prefix_, "-", shard); }

bool ShardCount::SaysOurs() const { return record_.lease.holder == absl::StrCat(shards_); }

bool ShardCount::Confirm() { return keeper_.Read(record_) && SaysOurs(); }

ShardCount::State ShardCount::Round() {
  settled_ = false;
  if (!keeper_.Read(record_)) return State::kUnknown;
  const std::string waited_for = std::exchange(waits_for_, "");
  const AgreedCount agreed = AgreedCount::Parse(record_.lease.holder);
  const int before = agreed.shards;
  // If somebody has deleted all Leases, the owners of these shards take theirs again.
  if (before != 0) last_agreed_ = before;
  if (SaysOurs()) {
    others_.clear();
    if (!waited_for.empty()) spdlog::info("scaler: all replicas use {} shards now", shards_);
    return State::kOurs;
  }
  LookForEarlierOwners();
  const bool announced = agreed.announced == shards_;
  const auto wait = [&](std::string why) {
    if (why != waited_for) spdlog::warn("scaler: {}", why);
    waits_for_ = std::move(why);
    return State::kOther;
  };
  const int most = std::max(agreed.announced.value_or(0), shards_);
  if (!AllEnded(most)) {
    const std::string others =
        before == 0 ? "the number of shards is not agreed on yet, and shards may have owners"
                    : absl::StrCat("other replicas use ", before, " shards, this one uses ",
                                   shards_, " (--scaler-shards)");
    return wait(absl::StrCat(others, ": it decides nothing until they have stopped"));
  }
  if (!announced && !Say({.shards = before, .announced = shards_})) {
    return Confirm() ? State::kOurs : State::kOther;
  }
  // A replica that read the old number before we announced ours may have taken a shard since.
  if (!AllEnded(most)) return State::kOther;
  // Nothing was agreed on yet, or somebody has deleted what was.
  const int kept = before != 0 ? before : Existing();
  if (memory_ != nullptr && kept != 0) {
    const absl::Status moved = memory_->Move(kept, term());
    refused_moves_ = absl::IsPermissionDenied(moved) ? refused_moves_ + 1 : 0;
    if (!moved.ok()) {
      const std::string why =
          absl::StrCat("the saved state of ", kept, " shards cannot be moved to ", shards_, ": ",
                       moved.message());
      if (refused_moves_ < kMemoryTries) return wait(why);
      spdlog::warn("scaler: {}; begun without it", why);
    }
  }
  settled_ = Say({.shards = shards_, .announced = std::nullopt});
  return settled_ || Confirm() ? State::kOurs : State::kOther;
}

// What is saved outlives Leases that somebody deletes. If it cannot be read, an owner is assumed.
void ShardCount::LookForEarlierOwners() {
  if (last_agreed_ != 0 || memory_ == nullptr || std::exchange(looked_, true)) return;
  const absl::StatusOr<bool> saved = memory_->IsAnySaved();
  if (!saved.ok() || *saved) last_agreed_ = shards_;
}

// The Leases of shards have consecutive numbers, which tells how many others exist.
bool ShardCount::AllEnded(int most) {
  bool ended = true;
  for (size_t i = 0; i < kMaxShards; ++i) {
    if (i == others_.size()) others_.push_back(keeper_.Watch(LeaseOf(i)));
    WatchedLease& watched = others_[i];
    // The time is taken before reading, so that a renewal that took effect by then is seen.
    const MonotonicTime now = clock_.MonotonicNow();
    if (!keeper_.Read(watched)) return false;
    const bool missing = watched.missing();
    // A Lease of theirs that somebody deleted or emptied may still be held: then its owner takes it
    // again.
    const bool lost = watched.emptied() || (missing && i < static_cast<size_t>(last_agreed_));
    // The loop goes on after the first that has not ended, since each Lease counts from when it was
    // first seen.
    if ((lost || !watched.free()) && now < keeper_.RunsOut(watched)) {
      ended = false;
      if (missing) keeper_.MakeEmptied(watched);
    }
    if (missing && i + 1 >= static_cast<size_t>(std::max(last_agreed_, most))) break;
  }
  return ended;
}

int ShardCount::Existing() const {
  size_t count = others_.size();
  while (count > 0 && others_[count - 1].missing()) --count;
  return static_cast<int>(count);
}

bool ShardCount::Say(const AgreedCount& count) {
  const absl::Status status = keeper_.Write(record_, count.ToString());
  if (status.ok()) return true;
  if (!absl::IsAborted(status) && !absl::IsAlreadyExists(status)) keeper_.Note(record_, status);
  return false;
}

}  // namespace flyball::scaler
