#include "scaler/front/pod_table.h"

#include <algorithm>
#include <utility>

namespace flyball::front {
namespace {

// A refused connection is an immediate answer, so a few pods can be probed more often than many.
constexpr absl::Duration kShortestPeriod = absl::Milliseconds(5);
constexpr absl::Duration kLongestPeriod = absl::Milliseconds(25);
constexpr int64_t kFew = 4;
constexpr int64_t kPatience = 50;  // a period is this part of the time since the first probe
constexpr absl::Duration kPeriodOfUnready = absl::Seconds(1);
constexpr absl::Duration kPardonAfter = absl::Seconds(3);
constexpr absl::Duration kLongestSilence = absl::Seconds(1);
constexpr absl::Duration kLongestRefusal = absl::Seconds(15);

}  // namespace

void PodTable::Set(const std::vector<PodView>& pods, absl::Time now) {
  std::map<std::string, PodRecord, std::less<>> records;
  for (const PodView& view : pods) {
    PodRecord record;
    if (const auto found = pods_.find(view.uid); found != pods_.end()) {
      record = std::move(found->second);
    }
    // A container that ended has to pass again.
    if (!view.running || view.restarts != record.view.restarts) {
      record.passed = record.in_vain = false;
      record.first_probe = absl::InfiniteFuture();
    }
    record.was_ready |= view.ready;
    record.view = view;
    records.emplace(view.uid, std::move(record));
  }
  pods_ = std::move(records);
  Advance(now);
}

void PodTable::DoomAll() {
  for (auto& [uid, pod] : pods_) pod.doomed = true;
  raised_.reset();
}

void PodTable::PardonAll() {
  for (auto& [uid, pod] : pods_) pod.doomed = false;
  raised_.reset();
}

void PodTable::Raised(absl::Time now) {
  if (!raised_.has_value()) raised_ = now;
}

bool PodTable::Advance(absl::Time now) {
  if (now < NextPardon()) return false;
  PardonAll();
  return true;
}

absl::Time PodTable::NextPardon() const {
  const bool any =
      std::any_of(pods_.begin(), pods_.end(), [](const auto& each) { return each.second.doomed; });
  return any && raised_.has_value() ? *raised_ + kPardonAfter : absl::InfiniteFuture();
}

bool PodTable::TakesRequests(const PodRecord& pod) const {
  if (!Counts(pod) || pod.view.address.empty()) return false;
  if (HasToPass(pod) && !pod.passed) return false;
  return pod.view.ready || (pod.passed && !pod.was_ready);
}

bool PodTable::IsToBeProbed(const PodRecord& pod) const {
  return Counts(pod) && pod.view.running && pod.view.probeable && !pod.view.address.empty() &&
         !pod.passed && (HasToPass(pod) || (!pod.view.ready && !pod.was_ready));
}

std::vector<ProbeTarget> PodTable::TakeDueProbes(absl::Time now, size_t limit, int64_t others) {
  const int64_t asked = std::count_if(
      pods_.begin(), pods_.end(), [this](const auto& each) { return IsToBeProbed(each.second); });
  if (asked == 0) return {};
  const absl::Duration period =
      std::min(kLongestPeriod, kShortestPeriod * (1 + (asked - 1 + others) / kFew));
  std::vector<ProbeTarget> targets;
  for (auto& [uid, pod] : pods_) {
    if (pod.probing.has_value() || now < pod.next_probe || !IsToBeProbed(pod)) continue;
    pod.first_probe = std::min(pod.first_probe, now);
    pod.next_probe =
        now + std::max(period, std::min((now - pod.first_probe) / kPatience, kPeriodOfUnready));
    if (targets.size() == limit) continue;
    pod.probing = pod.view.restarts;
    targets.push_back({uid, pod.view.address});
  }
  return targets;
}

bool PodTable::Probed(absl::string_view uid, ProbeResult result, absl::Time now) {
  const auto found = pods_.find(uid);
  if (found == pods_.end()) return false;
  PodRecord& pod = found->second;
  const bool of_this_run = std::exchange(pod.probing, std::nullopt) == pod.view.restarts;
  if (!of_this_run || !pod.view.running) return false;
  if (result == ProbeResult::kPassed) {
    pod.passed = true;
    return true;
  }
  const bool silent = result == ProbeResult::kSilent;
  if (!silent) pod.last_answer = now;
  const absl::Time end = silent ? std::max(pod.first_probe, pod.last_answer) + kLongestSilence
                                : pod.first_probe + kLongestRefusal;
  if (now < end) return false;
  return !std::exchange(pod.in_vain, true);
}

std::vector<PodPlace> PodTable::Places() const {
  std::vector<PodPlace> places;
  places.reserve(pods_.size());
  for (const auto& [uid, pod] : pods_) {
    places.push_back({uid, pod.view.address, TakesRequests(pod)});
  }
  return places;
}

std::vector<std::string> PodTable::Endpoints() const {
  std::vector<std::string> addresses;
  for (const auto& [uid, pod] : pods_) {
    if (TakesRequests(pod)) addresses.push_back(pod.view.address);
  }
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  return addresses;
}

bool PodTable::any_running() const {
  return std::any_of(pods_.begin(), pods_.end(), [](const auto& each) {
    return Counts(each.second) && each.second.view.running && !each.second.view.address.empty();
  });
}

absl::Time PodTable::NextProbe() const {
  absl::Time next = absl::InfiniteFuture();
  for (const auto& [uid, pod] : pods_) {
    if (!pod.probing.has_value() && IsToBeProbed(pod)) next = std::min(next, pod.next_probe);
  }
  return next;
}

}  // namespace flyball::front
