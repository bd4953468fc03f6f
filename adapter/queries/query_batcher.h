// Merges questions about objects that differ only in the objects' names into one query.
//
// A group is one rule, series, resource, namespace and metric selector. While a query of the group
// is under way, other questions gather for a few milliseconds and go out together. Objects that are
// asked for again and again are refreshed together, so that any number of callers that each poll
// one object cost one query for each `freshness`, and hardly any of them waits for it
// (query_flights.h). A question that comes while the group is idle goes out at once.
//
// Merging needs a rule whose template is known to treat each object separately
// (rules/query_shape.h). For other rules, and with merge off, each question is a query of its own.
//
// Thread-safe; no threads of its own. A group's lock is never held while the source is asked; the
// groups are found in a striped map.
//
// Values are kept for each object: of several samples with an object's label value, the last one.
// Each caller waits until its own deadline.
//
// One object's failure does not fail the others. If a merged query fails or takes too long, each
// caller that has time left asks alone, and for a minute each of its objects is asked for alone,
// unless it is answered earlier. A merged query that is refused, perhaps because a proxy finds it
// too long, is also asked for each caller alone, and for a minute nothing is merged in its group.
// Only a few callers of a group ask alone at once while the source has not answered the last query;
// the others wait for their turn. If the source seems to be down, since no query was answered for a
// while, a failure reaches all callers that wait for the query, and is returned to all callers of
// the group for FlightOptions::error_reuse. A query with hardly any time left says nothing about
// the source or the objects.
//
// Limits: max_names and max_url_bytes of a merged query (a single question may ask for more);
// max_groups, and about max_group_bytes of them, beyond which questions of new groups or for new
// objects are not merged; objects not asked for recently are forgotten.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "adapter/queries/query_flights.h"
#include "base/freshness.h"
#include "base/striped.h"
#include "rules/compiled_rules.h"

namespace flyball::adapter {

struct BatcherOptions {
  FlightOptions flights = {};
  bool merge = true;
  absl::Duration gather = absl::Milliseconds(5);
  size_t max_names = 100;
  size_t max_url_bytes = 0;  // for a merged query that is part of a URL; 0: no limit
  size_t max_groups = 4096;
  size_t max_group_bytes = 6 << 20;
};

// A question about some objects of one kind.
struct ObjectQuestion {
  std::shared_ptr<const rules::CompiledRule> rule;
  std::shared_ptr<const kube::RestMapper> mapper;
  rules::ObjectQueryArgs args;                        // names sorted, without repeats, not empty
  absl::Duration max_age = absl::InfiniteDuration();  // of the answer, if below freshness
};

// Records a rule's last query and its outcome, for /debug/rules.
inline void NoteAnswer(const rules::CompiledRule& rule, absl::string_view promql,
                       const FreshResult& fresh) {
  rule.last_answer.Note(promql, fresh.result->source, fresh.result->samples.size(), fresh.took,
                        fresh.sent);
}

struct ObjectAnswer {
  std::vector<std::optional<double>> values;  // beside args.names; nullopt: no sample
  Freshness freshness;                        // without an epoch
};

class QueryBatcher {
 public:
  // How long questions whose query failed are not merged with others.
  static constexpr absl::Duration kApart = absl::Minutes(1);

  // All outlive this; `observer` may be nullptr. Queries to a source that reports samples are not
  // merged: a sample of one object would cause a query for all objects.
  QueryBatcher(MetricSource& source, Clock& clock, BatcherOptions options, QueryObserver* observer);
  ~QueryBatcher();

  //   kNotFound            the rule has no query for this; the text is the rule's
  //   kFailedPrecondition  the answer is not a vector
  // All other errors are the source's.
  absl::StatusOr<ObjectAnswer> QueryObjects(const ObjectQuestion& question, MonotonicTime deadline);

  // Sends one query unchanged to the chosen source.
  absl::StatusOr<FreshResult> Query(absl::string_view promql, MonotonicTime deadline,
                                    rules::SourceChoice choice) {
    return flights_.Query(promql, deadline, absl::InfiniteDuration(), choice);
  }
  absl::StatusOr<StandingResult> Ask(StandingQuery& query, MonotonicTime deadline) {
    return flights_.Ask(query, deadline);
  }

  // Whether questions may share a query.
  bool merges() const { return options_.merge; }
  size_t max_names() const { return options_.max_names; }
  size_t max_url_bytes() const { return options_.max_url_bytes; }
  // Whether the source has answered none of the last queries: then it causes the failures.
  bool SeemsDown() const;
  // Whether a query for several things, with that timeout, may have failed because of its size: it
  // was refused, or it failed although the source answers other queries.
  bool MayBeForItsSize(const absl::Status& failure, absl::Duration given) const {
    return absl::IsInvalidArgument(failure) || (IsOfTheServer(failure, given) && !SeemsDown());
  }
  // The approximate memory of the groups.
  size_t group_bytes() const { return group_bytes_; }

  // Forgets what is out of date; to be called every few seconds.
  void Sweep();

 private:
  class ObjectGroup;
  using Groups = absl::flat_hash_map<std::string, std::shared_ptr<ObjectGroup>>;

  // Sends the query and records the outcome.
  absl::StatusOr<FreshResult> AskSource(const rules::CompiledRule& rule, absl::string_view promql,
                                        MonotonicTime deadline, absl::Duration max_age);
  absl::StatusOr<ObjectAnswer> QueryAlone(const ObjectQuestion& question, MonotonicTime deadline);
  // nullptr: there are too many.
  std::shared_ptr<ObjectGroup> GroupOf(const ObjectQuestion& question);

  Clock& clock_;
  const BatcherOptions options_;
  QueryObserver* const observer_;
  QueryFlights flights_;
  std::atomic<size_t> group_bytes_ = 0;  // approximate, of all groups
  Striped<Groups> groups_;               // last, since groups use the members above
};

}  // namespace flyball::adapter
