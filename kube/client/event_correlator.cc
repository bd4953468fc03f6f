#include "kube/client/event_correlator.h"

#include <algorithm>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace flyball::kube {
namespace {

constexpr size_t kSimilarMessages = 10;
constexpr absl::Duration kSimilarInterval = absl::Minutes(10);
constexpr double kBurst = 25;
constexpr double kTokensPerSecond = 1.0 / 300;

// What identifies the object and the type; never in a name: a line break.
std::string ObjectKey(const ObjectEventRecord& event) {
  return absl::StrJoin(
      {event.component, event.about.kind, event.about.ns, event.about.name, event.about.uid,
       event.about.api_version, std::string(event.warning ? "Warning" : "Normal")},
      "\n");
}

}  // namespace

std::optional<ObjectEventRecord> EventCorrelator::Correlate(const ObjectEventRecord& event,
                                                            absl::Time wall, MonotonicTime now,
                                                            absl::string_view name) {
  ObjectEventRecord out = event;
  const std::string object = ObjectKey(event);
  const std::string similar_key = absl::StrCat(object, "\n", event.reason);
  const size_t message = absl::HashOf(event.message);
  std::string counted_key = absl::StrCat(similar_key, "\n", message);

  Similar& similar = In(similar_, similar_key);
  if (now - similar.last > kSimilarInterval) similar.messages.clear();
  similar.messages.insert(message);
  similar.last = now;
  if (similar.messages.size() >= kSimilarMessages) {
    similar.messages.erase(message);
    counted_key = similar_key;
    out.message = absl::StrCat("(combined from similar events): ", event.message);
    out.name = std::string(name);
    out.first = out.last = wall;
    out.combined = true;
  }

  Counted& counted = In(counted_, counted_key);
  if (counted.count > 0) {
    out.name = counted.name;
    out.first = counted.first;
    out.count = counted.count + 1;
  }
  counted = {out.count, out.first, out.name};
  if (!WithinBudget(object, now)) return std::nullopt;
  return out;
}

bool EventCorrelator::WithinBudget(const std::string& key, MonotonicTime now) {
  Budget& budget = In(budgets_, key);
  double tokens = kBurst;
  if (budget.tokens.has_value()) {
    tokens = *budget.tokens + absl::ToDoubleSeconds(now - budget.filled_at) * kTokensPerSecond;
    tokens = std::min(tokens, kBurst);
  }
  budget.filled_at = now;
  // Fractions add up with errors in the last places.
  const bool enough = tokens >= 1.0 - 1e-9;
  budget.tokens = enough ? tokens - 1.0 : tokens;
  return enough;
}

}  // namespace flyball::kube
