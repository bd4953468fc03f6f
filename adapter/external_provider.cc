#include "adapter/external_provider.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"

namespace flyball::adapter {
namespace {

// No byte of a label, name or value.
constexpr char kSeparator[] = "\xff";

// The original names a resource only for the namespace `default`.
absl::Status NoMetric(const ExternalMetricRequest& request) {
  return absl::NotFoundError(absl::StrCat("the server could not find the metric ", request.metric,
                                          " for ", request.ns == "default" ? "namespaces" : ""));
}

// A value that stands for itself in a regular expression; a dot stands for more than itself, which
// only brings samples that nobody takes.
bool IsPlain(absl::string_view value) {
  return !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
  });
}

// The requirement that may be asked together with others of its label; nullptr: none.
const kube::Requirement* Mergeable(const ExternalMetricRequest& request,
                                   const rules::CompiledRule& rule) {
  for (const kube::Requirement& one : request.selector.requirements()) {
    const bool equals =
        one.op == kube::Operator::kEquals || one.op == kube::Operator::kDoubleEquals;
    if (!equals || one.values.size() != 1 || !IsPlain(one.values[0])) continue;
    const auto same_key = [&one](const kube::Requirement& other) { return other.key == one.key; };
    const auto& all = request.selector.requirements();
    if (std::count_if(all.begin(), all.end(), same_key) != 1) continue;
    if (rule.ExternalQueriesSeparate(one.key)) return &one;
  }
  return nullptr;
}

// Both ask by one `=` of the same label, and for nothing else that differs.
bool DifferInValueOnly(const ExternalMetricRequest& a, const ExternalMetricRequest& b) {
  const auto& x = a.selector.requirements();
  const auto& y = b.selector.requirements();
  return x.size() == 1 && y.size() == 1 && x[0].op == y[0].op && x[0].key == y[0].key &&
         y[0].values.size() == 1 && IsPlain(y[0].values[0]) && a.metric == b.metric && a.ns == b.ns;
}

// What the answers with that origin are told when the result is theirs again.
Repeated SameAs(const OriginPtr& origin, const FreshResult& fresh) {
  Repeated same = {.origin = origin, .same = true, .time = fresh.time};
  if (same.time.has_value()) same.time = WholeSeconds(*same.time);
  return same;
}

const std::string& ValueOf(const ExternalMetricRequest& request, absl::string_view label) {
  const auto& all = request.selector.requirements();
  return std::find_if(all.begin(), all.end(),
                      [label](const kube::Requirement& one) { return one.key == label; })
      ->values[0];
}

}  // namespace

struct ExternalProvider::RequestGroup {
  MetricSeries found;
  std::string label;                 // whose values differ; "": one request alone
  std::vector<size_t> members;       // by value
  RepeatedQueryPtr query = nullptr;  // as soon as it was made
};

// Requests that came together.
struct ExternalProvider::Call {
  std::shared_ptr<const SeriesRegistry> registry;  // that their queries were made with
  size_t requests = 0;
};

// What the answers to a group were made of: they follow from the result and, of a query for
// several, from the label that tells them apart.
struct ExternalProvider::GroupOrigin : public Origin {
  AnswerMark mark;
  std::string label;
  RepeatedQueryPtr query;
  size_t members = 0;
  std::shared_ptr<const Call> call;  // nullptr: no other call should ask so
};

// nullptr: it does not ask again, or of its last answer nothing is known.
const ExternalProvider::GroupOrigin* ExternalProvider::LastOriginOf(
    const ExternalMetricRequest& request) {
  if (!request.repeat.has_value()) return nullptr;
  return dynamic_cast<const GroupOrigin*>(request.repeat->origin.get());
}

std::optional<AgainWish> ExternalProvider::WishOf(const Batch& batch, const RequestGroup& group) {
  std::optional<AgainWish> wish;
  const GroupOrigin* const first = LastOriginOf(*batch.requests[group.members[0]]);
  bool all_alike = first != nullptr && first->label == group.label;
  for (const size_t i : group.members) {
    const std::optional<Repeat>& repeat = batch.requests[i]->repeat;
    if (repeat.has_value()) {
      if (!wish.has_value()) wish.emplace();
      wish->max_age = std::min(wish->max_age, repeat->max_age);
    }
    const GroupOrigin* const known = LastOriginOf(*batch.requests[i]);
    all_alike = all_alike && (known == first || (known != nullptr && known->label == group.label &&
                                                 known->mark == first->mark));
  }
  // Whoever had another answer, or none, needs the samples.
  if (all_alike) wish->before = first->mark;
  return wish;
}

absl::StatusOr<ExternalMetricList> ExternalProvider::Get(const ExternalMetricRequest& request) {
  return std::move(GetAll({&request})[0]);
}

ExternalProvider::Answers ExternalProvider::GetAll(
    absl::Span<const ExternalMetricRequest* const> requests) {
  Batch batch = {.requests = requests,
                 .registry = answering_.registry.registry(),
                 .epoch = Epoch(),
                 .call = nullptr};
  Answers answers(requests.size());
  std::vector<RequestGroup> groups = KnownGroups(batch);
  if (groups.empty()) {
    batch.call =
        std::make_shared<const Call>(Call{.registry = batch.registry, .requests = requests.size()});
    groups = GroupsOf(batch, answers);
  }
  const auto ask = [&](size_t i) { AskGroup(batch, groups[i], answers); };
  if (pool_ != nullptr && groups.size() > 1) {
    pool_->ParallelFor(groups.size(), kParallel, ask);
  } else {
    for (size_t i = 0; i < groups.size(); ++i) ask(i);
  }
  return answers;
}

std::optional<Repeated> ExternalProvider::Again(const OriginPtr& origin, absl::Duration timeout,
                                                absl::Duration max_age) {
  const auto* known = dynamic_cast<const GroupOrigin*>(origin.get());
  // Other series or rules may make another query of the same requests.
  if (known == nullptr || known->call == nullptr ||
      known->call->registry != answering_.registry.registry()) {
    return std::nullopt;
  }
  const absl::StatusOr<FreshResult> fresh = answering_.batcher.QueryAgain(
      known->query, answering_.clock.MonotonicNow() + timeout,
      {.max_age = max_age, .only_whether = true, .before = known->mark});
  if (!fresh.ok()) return std::nullopt;
  if (fresh->mark != known->mark) return Repeated{.origin = nullptr, .same = false, .time = {}};
  return SameAs(origin, *fresh);
}

// Where the very requests of an earlier call ask again, their groups of then; else none. A request
// has what is known of it from its own answer alone: so it is enough to count.
std::vector<ExternalProvider::RequestGroup> ExternalProvider::KnownGroups(Batch& batch) {
  std::vector<RequestGroup> groups;
  std::vector<const GroupOrigin*> of_group;
  absl::flat_hash_map<const Origin*, size_t> places;
  const Origin* last = nullptr;  // most often the next one has the same
  size_t place = 0;
  for (size_t i = 0; i < batch.requests.size(); ++i) {
    const std::optional<Repeat>& repeat = batch.requests[i]->repeat;
    if (!repeat.has_value() || repeat->origin == nullptr) return {};
    if (repeat->origin.get() != last) {
      last = repeat->origin.get();
      const auto [found, fresh] = places.try_emplace(last, groups.size());
      place = found->second;
      if (fresh) {
        const auto* known = dynamic_cast<const GroupOrigin*>(last);
        if (known == nullptr || known->call == nullptr || known->call->registry != batch.registry ||
            known->call->requests != batch.requests.size() ||
            (!of_group.empty() && known->call != of_group[0]->call)) {
          return {};
        }
        of_group.push_back(known);
        groups.push_back(
            {.found = {}, .label = known->label, .members = {}, .query = known->query});
      }
    }
    groups[place].members.push_back(i);
  }
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].members.size() != of_group[i]->members) return {};
  }
  if (!groups.empty()) batch.call = of_group[0]->call;
  return groups;
}

std::vector<ExternalProvider::RequestGroup> ExternalProvider::GroupsOf(const Batch& batch,
                                                                       Answers& answers) const {
  const bool merges = answering_.batcher.merges() && batch.requests.size() > 1;
  std::vector<RequestGroup> groups;
  absl::flat_hash_map<std::string, size_t> by_key;
  for (size_t i = 0; i < batch.requests.size(); ++i) {
    const ExternalMetricRequest& request = *batch.requests[i];
    // Most often it is like the one before.
    if (i > 0 && !groups.empty() && !groups.back().label.empty() &&
        groups.back().members.back() == i - 1 &&
        DifferInValueOnly(*batch.requests[i - 1], request)) {
      groups.back().members.push_back(i);
      continue;
    }
    const MetricSeries found = batch.registry->FindExternal(request.metric);
    if (found.rule == nullptr) {
      answers[i] = NoMetric(request);
      continue;
    }
    const kube::Requirement* differs = merges ? Mergeable(request, *found.rule) : nullptr;
    if (differs == nullptr) {
      groups.push_back({.found = found, .label = "", .members = {i}});
      continue;
    }
    std::string key =
        absl::StrCat(request.metric, kSeparator, request.ns, kSeparator, differs->key);
    for (const kube::Requirement& other : request.selector.requirements()) {
      if (&other == differs) continue;
      absl::StrAppend(&key, kSeparator, other.key, kSeparator, static_cast<int>(other.op),
                      kSeparator, absl::StrJoin(other.values, kSeparator));
    }
    const auto [known, fresh] = by_key.try_emplace(std::move(key), groups.size());
    if (fresh) groups.push_back({.found = found, .label = differs->key, .members = {}});
    groups[known->second].members.push_back(i);
  }
  return Split(std::move(groups), batch.requests);
}

// Into queries of at most max_names values each. By value, so that the same requests make the same
// queries again.
std::vector<ExternalProvider::RequestGroup> ExternalProvider::Split(
    std::vector<RequestGroup> groups,
    absl::Span<const ExternalMetricRequest* const> requests) const {
  std::vector<RequestGroup> split;
  split.reserve(groups.size());
  for (RequestGroup& group : groups) {
    if (group.members.size() == 1) group.label.clear();
    if (group.label.empty()) {
      split.push_back(std::move(group));
      continue;
    }
    const auto by_value = [&](size_t a, size_t b) {
      return ValueOf(*requests[a], group.label) < ValueOf(*requests[b], group.label);
    };
    if (!std::is_sorted(group.members.begin(), group.members.end(), by_value)) {
      std::stable_sort(group.members.begin(), group.members.end(), by_value);
    }
    const size_t most = std::max<size_t>(answering_.batcher.max_names(), 1);
    for (size_t first = 0; first < group.members.size(); first += most) {
      const size_t end = std::min(first + most, group.members.size());
      split.push_back({.found = group.found,
                       .label = group.label,
                       .members = {group.members.begin() + static_cast<ptrdiff_t>(first),
                                   group.members.begin() + static_cast<ptrdiff_t>(end)}});
    }
  }
  return split;
}

absl::StatusOr<std::string> ExternalProvider::QueryOf(const Batch& batch,
                                                      const RequestGroup& group) {
  const ExternalMetricRequest& first = *batch.requests[group.members[0]];
  std::vector<rules::LabelRequirement> selector = ForRules(first.selector);
  if (!group.label.empty()) {
    std::vector<std::string> values;
    values.reserve(group.members.size());
    for (const size_t i : group.members) values.push_back(ValueOf(*batch.requests[i], group.label));
    values.erase(std::unique(values.begin(), values.end()), values.end());
    for (rules::LabelRequirement& one : selector) {
      if (one.key != group.label || values.size() == 1) continue;
      one.op = rules::LabelRequirement::Op::kIn;
      one.values = values;
    }
  }
  return group.found.rule->ExternalQuery(group.found.series, first.ns, selector,
                                         *batch.registry->names());
}

void ExternalProvider::AskGroup(const Batch& batch, RequestGroup& group, Answers& answers) {
  const absl::Span<const ExternalMetricRequest* const> requests = batch.requests;
  const ExternalMetricRequest& first = *requests[group.members[0]];
  const MonotonicTime deadline = answering_.clock.MonotonicNow() + first.timeout;
  const auto fail = [&](const absl::Status& cause) {
    for (const size_t i : group.members) {
      answers[i] = FetchFailure(answering_, requests[i]->metric, cause);
    }
  };
  if (group.query == nullptr) {
    absl::StatusOr<std::string> promql = QueryOf(batch, group);
    if (!promql.ok()) return fail(absl::InternalError(promql.status().message()));
    group.query = std::make_shared<const RepeatedQuery>(*std::move(promql));
  }

  const std::optional<AgainWish> again = WishOf(batch, group);
  const absl::StatusOr<FreshResult> fresh =
      again.has_value() ? answering_.batcher.QueryAgain(group.query, deadline, *again)
                        : answering_.batcher.Query(group.query->promql, deadline);
  if (!fresh.ok()) {
    // The source refuses the query as it is, maybe for its size.
    if (group.members.size() > 1 && absl::IsInvalidArgument(fresh.status())) {
      Batch apart = batch;
      apart.call = nullptr;  // the next time they are together again
      const MetricSeries found = batch.registry->FindExternal(first.metric);
      for (const size_t i : group.members) {
        RequestGroup one = {.found = found, .label = "", .members = {i}};
        AskGroup(apart, one, answers);
      }
      return;
    }
    return fail(fresh.status());
  }
  HandOut(batch, group, *fresh, answers);
}

// That of members who were told the same by the same query, so that all are asked for as one; else
// a new one.
OriginPtr ExternalProvider::OriginOf(const Batch& batch, const RequestGroup& group,
                                     const AnswerMark& mark) {
  for (const size_t i : group.members) {
    const GroupOrigin* const known = LastOriginOf(*batch.requests[i]);
    if (known != nullptr && known->mark == mark && known->label == group.label &&
        known->members == group.members.size() && known->call != nullptr &&
        known->call->registry == batch.registry && known->call->requests == batch.requests.size() &&
        known->query->promql == group.query->promql) {
      return batch.requests[i]->repeat->origin;
    }
  }
  auto origin = std::make_shared<GroupOrigin>();
  origin->mark = mark;
  origin->label = group.label;
  origin->query = group.query;
  origin->members = group.members.size();
  origin->call = batch.call;
  return origin;
}

void ExternalProvider::HandOut(const Batch& batch, const RequestGroup& group,
                               const FreshResult& fresh, Answers& answers) {
  // Of those that do not have it yet.
  OriginPtr origin;
  absl::flat_hash_map<absl::string_view, std::vector<const Sample*>> by_value;
  bool indexed = false;
  for (const size_t i : group.members) {
    const ExternalMetricRequest& request = *batch.requests[i];
    const GroupOrigin* const known = LastOriginOf(request);
    if (known != nullptr && fresh.mark == known->mark && known->label == group.label) {
      ExternalMetricList same;
      same.repeated = SameAs(request.repeat->origin, fresh);
      answers[i] = std::move(same);
      continue;
    }
    if (!std::exchange(indexed, true)) {
      if (fresh.mark.has_value()) origin = OriginOf(batch, group, *fresh.mark);
      for (const Sample& sample : fresh.result->samples) {
        by_value[group.label.empty() ? "" : LabelValue(sample.labels, group.label)].push_back(
            &sample);
      }
    }
    const absl::string_view value =
        group.label.empty() ? absl::string_view() : ValueOf(request, group.label);
    answers[i] = Answer(request, fresh, by_value[value]);
    if (!answers[i].ok()) continue;
    answers[i]->freshness = {fresh.fresh_until, batch.epoch, fresh.refresh_at};
    if (request.repeat.has_value()) answers[i]->repeated.origin = origin;
  }
}

absl::StatusOr<ExternalMetricList> ExternalProvider::Answer(
    const ExternalMetricRequest& request, const FreshResult& fresh,
    absl::Span<const Sample* const> samples) {
  using Type = QueryResult::Type;
  const QueryResult& result = *fresh.result;
  if (result.type == Type::kString) {
    return FetchFailure(answering_, request.metric,
                        absl::InternalError("the query's result is a string"));
  }
  if (result.type == Type::kMatrix) {
    return absl::UnknownError("encountered an unexpected query result type");
  }
  const bool scalar = result.type == Type::kScalar;
  if (result.null_result) {
    return absl::UnknownError(absl::StrCat("the provided input did not contain ",
                                           scalar ? "scalar" : "vector", " query results"));
  }
  ExternalMetricList list;
  list.metric = request.metric;
  list.items.reserve(samples.size());
  for (const Sample* sample : samples) {
    const std::optional<int64_t> milli =
        answering_.values.ToMilli(sample->value, "external", request.metric);
    if (!milli) continue;
    list.items.push_back({.labels = scalar ? std::nullopt : std::optional<LabelSet>(sample->labels),
                          .timestamp = WholeSeconds(fresh.TimeOf(*sample)),
                          .value_milli = *milli});
  }
  return list;
}

std::shared_ptr<const std::vector<std::string>> ExternalProvider::ListAll() const {
  return answering_.registry.registry()->external_list();
}

// No object plays a part.
uint64_t ExternalProvider::Epoch() const { return answering_.registry.generation(); }

}  // namespace flyball::adapter
