#include "adapter/queries/query_batcher.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "adapter/queries/object_group.h"
#include "base/joined_key.h"
#include "base/status_macros.h"

namespace flyball::adapter {
namespace {

// More than any name in a cluster has.
constexpr size_t kLongestMerged = 253;

// This many queries in a row without an answer cannot be the fault of some objects: asking for each
// object alone would only send many more queries to a server that answers none.
constexpr size_t kSeemsDown = 8;

// Whether one query may ask for this object together with others. A name that no object has, which
// Prometheus may refuse or take long for, is asked for alone, so that only it fails.
bool MayBeMerged(absl::string_view name) {
  return name.size() <= kLongestMerged && std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' ||
                  c == '_' || c == ':';
         });
}

// Identifies all of the question but the names. The group keeps the rule and the mapper alive, so
// their addresses are unique while the key is in use.
std::string GroupKey(const ObjectQuestion& question) {
  const rules::ObjectQueryArgs& args = question.args;
  std::string key =
      absl::StrCat(absl::Hex(reinterpret_cast<uintptr_t>(question.rule.get())), ":",
                   absl::Hex(reinterpret_cast<uintptr_t>(question.mapper.get())), ":",
                   JoinedKey(args.series, args.resource.resource, args.resource.group),
                   args.ns ? JoinedKey("ns", *args.ns) : "root");
  for (const kube::Requirement& requirement : args.selector) {
    // `==` and `=` make the same matcher.
    const kube::Operator op =
        requirement.op == kube::Operator::kDoubleEquals ? kube::Operator::kEquals : requirement.op;
    absl::StrAppend(&key, static_cast<int>(op), ":", requirement.values.size(), ":");
    AppendKeyPart(requirement.key, &key);
    for (const std::string& value : requirement.values) AppendKeyPart(value, &key);
  }
  return key;
}

BatcherOptions OptionsFor(const MetricSource& source, BatcherOptions options) {
  options.merge = options.merge && !source.TellsOfSamples();
  return options;
}

}  // namespace

QueryBatcher::QueryBatcher(MetricSource& source, Clock& clock, BatcherOptions options,
                           QueryObserver* observer)
    : clock_(clock),
      options_(OptionsFor(source, options)),
      observer_(observer),
      flights_(source, clock, options.flights, observer) {}

QueryBatcher::~QueryBatcher() = default;

absl::StatusOr<ObjectAnswer> QueryBatcher::QueryObjects(const ObjectQuestion& question,
                                                        MonotonicTime deadline) {
  const std::vector<std::string>& names = question.args.names;
  if (options_.merge && question.rule->shape.separates_objects &&
      std::all_of(names.begin(), names.end(), MayBeMerged)) {
    if (const std::shared_ptr<ObjectGroup> group = GroupOf(question)) {
      return group->Ask(names, deadline, question.max_age);
    }
  }
  return QueryAlone(question, deadline);
}

absl::StatusOr<FreshResult> QueryBatcher::AskSource(const rules::CompiledRule& rule,
                                                    absl::string_view promql,
                                                    MonotonicTime deadline,
                                                    absl::Duration max_age) {
  absl::StatusOr<FreshResult> fresh = flights_.Query(promql, deadline, max_age, rule.source);
  if (fresh.ok()) NoteAnswer(rule, promql, *fresh);
  return fresh;
}

bool QueryBatcher::SeemsDown() const { return flights_.unanswered() >= kSeemsDown; }

absl::StatusOr<ObjectAnswer> QueryBatcher::QueryAlone(const ObjectQuestion& question,
                                                      MonotonicTime deadline) {
  ASSIGN_OR_RETURN(const std::string promql,
                   question.rule->ObjectQuery(question.args, *question.mapper));
  ASSIGN_OR_RETURN(const std::string label, question.rule->mapping.LabelOfResource(
                                                question.args.resource, *question.mapper));
  ASSIGN_OR_RETURN(const FreshResult fresh,
                   AskSource(*question.rule, promql, deadline, question.max_age));
  ASSIGN_OR_RETURN(const auto values, ValuesByLabel(*fresh.result, label));
  ObjectAnswer answer;
  answer.freshness = fresh.freshness;
  answer.values.reserve(question.args.names.size());
  for (const std::string& name : question.args.names) {
    const auto value = values.find(name);
    answer.values.push_back(value == values.end() ? std::nullopt : std::optional(value->second));
  }
  return answer;
}

std::shared_ptr<QueryBatcher::ObjectGroup> QueryBatcher::GroupOf(const ObjectQuestion& question) {
  std::string key = GroupKey(question);
  const auto groups = groups_.Lock(absl::HashOf(key));
  if (const auto known = groups->find(key); known != groups->end()) return known->second;
  if (groups->size() >= options_.max_groups / groups_.size()) return nullptr;
  if (group_bytes_ + key.size() > options_.max_group_bytes) return nullptr;
  auto group = std::make_shared<ObjectGroup>(question, key.size(), *this);
  groups->emplace(std::move(key), group);
  return group;
}

void QueryBatcher::Sweep() {
  flights_.Sweep();
  const MonotonicTime now = clock_.MonotonicNow();
  groups_.ForEach([now](Groups& groups) {
    absl::erase_if(groups, [now](const auto& entry) { return entry.second->Sweep(now); });
  });
}

}  // namespace flyball::adapter
