#include "adapter/external_standing.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "adapter/external_provider.h"
#include "base/go/url.h"
#include "base/joined_key.h"

namespace flyball::adapter {
namespace {

// How many queries are under way at once.
constexpr size_t kParallel = 8;

// Whether a value matches itself as a regular expression. A dot also matches other values, but
// their samples are then taken by no request.
bool IsPlain(absl::string_view value) {
  return !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
  });
}

// The requirement whose values may be asked for together; nullptr: there is none.
const kube::Requirement* Mergeable(const ExternalMetricRequest& request,
                                   const rules::CompiledRule& rule) {
  const auto& all = request.selector.requirements();
  for (const kube::Requirement& one : all) {
    const bool equals =
        one.op == kube::Operator::kEquals || one.op == kube::Operator::kDoubleEquals;
    if (!equals || one.values.size() != 1 || !IsPlain(one.values[0])) continue;
    const auto same_key = [&one](const kube::Requirement& other) { return other.key == one.key; };
    if (std::count_if(all.begin(), all.end(), same_key) != 1) continue;
    if (rule.shape.SeparatesLabel(one.key)) return &one;
  }
  return nullptr;
}

// The same text for requests that differ only in the value of `label`.
std::string KeyWithout(const ExternalMetricRequest& request, const std::string& label) {
  std::string key = JoinedKey(request.metric, request.ns, label);
  for (const kube::Requirement& other : request.selector.requirements()) {
    if (other.key == label) continue;
    absl::StrAppend(&key, static_cast<int>(other.op), ":", other.values.size(), ":");
    AppendKeyPart(other.key, &key);
    for (const std::string& value : other.values) AppendKeyPart(value, &key);
  }
  return key;
}

const std::string& ValueOf(const ExternalMetricRequest& request, absl::string_view label) {
  const auto& all = request.selector.requirements();
  return std::find_if(all.begin(), all.end(),
                      [label](const kube::Requirement& one) { return one.key == label; })
      ->values[0];
}

}  // namespace

ExternalStanding::Answers ExternalStanding::Ask(absl::Duration timeout) {
  const MonotonicTime deadline = answering_.clock.MonotonicNow() + timeout;
  // With other series or rules the same requests may need other queries.
  if (auto registry = answering_.relister.registry(); registry != registry_) {
    registry_ = std::move(registry);
    Group();
  }
  std::vector<Together*> asked;
  for (Together& query : queries_) Collect(query, asked);
  Answers answers(requests_.size());
  const auto ask = [&](size_t i) { AskTogether(*asked[i], deadline, answers); };
  if (pool_ != nullptr && asked.size() > 1) {
    pool_->ParallelFor(asked.size(), kParallel, ask);
  } else {
    for (size_t i = 0; i < asked.size(); ++i) ask(i);
  }
  return answers;
}

void ExternalStanding::Group() {
  queries_.clear();
  const bool merges = answering_.batcher.merges() && requests_.size() > 1;
  std::vector<Together> all;
  absl::flat_hash_map<std::string, size_t> places;
  for (size_t i = 0; i < requests_.size(); ++i) {
    const ExternalMetricRequest& request = requests_[i];
    Together one = {.found = registry_->FindExternal(request.metric), .members = {i}};
    const kube::Requirement* differs =
        merges && one.found.rule != nullptr ? Mergeable(request, *one.found.rule) : nullptr;
    if (differs != nullptr) {
      one.label = differs->key;
      const auto [place, fresh] = places.try_emplace(KeyWithout(request, differs->key), all.size());
      if (!fresh) {
        all[place->second].members.push_back(i);
        continue;
      }
    }
    all.push_back(std::move(one));
  }
  for (Together& one : all) AddSplit(std::move(one));
  for (Together& one : queries_) AddQuery(one);
}

// Sorted by value, so that the same requests make the same queries in any order.
void ExternalStanding::AddSplit(Together all) {
  if (all.members.size() == 1) {
    all.label.clear();
    queries_.push_back(std::move(all));
    return;
  }
  std::stable_sort(all.members.begin(), all.members.end(), [&](size_t a, size_t b) {
    return ValueOf(requests_[a], all.label) < ValueOf(requests_[b], all.label);
  });
  const size_t most = std::max<size_t>(answering_.batcher.max_names(), 1);
  for (size_t first = 0; first < all.members.size();) {
    const auto begin = all.members.begin() + static_cast<ptrdiff_t>(first);
    Together some = {.found = all.found, .label = all.label};
    auto count = static_cast<ptrdiff_t>(std::min(most, all.members.size() - first));
    some.members.assign(begin, begin + count);
    while (count > 1 && IsTooLong(some)) {
      count = (count + 1) / 2;
      some.members.resize(static_cast<size_t>(count));
    }
    first += some.members.size();
    queries_.push_back(std::move(some));
  }
}

bool ExternalStanding::IsTooLong(const Together& together) const {
  const size_t most = answering_.batcher.max_url_bytes();
  if (most == 0) return false;
  const absl::StatusOr<std::string> promql = QueryOf(together);
  return promql.ok() && go::QueryEscape(*promql).size() > most;
}

void ExternalStanding::AddQuery(Together& together) const {
  if (together.found.rule == nullptr) {
    together.failure = NoExternalMetric(requests_[together.members[0]]);
    return;
  }
  absl::StatusOr<std::string> promql = QueryOf(together);
  if (promql.ok()) {
    together.query =
        std::make_unique<StandingQuery>(*std::move(promql), together.found.rule->source);
  } else {
    together.failure = absl::InternalError(promql.status().message());
  }
}

absl::StatusOr<std::string> ExternalStanding::QueryOf(const Together& together) const {
  const ExternalMetricRequest& first = requests_[together.members[0]];
  std::vector<kube::Requirement> selector = first.selector.requirements();
  if (!together.label.empty()) {
    std::vector<std::string> values;
    for (const size_t i : together.members) values.push_back(ValueOf(requests_[i], together.label));
    values.erase(std::unique(values.begin(), values.end()), values.end());
    for (kube::Requirement& one : selector) {
      if (one.key != together.label || values.size() == 1) continue;
      one.op = kube::Operator::kIn;
      one.values = values;
    }
  }
  return together.found.rule->ExternalQuery(together.found.series, first.ns, selector,
                                            *registry_->mapper());
}

void ExternalStanding::AskTogether(Together& together, MonotonicTime deadline,
                                   Answers& answers) const {
  absl::Status failure = together.failure;
  if (failure.ok()) {
    const MonotonicTime sent = answering_.clock.MonotonicNow();
    const absl::StatusOr<StandingResult> result = answering_.batcher.Ask(*together.query, deadline);
    if (result.ok()) {
      if (result->result != nullptr) together.values = result->result->samples.size();
      together.found.rule->last_answer.Note(together.query->promql, result->source, together.values,
                                            answering_.clock.MonotonicNow() - sent, sent);
      answering_.failures.Succeeded({"externalRules", together.found.rule->index});
      return HandOut(together, *result, answers);
    }
    together.query->Forget();
    failure = result.status();
    if (together.members.size() > 1 &&
        answering_.batcher.MayBeForItsSize(failure, deadline - sent)) {
      const bool refused = absl::IsInvalidArgument(failure);
      SetApart(together, refused ? 1 : (together.members.size() + 1) / 2);
      if (refused) {
        for (Together& one : together.apart) AskTogether(one, deadline, answers);
        return;
      }
    }
  }
  for (const size_t i : together.members) {
    if (absl::IsNotFound(together.failure)) {
      answers[i] = failure;
    } else if (!together.failure.ok()) {
      answers[i] = FetchFailure(answering_, requests_[i].metric, failure);
    } else {
      answers[i] = FetchFailure(answering_, {"externalRules", together.found.rule->index},
                                *together.found.rule, requests_[i].metric, failure);
    }
  }
}

void ExternalStanding::SetApart(Together& together, size_t members) const {
  for (size_t first = 0; first < together.members.size(); first += members) {
    Together& some = together.apart.emplace_back(Together{.found = together.found});
    const auto begin = together.members.begin() + static_cast<ptrdiff_t>(first);
    const size_t count = std::min(members, together.members.size() - first);
    some.members.assign(begin, begin + static_cast<ptrdiff_t>(count));
    if (count > 1) some.label = together.label;
    AddQuery(some);
  }
  together.apart_until = answering_.clock.MonotonicNow() + QueryBatcher::kApart;
}

// If the source is down, one failure for all is enough.
bool ExternalStanding::IsApart(const Together& together) const {
  return !together.apart.empty() && answering_.clock.MonotonicNow() < together.apart_until &&
         !answering_.batcher.SeemsDown();
}

void ExternalStanding::Collect(Together& together, std::vector<Together*>& asked) const {
  if (!IsApart(together)) {
    together.apart.clear();
    asked.push_back(&together);
  }
  for (Together& some : together.apart) Collect(some, asked);
}

void ExternalStanding::HandOut(Together& together, const StandingResult& result,
                               Answers& answers) const {
  if (result.result == nullptr) {
    for (const size_t i : together.members) {
      StandingAnswer<ExternalMetricList> same{.unchanged = true,
                                              .time = WholeSeconds(*result.time)};
      same.list.freshness.samples = result.read;
      answers[i] = std::move(same);
    }
    return;
  }
  absl::flat_hash_map<absl::string_view, std::vector<const Sample*>> by_value;
  for (const Sample& sample : result.result->samples) {
    const absl::string_view value =
        together.label.empty() ? "" : LabelValue(sample.labels, together.label);
    by_value[value].push_back(&sample);
  }
  for (const size_t i : together.members) {
    const absl::string_view value =
        together.label.empty() ? absl::string_view() : ValueOf(requests_[i], together.label);
    absl::StatusOr<ExternalMetricList> list =
        ExternalListOf(answering_, requests_[i].metric, *result.result, by_value[value]);
    if (!list.ok()) {
      together.query->Forget();
      answers[i] = list.status();
      continue;
    }
    list->freshness.samples = result.read;
    answers[i] = StandingAnswer<ExternalMetricList>{.list = *std::move(list)};
  }
}

}  // namespace flyball::adapter
