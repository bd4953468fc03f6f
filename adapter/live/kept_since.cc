#include "adapter/live/kept_since.h"

#include <algorithm>
#include <limits>

namespace flyball::adapter {
namespace {

bool Same(const promql::Matcher& a, const promql::Matcher& b) {
  return a.op() == b.op() && a.label() == b.label() && a.value() == b.value();
}

// Whether each series that matches `one` certainly matches `wanted`.
bool Implies(const promql::Matcher& one, const promql::Matcher& wanted) {
  using Op = promql::Matcher::Op;
  if (one.label() != wanted.label()) return false;
  const bool is_there = wanted.op() == Op::kNotEqual && wanted.value().empty();
  return Same(one, wanted) || (one.op() == Op::kEqual && wanted.Matches(one.value())) ||
         (is_there && !one.Matches(""));
}

// Whether all series of `part` are certainly series of `whole`: for each matcher of `whole` there
// is one of `part` that implies it.
bool Contains(const live::Selector& whole, const live::Selector& part) {
  return std::all_of(whole.begin(), whole.end(), [&part](const promql::Matcher& wanted) {
    return std::any_of(part.begin(), part.end(),
                       [&wanted](const promql::Matcher& one) { return Implies(one, wanted); });
  });
}

// Whether certainly no series of `one` is a series of `other`: one of these matchers refuses the
// value that the other selector wants.
bool Excludes(const live::Selector& one, const live::Selector& other) {
  return std::any_of(one.begin(), one.end(), [&other](const promql::Matcher& matcher) {
    return std::any_of(other.begin(), other.end(), [&matcher](const promql::Matcher& wanted) {
      return wanted.op() == promql::Matcher::Op::kEqual && wanted.label() == matcher.label() &&
             !matcher.Matches(wanted.value());
    });
  });
}

}  // namespace

std::optional<int64_t> KeptSince::Contained(const live::Selector& selector) const {
  std::optional<int64_t> since_ms;
  for (const Kept& kept : kept_) {
    if (since_ms && *since_ms <= kept.since_ms) continue;
    if (Contains(kept.selector, selector)) since_ms = kept.since_ms;
  }
  return since_ms;
}

KeptSince KeptSince::After(const std::optional<std::vector<live::Selector>>& selectors,
                           int64_t now_ms) const {
  std::vector<Kept> kept;
  if (!selectors) {
    kept = kept_;  // it has begun earlier than the rest
    if (!Contained({})) kept.push_back({{}, now_ms});
    return KeptSince(std::move(kept));
  }
  for (const live::Selector& selector : *selectors) {
    kept.push_back({selector, Contained(selector).value_or(now_ms)});
  }
  return KeptSince(std::move(kept));
}

KeptSince KeptSince::Earlier(const live::Selector& selector, int64_t since_ms) const {
  std::vector<Kept> kept = kept_;
  for (Kept& one : kept) {
    if (Contains(selector, one.selector)) one.since_ms = std::min(one.since_ms, since_ms);
  }
  return KeptSince(std::move(kept));
}

KeptSince KeptSince::NotBefore(int64_t from_ms, int64_t to_ms) const {
  std::vector<Kept> kept = kept_;
  for (Kept& one : kept) {
    if (one.since_ms >= from_ms) one.since_ms = std::max(one.since_ms, to_ms);
  }
  return KeptSince(std::move(kept));
}

KeptSince KeptSince::Anew(int64_t since_ms) const {
  std::vector<Kept> kept = kept_;
  for (Kept& one : kept) one.since_ms = since_ms;
  return KeptSince(std::move(kept));
}

int64_t KeptSince::Of(const live::Selector& selector) const {
  if (const std::optional<int64_t> since_ms = Contained(selector)) return *since_ms;
  bool any = false;
  int64_t latest_ms = std::numeric_limits<int64_t>::min();
  for (const Kept& kept : kept_) {
    latest_ms = std::max(latest_ms, kept.since_ms);
    any = any || !Excludes(kept.selector, selector);
  }
  return any ? latest_ms : std::numeric_limits<int64_t>::max();
}

}  // namespace flyball::adapter
