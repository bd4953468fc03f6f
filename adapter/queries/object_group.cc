#include "adapter/queries/object_group.h"

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"

namespace flyball::adapter {
namespace {

// A group that nobody asked for this long is forgotten.
constexpr absl::Duration kIdleAfter = absl::Seconds(30);

// How many callers may ask alone at once while the source has not answered the last query: if the
// source hangs, each caller would otherwise send it another query.
constexpr size_t kApartAtOnce = 8;

// The key itself and the selector that it was made from, each part of which has a string of its
// own.
constexpr size_t kForEachKeyByte = 8;

ObjectQuestion WithoutNames(const ObjectQuestion& question) {
  ObjectQuestion copy = question;
  copy.args.names.clear();
  return copy;
}

ObjectQuestion WithNames(ObjectQuestion question, std::vector<std::string> names) {
  question.args.names = std::move(names);
  return question;
}

}  // namespace

absl::StatusOr<absl::flat_hash_map<std::string, double>> ValuesByLabel(const QueryResult& result,
                                                                       absl::string_view label) {
  if (result.type != QueryResult::Type::kVector) {
    return absl::FailedPreconditionError("the query's result is not an instant vector");
  }
  absl::flat_hash_map<std::string, double> values;
  values.reserve(result.samples.size());
  for (const Sample& sample : result.samples) {
    values[LabelValue(sample.labels, label)] = sample.value;
  }
  return values;
}

QueryBatcher::ObjectGroup::ObjectGroup(const ObjectQuestion& question, size_t key_bytes,
                                       QueryBatcher& batcher)
    : template_(WithoutNames(question)),
      label_(question.rule->mapping.LabelOfResource(question.args.resource, *question.mapper)),
      own_bytes_(sizeof(ObjectGroup) + kForEachKeyByte * key_bytes),
      room_(batcher.options_.max_url_bytes,
            [this](const std::vector<std::string>& names) {
              const ObjectQuestion asked = WithNames(template_, names);
              return asked.rule->ObjectQuery(asked.args, *asked.mapper);
            }),
      batcher_(batcher),
      recent_(2 * batcher.options_.flights.freshness) {
  absl::MutexLock lock(&mutex_);
  used_ = batcher_.clock_.MonotonicNow();
  CountBytes();
}

QueryBatcher::ObjectGroup::~ObjectGroup() { batcher_.group_bytes_ -= counted_bytes_; }

void QueryBatcher::ObjectGroup::CountBytes() {
  const size_t bytes =
      own_bytes_ + objects_.capacity() * (sizeof(std::string) + sizeof(Object)) + name_bytes_;
  batcher_.group_bytes_ += bytes - counted_bytes_;
  counted_bytes_ = bytes;
}

absl::StatusOr<ObjectAnswer> QueryBatcher::ObjectGroup::Ask(const std::vector<std::string>& names,
                                                            MonotonicTime deadline,
                                                            absl::Duration max_age) {
  if (!label_.ok()) return label_.status();
  if (!MayKnow(names)) {
    ObjectQuestion question = WithNames(template_, names);
    question.max_age = max_age;
    return batcher_.QueryAlone(question, deadline);
  }
  while (true) {
    std::shared_ptr<Flight> flight;
    bool lead = false;
    std::optional<ObjectAnswer> fresh;
    {
      absl::MutexLock lock(&mutex_);
      const MonotonicTime now = batcher_.clock_.MonotonicNow();
      used_ = now;
      fresh = FromFresh(names, now, max_age);
      if (fresh && IsGoodEnough(*fresh, names, now)) return *std::move(fresh);
      if (now < failure_until_) return last_failure_;
      if (MayShare(names, now)) {
        flight = UnderWay(names);
        if (flight == nullptr) flight = Gather(names, max_age, lead);
      }
    }
    const auto still_fresh = [&] {
      return fresh && fresh->freshness.HoldsAt(batcher_.clock_.MonotonicNow());
    };
    if (flight == nullptr) {
      absl::StatusOr<ObjectAnswer> apart = AskApart(names, deadline, max_age);
      if (!apart.ok() && still_fresh()) return *std::move(fresh);
      return apart;
    }
    if (lead) Fly(flight, deadline);

    {
      absl::MutexLock lock(&mutex_);
      if (!batcher_.clock_.Await(mutex_, absl::Condition(&flight->done), deadline)) {
        return absl::DeadlineExceededError("a query under way for the same objects took too long");
      }
    }
    // Nobody writes it any more.
    if (!flight->status.ok()) {
      if (still_fresh()) return *std::move(fresh);
      // The cause may be another object, or the deadline of the caller that asked.
      const bool of_others = (flight->names.size() > names.size() && flight->ask_apart) ||
                             (!lead && absl::IsDeadlineExceeded(flight->status));
      if (of_others && batcher_.clock_.MonotonicNow() < deadline) continue;
      return flight->status;
    }
    ObjectAnswer answer;
    answer.freshness = flight->freshness;
    answer.values.reserve(names.size());
    for (const std::string& name : names) {
      const auto value = flight->values.find(name);
      answer.values.push_back(value == flight->values.end() ? std::nullopt
                                                            : std::optional(value->second));
    }
    return answer;
  }
}

absl::StatusOr<ObjectAnswer> QueryBatcher::ObjectGroup::AskApart(
    const std::vector<std::string>& names, MonotonicTime deadline, absl::Duration max_age) {
  ObjectQuestion question = WithNames(template_, names);
  question.max_age = max_age;
  absl::Duration given;
  {
    absl::MutexLock lock(&mutex_);
    const auto may_ask = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return asking_apart_ < kApartAtOnce;
    };
    if (batcher_.flights_.unanswered() != 0 &&
        !batcher_.clock_.Await(mutex_, absl::Condition(&may_ask), deadline)) {
      return absl::DeadlineExceededError("queries for other objects of the rule took too long");
    }
    const MonotonicTime now = batcher_.clock_.MonotonicNow();
    if (now < failure_until_) return last_failure_;
    given = deadline - now;
    ++asking_apart_;
  }
  const absl::Cleanup asked = [this] {
    absl::MutexLock lock(&mutex_);
    --asking_apart_;
  };
  absl::StatusOr<ObjectAnswer> answer = batcher_.QueryAlone(question, deadline);
  absl::MutexLock lock(&mutex_);
  NoteOutcome(names, answer.status(), given);
  return answer;
}

bool QueryBatcher::ObjectGroup::MayShare(const std::vector<std::string>& names,
                                         MonotonicTime now) const {
  const auto is_apart = [&](const std::string& name) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const auto known = objects_.find(name);
    return known != objects_.end() && now < known->second.apart_until;
  };
  return now >= apart_until_ && std::none_of(names.begin(), names.end(), is_apart);
}

template <typename Names>
bool QueryBatcher::ObjectGroup::NoteOutcome(const Names& names, const absl::Status& outcome,
                                            absl::Duration given) {
  const MonotonicTime now = batcher_.clock_.MonotonicNow();
  const bool of_server = IsOfTheServer(outcome, given);
  const bool down = of_server && batcher_.SeemsDown();
  if (down && absl::IsUnavailable(outcome)) {
    last_failure_ = outcome;
    failure_until_ =
        now + std::min(batcher_.options_.flights.error_reuse, batcher_.options_.flights.freshness);
  }
  // A refusal of a query for several objects may be due to their number.
  const bool refused = absl::IsInvalidArgument(outcome) && names.size() == 1;
  const bool apart = refused || (of_server && !down);
  for (const std::string& name : names) {
    if (apart) {
      Known(name).apart_until = now + kApart;
    } else if (const auto known = objects_.find(name); outcome.ok() && known != objects_.end()) {
      known->second.apart_until = absl::ZeroDuration();
    }
  }
  CountBytes();
  return apart;
}

QueryBatcher::ObjectGroup::Object& QueryBatcher::ObjectGroup::Known(const std::string& name) {
  const auto [known, fresh] = objects_.try_emplace(name);
  if (fresh) name_bytes_ += name.size();
  return known->second;
}

bool QueryBatcher::ObjectGroup::MayKnow(const std::vector<std::string>& names) {
  if (batcher_.group_bytes_ <= batcher_.options_.max_group_bytes) return true;
  absl::MutexLock lock(&mutex_);
  const auto is_known = [this](const std::string& name) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return objects_.contains(name);
  };
  return std::all_of(names.begin(), names.end(), is_known);
}

void QueryBatcher::ObjectGroup::Forget(MonotonicTime now) {
  absl::erase_if(objects_, [&](const auto& entry) {
    const bool forgotten = now - entry.second.asked > recent_ && now >= entry.second.apart_until;
    if (forgotten) name_bytes_ -= entry.first.size();
    return forgotten;
  });
  constexpr size_t kWorthIt = 1000;
  if (objects_.capacity() > kWorthIt && objects_.size() < objects_.capacity() / 4) {
    objects_.rehash(0);
  }
}

std::optional<ObjectAnswer> QueryBatcher::ObjectGroup::FromFresh(
    const std::vector<std::string>& names, MonotonicTime now, absl::Duration max_age) {
  if (recent_ <= absl::ZeroDuration()) return std::nullopt;
  ObjectAnswer answer;
  answer.freshness = Freshness::Forever();
  answer.values.reserve(names.size());
  bool all_fresh = true;
  for (const std::string& name : names) {
    Object& object = Known(name);
    object.asked = now;
    all_fresh = all_fresh && object.freshness.HoldsAt(now) && now - object.sent <= max_age;
    answer.freshness.Add(object.freshness);
    answer.values.push_back(object.value);
  }
  if (all_fresh) return answer;
  CountBytes();
  return std::nullopt;
}

bool QueryBatcher::ObjectGroup::IsGoodEnough(const ObjectAnswer& fresh,
                                             const std::vector<std::string>& names,
                                             MonotonicTime now) const {
  const bool asked_anew = gathering_ != nullptr || UnderWay(names) != nullptr;
  if (fresh.freshness.IsDueAt(now) && !asked_anew && now >= failure_until_) return false;
  if (batcher_.observer_ != nullptr) batcher_.observer_->OnObjects(0, names.size());
  return true;
}

std::shared_ptr<QueryBatcher::ObjectGroup::Flight> QueryBatcher::ObjectGroup::UnderWay(
    const std::vector<std::string>& names) const {
  for (const auto& flight : under_way_) {
    if (std::all_of(names.begin(), names.end(),
                    [&](const std::string& name) { return flight->names.contains(name); })) {
      return flight;
    }
  }
  return nullptr;
}

bool QueryBatcher::ObjectGroup::AddNames(absl::Span<const std::string> names, bool anyway,
                                         Flight& flight) const {
  size_t room = flight.room;
  for (const std::string& name : names) {
    if (!flight.names.contains(name)) room += room_.Of(name);
  }
  if (!anyway &&
      (flight.names.size() + names.size() > batcher_.options_.max_names || room > room_.bytes())) {
    return false;
  }
  flight.room = room;
  flight.names.insert(names.begin(), names.end());
  return true;
}

std::shared_ptr<QueryBatcher::ObjectGroup::Flight> QueryBatcher::ObjectGroup::Gather(
    const std::vector<std::string>& names, absl::Duration max_age, bool& lead) {
  if (gathering_ != nullptr && AddNames(names, /*anyway=*/false, *gathering_)) {
    gathering_->max_age = std::min(gathering_->max_age, max_age);
    return gathering_;
  }
  lead = true;
  auto flight = std::make_shared<Flight>();
  AddNames(names, /*anyway=*/true, *flight);
  flight->max_age = max_age;
  // If another flight is gathering and full, this one leaves at once.
  if (!under_way_.empty() && gathering_ == nullptr) gathering_ = flight;
  return flight;
}

void QueryBatcher::ObjectGroup::AddRecentlyAsked(Flight& flight, MonotonicTime now) {
  for (const auto& [name, object] : objects_) {
    if (now - object.asked > recent_ || now < object.apart_until || flight.names.contains(name)) {
      continue;
    }
    // What is being asked for may be what takes long.
    if (std::any_of(under_way_.begin(), under_way_.end(),
                    [&](const auto& other) { return other->names.contains(name); })) {
      continue;
    }
    if (!AddNames(absl::MakeConstSpan(&name, 1), /*anyway=*/false, flight)) return;
  }
}

void QueryBatcher::ObjectGroup::Fly(const std::shared_ptr<Flight>& flight, MonotonicTime deadline) {
  // An exception, for lack of memory, must not leave others waiting for ever.
  const absl::Cleanup ended = [&] {
    absl::MutexLock lock(&mutex_);
    if (flight->done) return;
    flight->status = absl::InternalError("the query was broken off");
    flight->done = true;
    std::erase(under_way_, flight);
    if (gathering_ == flight) gathering_ = nullptr;
  };
  ObjectQuestion question = template_;
  absl::Duration max_age;
  {
    absl::MutexLock lock(&mutex_);
    if (gathering_ == flight) {
      const auto all_landed = [this]()
                                  ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return under_way_.empty(); };
      const MonotonicTime gathered = batcher_.clock_.MonotonicNow() + batcher_.options_.gather;
      batcher_.clock_.Await(mutex_, absl::Condition(&all_landed), std::min(gathered, deadline));
      gathering_ = nullptr;
    }
    AddRecentlyAsked(*flight, batcher_.clock_.MonotonicNow());
    under_way_.push_back(flight);
    max_age = flight->max_age;
    question.args.names.assign(flight->names.begin(), flight->names.end());
  }
  if (batcher_.observer_ != nullptr) batcher_.observer_->OnObjects(question.args.names.size(), 0);
  const absl::StatusOr<std::string> promql =
      question.rule->ObjectQuery(question.args, *question.mapper);
  if (!promql.ok()) {
    Land(flight, promql.status(), absl::ZeroDuration());
  } else {
    const absl::Duration given = deadline - batcher_.clock_.MonotonicNow();
    Land(flight, batcher_.AskSource(*question.rule, *promql, deadline, max_age), given);
  }
}

void QueryBatcher::ObjectGroup::Land(const std::shared_ptr<Flight>& flight,
                                     const absl::StatusOr<FreshResult>& result,
                                     absl::Duration given) {
  absl::StatusOr<absl::flat_hash_map<std::string, double>> values =
      result.ok() ? ValuesByLabel(*result->result, *label_) : result.status();

  absl::MutexLock lock(&mutex_);
  const MonotonicTime now = batcher_.clock_.MonotonicNow();
  flight->status = values.status();
  std::erase(under_way_, flight);
  Forget(now);
  flight->ask_apart = NoteOutcome(flight->names, values.status(), given);
  if (!values.ok()) {
    if (absl::IsInvalidArgument(values.status()) && flight->names.size() > 1) {
      flight->ask_apart = true;
      apart_until_ = now + kApart;
    }
    flight->done = true;
    return;
  }
  flight->values = *std::move(values);
  flight->sent = result->sent;
  flight->freshness = result->freshness;
  for (const std::string& name : flight->names) {
    const auto object = objects_.find(name);
    if (object == objects_.end()) continue;
    object->second.sent = flight->sent;
    object->second.freshness = flight->freshness;
    const auto value = flight->values.find(name);
    object->second.value =
        value == flight->values.end() ? std::nullopt : std::optional(value->second);
  }
  flight->done = true;  // last: what throws before leaves the failure to Fly
}

bool QueryBatcher::ObjectGroup::Sweep(MonotonicTime now) {
  absl::MutexLock lock(&mutex_);
  Forget(now);
  CountBytes();
  return under_way_.empty() && gathering_ == nullptr && now - used_ > kIdleAfter;
}

}  // namespace flyball::adapter
