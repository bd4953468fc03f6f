// One group of the query batcher: the objects of one kind that one query can ask for together.
//
// Thread-safe. Its lock is not held while a query is under way. query_batcher.h says what is merged
// and why. SingleFlight (base/) does not fit here: a caller that asks for some names joins a query
// for more of them, and names gather for the next query while one is under way.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "adapter/queries/names_room.h"
#include "adapter/queries/query_batcher.h"

namespace flyball::adapter {

class QueryBatcher::ObjectGroup {
 public:
  // `question` gives all but the names; its key has key_bytes. The group keeps the rule and the
  // mapper alive.
  ObjectGroup(const ObjectQuestion& question, size_t key_bytes, QueryBatcher& batcher);
  ~ObjectGroup();

  absl::StatusOr<ObjectAnswer> Ask(const std::vector<std::string>& names, MonotonicTime deadline,
                                   absl::Duration max_age);

  // Forgets objects that nobody asks for. Whether nothing was asked for a while, and nothing is
  // under way.
  bool Sweep(MonotonicTime now);

 private:
  // One query for several objects. The names do not change once it was sent.
  struct Flight {
    absl::btree_set<std::string> names;
    size_t room = 0;  // taken by the names
    bool done = false;
    absl::Status status;
    bool ask_apart = false;  // it failed, perhaps because of some of its objects
    absl::flat_hash_map<std::string, double> values;
    absl::Duration max_age = absl::InfiniteDuration();  // the smallest that a caller wants
    MonotonicTime sent;
    Freshness freshness;
  };
  struct Object {
    MonotonicTime asked;  // last time
    MonotonicTime sent;   // when the query that gave the value was sent
    Freshness freshness;
    std::optional<double> value;
    MonotonicTime apart_until;  // not merged until then, since a query failed
  };

  // All values, if each is still fresh; nullopt if any is missing.
  std::optional<ObjectAnswer> FromFresh(const std::vector<std::string>& names, MonotonicTime now,
                                        absl::Duration max_age)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A flight under way that asks for all of `names`, or nullptr.
  std::shared_ptr<Flight> UnderWay(const std::vector<std::string>& names) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  // Whether these objects may be merged with others.
  bool MayShare(const std::vector<std::string>& names, MonotonicTime now) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  // To be called after a query for these objects with that timeout: determines whether the source
  // seems to be down, and whether each object is asked for alone from now on, which is returned.
  template <typename Names>
  bool NoteOutcome(const Names& names, const absl::Status& outcome, absl::Duration given)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Object& Known(const std::string& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether there is room to remember more, or all of these are known.
  bool MayKnow(const std::vector<std::string>& names) ABSL_LOCKS_EXCLUDED(mutex_);
  void Forget(MonotonicTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A query of its own for this caller, when it is its turn.
  absl::StatusOr<ObjectAnswer> AskApart(const std::vector<std::string>& names,
                                        MonotonicTime deadline, absl::Duration max_age)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether to return `fresh`; false: this caller is to ask anew, before it is out of date.
  bool IsGoodEnough(const ObjectAnswer& fresh, const std::vector<std::string>& names,
                    MonotonicTime now) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  // Adds the names to the flight that is gathering and returns it; or returns a new flight, which
  // the caller must fly (`lead`).
  std::shared_ptr<Flight> Gather(const std::vector<std::string>& names, absl::Duration max_age,
                                 bool& lead) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds the names that the flight lacks. Unless `anyway`, adds none and returns false if they are
  // too many or too long.
  bool AddNames(absl::Span<const std::string> names, bool anyway, Flight& flight) const;
  // Reports the group's present memory to the batcher.
  void CountBytes() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Leaves out objects of another flight and those that are asked for alone.
  void AddRecentlyAsked(Flight& flight, MonotonicTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits until the gathering ends, then asks the source.
  void Fly(const std::shared_ptr<Flight>& flight, MonotonicTime deadline)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Land(const std::shared_ptr<Flight>& flight, const absl::StatusOr<FreshResult>& result,
            absl::Duration given) ABSL_LOCKS_EXCLUDED(mutex_);

  const ObjectQuestion template_;  // args.names is empty
  const absl::StatusOr<std::string> label_;
  const size_t own_bytes_;
  const NamesRoom room_;
  QueryBatcher& batcher_;
  // Objects that were asked for within this time are refreshed together with the others.
  const absl::Duration recent_;

  absl::Mutex mutex_;
  size_t counted_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<std::string, Object> objects_ ABSL_GUARDED_BY(mutex_);
  size_t name_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of their names
  std::vector<std::shared_ptr<Flight>> under_way_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<Flight> gathering_ ABSL_GUARDED_BY(mutex_);
  size_t asking_apart_ ABSL_GUARDED_BY(mutex_) = 0;  // callers that are asking alone
  absl::Status last_failure_ ABSL_GUARDED_BY(mutex_);
  MonotonicTime failure_until_ ABSL_GUARDED_BY(mutex_);
  MonotonicTime apart_until_ ABSL_GUARDED_BY(mutex_);  // a merged query was refused
  MonotonicTime used_ ABSL_GUARDED_BY(mutex_);
};

// The last sample of each object that has the label.
absl::StatusOr<absl::flat_hash_map<std::string, double>> ValuesByLabel(const QueryResult& result,
                                                                       absl::string_view label);

}  // namespace flyball::adapter
