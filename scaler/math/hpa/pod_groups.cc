#include "scaler/math/hpa/formulas.h"

#include <algorithm>

#include "base/go/arithmetic.h"

namespace flyball::scaler {
namespace {

constexpr int32_t kNoSample = -1;

// The times that every pod of one reading is compared with.
struct ReadinessClock {
  absl::Time initializing_since;  // a pod that started later is still initialising
  absl::Duration initial_delay;
  absl::Time oldest_initializing = absl::InfiniteFuture();
};

// Whether a cpu sample of a running pod must not be used: the pod is starting, or was never ready.
bool IsUnready(const PodTable::Row& row, const PodSample& sample, ReadinessClock& clock) {
  if (!row.has_ready || !row.has_start_time) return true;
  if (row.start_time > clock.initializing_since) {
    clock.oldest_initializing = std::min(clock.oldest_initializing, row.start_time);
    return row.ready == ConditionStatus::kFalse ||
           sample.timestamp < row.ready_transition + sample.window;
  }
  return row.ready == ConditionStatus::kFalse &&
         row.start_time + clock.initial_delay > row.ready_transition;
}

}  // namespace

UsableSamples GroupPods(const GroupQuery& query, Workspace& workspace) {
  const absl::Span<const PodTable::Row> rows = query.table.rows();
  UsableSamples out;
  std::vector<int32_t>& sample_of_row = workspace.sample_of_row;
  sample_of_row.assign(rows.size(), kNoSample);
  for (size_t i = 0; i < query.samples.size(); ++i) {
    const PodSample& sample = query.samples[i];
    if (sample.row == kStranger) {
      ++out.counts.strangers;
      out.sum_milli = WrapAdd(out.sum_milli, sample.value_milli);
    } else {
      sample_of_row[static_cast<size_t>(sample.row)] = static_cast<int32_t>(i);
    }
  }

  ReadinessClock clock{.initializing_since = query.now - query.config.cpu_initialization_period,
                       .initial_delay = query.config.initial_readiness_delay};
  workspace.groups.resize(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const PodTable::Row& row = rows[i];
    PodGroup group = PodGroup::kReady;
    if (row.deleting || row.phase == PodPhase::kFailed) {
      group = PodGroup::kIgnored;
      ++out.counts.ignored;
    } else if (row.phase == PodPhase::kPending) {
      group = PodGroup::kUnready;
      ++out.counts.unready;
    } else if (sample_of_row[i] == kNoSample) {
      group = PodGroup::kMissing;
      ++out.counts.missing;
    } else {
      const PodSample& sample = query.samples[static_cast<size_t>(sample_of_row[i])];
      if (query.judge_readiness && IsUnready(row, sample, clock)) {
        group = PodGroup::kUnready;
        ++out.counts.unready;
      } else {
        ++out.counts.ready;
        out.ready_sum_milli = WrapAdd(out.ready_sum_milli, sample.value_milli);
        if (query.requests != nullptr) {
          out.ready_requests_milli = WrapAdd(out.ready_requests_milli, query.requests->milli[i]);
        }
      }
    }
    workspace.groups[i] = group;
  }
  out.sum_milli = WrapAdd(out.sum_milli, out.ready_sum_milli);
  out.valid_until = clock.oldest_initializing + query.config.cpu_initialization_period;
  return out;
}

}  // namespace flyball::scaler
