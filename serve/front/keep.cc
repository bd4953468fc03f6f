// The keeper of serve_front.h, which updates the front's services from the cluster.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "kube/objects/builtin_resources.h"
#include "scaler/front/hosts/service_name.h"
#include "scaler/spec/document.h"
#include "scaler/spec/own_spec.h"
#include "scaler/stores/autoscaler_store.h"
#include "scaler/triggers/types/trigger_types.h"
#include "serve/front/list_objects.h"
#include "serve/front/serve_front.h"

namespace flyball::serve {
namespace {

using nlohmann::json;
using scaler::Node;

constexpr absl::Duration kPause = absl::Seconds(1);
// How many services are checked again between two searches for new ones, which must not wait until
// all others have been updated to a change of the Envoys.
constexpr size_t kLooksAtOnce = 100;
constexpr absl::Duration kListenAgain = absl::Seconds(5);
// The pause while the services can't be listed. It is short, since the Envoys wait for the list.
constexpr absl::Duration kLongestListPause = absl::Seconds(5);
constexpr absl::Duration kTakeOver = absl::Seconds(10);
// How often a service that was expected and has not come is looked for.
constexpr absl::Duration kLookForMissing = absl::Seconds(30);
// After this time services that cannot be carried do not delay the others any more. It counts from
// when all services are listed, which is late in a standby replica or without an API server, and
// anew from each that is known: one that is only slow to come stays in the Envoys as it was, but
// gets no new pods.
constexpr absl::Duration kLongestStart = absl::Seconds(60);
// The same for a service whose target does not exist, or may not be read, for that long. It is not
// shorter since an API server that has just started may not know all kinds and rights yet.
constexpr absl::Duration kLongestAstray = absl::Seconds(5);

// nullptr: it is none, or has no such member.
const Node* Find(const Node* map, absl::string_view key) {
  return map == nullptr ? nullptr : map->Find(key);
}

bool HasHttpTrigger(const Node& object) {
  const Node* const triggers = Find(object.Find("spec"), "triggers");
  return triggers != nullptr &&
         std::any_of(triggers->items.begin(), triggers->items.end(), [](const Node& trigger) {
           return trigger.FindText("type") == scaler::kHttpTrigger;
         });
}

// Whether the loop will carry it, which it does not if anything is wrong with it.
bool WillBeCarried(absl::string_view json_text) {
  const scaler::ManagedPtr managed = scaler::ReadManaged(scaler::AutoscalerKind::kOwn, json_text);
  if (managed == nullptr || !managed->refused.empty()) return false;
  scaler::TriggerContext context;
  context.ns = managed->key.ns;
  context.autoscaler = managed->key.name;
  context.target = managed->autoscaler.scale_target;
  context.min_replicas = managed->autoscaler.min_or_default();
  context.max_replicas = managed->autoscaler.max_replicas;
  const std::vector<scaler::TriggerSpec>& triggers = managed->own.triggers;
  return std::any_of(triggers.begin(), triggers.end(), [&](const scaler::TriggerSpec& trigger) {
    return trigger.type == scaler::kHttpTrigger && scaler::MakeTrigger(trigger, context).ok();
  });
}

// The port in its status; nullopt: none, or none that is possible.
std::optional<uint16_t> PortOf(const Node& object) {
  const Node* const port = Find(Find(object.Find("status"), "http"), "port");
  int number = 0;
  const bool read = port != nullptr && port->kind == Node::Kind::kNumber &&
                    absl::SimpleAtoi(port->text, &number) && number > 0 && number <= 65535;
  return read ? std::optional(static_cast<uint16_t>(number)) : std::nullopt;
}

// The routes that its status names.
front::HostRoutes HostsOf(const Node& object) {
  const auto list = [http = Find(object.Find("status"), "http")](absl::string_view key) {
    std::vector<std::string> texts;
    const Node* const items = Find(http, key);
    if (items == nullptr) return std::string();
    for (const Node& item : items->items) texts.push_back(item.text);
    return absl::StrJoin(texts, ",");
  };
  return front::ReadHostRoutes(list("hosts"), "", list("headers")).value_or(front::HostRoutes());
}

}  // namespace

ServeFront::Stock ServeFront::TakeStock(bool tries_again) const {
  const MonotonicTime now = deps_.clock.MonotonicNow();
  Stock stock;
  std::vector<std::string> late;
  std::vector<std::pair<MonotonicTime, std::string>> due;
  absl::MutexLock lock(&mutex_);
  for (const auto& [name, record] : records_) {
    if (record.claim == 0) {
      const MonotonicTime end = record.ended + kTakeOver;
      if (end <= now) {
        stock.ended.push_back(name);
        continue;
      }
      stock.next = std::min(stock.next, end);
    }
    const bool settled = record.port != 0 && record.problem.empty() && !record.changed &&
                         !record.WasMadeAnew() && record.FollowsItsPods();
    if (!settled) {
      if (!record.problem.empty() && !tries_again) continue;
      (record.added ? late : stock.unsettled).push_back(name);
    } else if (record.slices_due > now) {
      stock.next = std::min(stock.next, record.slices_due);
    } else if (serving_) {  // else nothing leads to the Envoys yet
      due.emplace_back(record.slices_due, name);
    }
  }
  stock.unsettled.insert(stock.unsettled.end(), late.begin(), late.end());
  stock.more = due.size() > kLooksAtOnce;
  std::sort(due.begin(), due.end());
  due.resize(std::min(due.size(), kLooksAtOnce));
  for (auto& [at, name] : due) stock.unsettled.push_back(std::move(name));
  return stock;
}

absl::Duration ServeFront::Keep() {
  // What has a problem is not tried in each of the passes that follow each other without a pause.
  const MonotonicTime now = deps_.clock.MonotonicNow();
  const bool tries_again = now >= next_try_;
  if (tries_again) next_try_ = now + kPause;
  BeginAnewIfReleased();
  const bool hosts_forgotten = tries_again && ForgetHosts();
  const bool forgotten = EmptySlices() && hosts_forgotten;
  if (!Listen()) return kPause;
  if (!KnowsServices()) return kPause;
  FollowEnvoys();
  GrantHosts();
  const Stock stock = TakeStock(tries_again);
  Remove(stock.ended);
  const bool all_came = ForgetMissing();
  size_t failures = 0;
  for (const std::string& name : stock.unsettled) {
    // Not only after the last one: without an answer of the API server each takes many seconds.
    if (IsReleased()) return absl::ZeroDuration();
    failed_ = false;
    Settle(name);
    failures += failed_ ? 1 : 0;
  }
  BeginServingIfComplete();
  const bool api_is_away = failures >= kLooksAtOnce;
  if (stock.more && !api_is_away) return absl::ZeroDuration();
  if (NobodyTells()) return kPause;
  const bool settled = forgotten && all_came && stock.unsettled.empty() && serving_ &&
                       (settings_.envoy_selector.empty() || envoys_followed_);
  // Any other reason for a service to need work wakes the keeper.
  return settled ? std::max(kPause, stock.next - deps_.clock.MonotonicNow()) : kPause;
}

void ServeFront::Settle(const std::string& name) {
  if (!WriteStatus(name)) return;
  FollowPods(name);
  LookAtService(name);
  AddOrChange(name);
  WriteSlices(name);
}

bool ServeFront::NobodyTells() const {
  absl::MutexLock lock(&mutex_);
  return std::none_of(records_.begin(), records_.end(),
                      [](const Records::value_type& each) { return each.second.tells; });
}

bool ServeFront::IsReleased() const {
  {
    absl::MutexLock lock(&mutex_);
    if (released_) return true;
  }
  return !deps_.may_write() && session()->data_path.is_set() && NobodyTells();
}

// If another replica owns the services now, this one leaves the Envoys without removing anything
// from them: they keep their resources and the requests that they hold.
void ServeFront::BeginAnewIfReleased() {
  if (!IsReleased()) return;
  std::shared_ptr<Session> old;
  std::vector<std::pair<std::string, std::string>> gone;  // with their namespaces
  {
    absl::MutexLock lock(&mutex_);
    const bool told = std::exchange(released_, false);
    old = std::exchange(session_, std::make_shared<Session>(*this));
    for (auto it = records_.begin(); it != records_.end();) {
      CarriedRecord& record = it->second;
      record.added = false;
      record.changed = true;
      record.port = 0;
      record.told_uid.clear();
      record.wish = 0;
      record.has_no_port = false;
      record.astray = absl::InfiniteDuration();
      record.led = false;
      record.tells = false;
      record.h2c.reset();
      if (!told) record.replicas.reset();  // as OnReleased does
      if (record.claim != 0) {
        ++it;
        continue;
      }
      gone.emplace_back(it->first, record.service.ns);
      it = records_.erase(it);
    }
  }
  old->data_path.Set(nullptr);
  for (const auto& [name, ns] : gone) pods_.Forget(name, ns);
  listed_ = serving_ = false;
  list_pause_ = next_list_ = absl::ZeroDuration();
  expected_.clear();
  had_hosts_.clear();
  told_ports_.clear();
  was_h2c_.clear();
  was_led_.clear();
  maybe_stale_.clear();
  ports_ = PortBook(settings_.first_port, settings_.last_port);
}

// Begins to listen for Envoys. They are ready only once they are told what there is, so this does
// not wait for the first service.
bool ServeFront::Listen() {
  const std::shared_ptr<Session> session = this->session();
  if (session->data_path.is_set()) return true;
  // A replica that decides without owning, as in mode Advise, is no place for Envoys.
  if (!deps_.may_write()) {
    absl::MutexLock lock(&mutex_);
    not_listening_ = std::string(NotOurs().message());
    return false;
  }
  const MonotonicTime now = deps_.clock.MonotonicNow();
  if (now < next_listen_) return false;
  absl::StatusOr<std::unique_ptr<front::DataPath>> path = deps_.listen(session->front);
  const std::string problem =
      path.ok() ? "no Envoy carries its requests yet"
                : absl::StrCat("Envoys can't be listened for: ", path.status().message());
  bool is_news = false;
  {
    absl::MutexLock lock(&mutex_);
    is_news = std::exchange(not_listening_, problem) != problem;
  }
  if (!path.ok()) {
    next_listen_ = now + kListenAgain;
    if (is_news) spdlog::error("front: {}", problem);
    return false;
  }
  session->data_path.Set(*std::move(path));
  return true;
}

// Whether the services that exist at the start are listed. After failures the pauses get longer.
bool ServeFront::KnowsServices() {
  if (listed_) return true;
  const MonotonicTime now = deps_.clock.MonotonicNow();
  if (now < next_list_) return false;
  const absl::Status status = ListServices();
  const std::string problem(status.message());
  if (std::exchange(list_problem_, problem) != problem) {
    status.ok() ? spdlog::info("front: the Autoscalers are known again")
                : spdlog::warn("front: the Autoscalers are not known: {}", problem);
  }
  listed_ = status.ok();
  list_pause_ =
      listed_ ? absl::ZeroDuration() : std::clamp(2 * list_pause_, kPause, kLongestListPause);
  next_list_ = now + list_pause_;
  return listed_;
}

// Lists them with their ports.
absl::Status ServeFront::ListServices() {
  std::vector<std::string> namespaces = settings_.namespaces;
  if (namespaces.empty()) namespaces.emplace_back();
  maybe_stale_.clear();
  for (const std::string& ns : namespaces) {
    RETURN_IF_ERROR(ListServicesIn(ns));
    RETURN_IF_ERROR(ListSlicesIn(ns));
  }
  progress_at_ = deps_.clock.MonotonicNow();
  return absl::OkStatus();
}

absl::Status ServeFront::ListServicesIn(const std::string& ns) {
  kube::ObjectWatchOptions all;
  all.resource = kube::ResourceNamed(scaler::kOwnGroup, scaler::kOwnVersion, scaler::kOwnPlural,
                                     scaler::kOwnKind);
  all.ns = ns;
  return ForEachObject(*server_, all, [this](absl::string_view object) { ListService(object); });
}

// An object that cannot be read is no Autoscaler, and is not waited for. One that cannot be carried
// keeps its port, but is not waited for either.
void ServeFront::ListService(absl::string_view json_text) {
  const absl::StatusOr<Node> object = scaler::ParseOneObject(json_text);
  if (!object.ok() || !HasHttpTrigger(*object)) return;
  const Node* const metadata = object->Find("metadata");
  if (metadata == nullptr || metadata->FindText("name").empty()) return;
  const std::string name =
      absl::StrCat(metadata->FindText("namespace"), "/", metadata->FindText("name"));
  if (WillBeCarried(json_text)) expected_.insert(name);
  if (const auto port = PortOf(*object); port.has_value() && ports_.Keep(name, *port)) {
    told_ports_[name] = {*port, std::string(metadata->FindText("uid"))};
  }
  if (front::HostRoutes had = HostsOf(*object); !had.empty()) had_hosts_[name] = std::move(had);
}

absl::Status ServeFront::PatchHttp(const std::string& name, absl::string_view what,
                                   const std::string& json) {
  const absl::string_view ns = front::NamespaceOf(name);
  const std::string path =
      kube::ObjectPath(scaler::kOwnGroup, scaler::kOwnVersion, ns, scaler::kOwnPlural,
                       name.substr(ns.size() + 1), "status");
  if (!deps_.may_write()) return NotOurs();
  const absl::Status stored =
      client_->MergePatch(path, absl::StrCat(R"({"status":{"http":)", json, "}}")).status();
  if (stored.ok()) return stored;
  failed_ |= !WasRefused(stored);
  return absl::Status(
      stored.code(),
      absl::StrCat("its ", what, " can't be written to its status: ", stored.message()));
}

// False: it no longer exists, or cannot be written, which becomes its problem.
bool ServeFront::WriteStatus(const std::string& name) {
  std::string uid;
  if (!With(name, [&](const CarriedRecord& record) { uid = record.subject.uid; })) return false;
  absl::Status written = TakePort(name);
  if (written.ok()) written = WriteHosts(name);
  const bool known = With(name, [&](CarriedRecord& record) {
    record.problem = std::string(written.message());
    if (written.ok() && !uid.empty()) record.told_uid = std::move(uid);
  });
  return known && written.ok();
}

// The port is written into the status before any Envoy listens on it, so that it is the same after
// a restart. A replica that takes over has read the ports there: writing thousands again would keep
// the Envoys waiting.
absl::Status ServeFront::TakePort(const std::string& name) {
  const auto told = told_ports_.find(name);
  {
    absl::MutexLock lock(&mutex_);
    const auto found = records_.find(name);
    if (found == records_.end()) return absl::OkStatus();
    CarriedRecord& record = found->second;
    if (record.port != 0 && !record.WasMadeAnew()) return absl::OkStatus();
    const std::string& uid = record.subject.uid;
    if (record.port == 0 && told != told_ports_.end() && (uid.empty() || uid == told->second.uid)) {
      record.port = told->second.port;
      record.told_uid = told->second.uid;
      return absl::OkStatus();
    }
  }
  const absl::StatusOr<uint16_t> taken = ports_.Take(name, deps_.clock.MonotonicNow());
  With(name, [&](CarriedRecord& record) { record.has_no_port = !taken.ok(); });
  RETURN_IF_ERROR(taken.status());
  const uint16_t port = *taken;
  RETURN_IF_ERROR(PatchHttp(name, "port", json{{"port", port}}.dump()));
  With(name, [port](CarriedRecord& record) { record.port = port; });
  NoteProgress(name);
  return absl::OkStatus();
}

void ServeFront::FollowPods(const std::string& name) {
  std::string ns, selector_text, target_port;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = records_.find(name);
    if (found == records_.end()) return;
    CarriedRecord& record = found->second;
    if (!record.replicas.has_value() || record.FollowsItsPods()) return;
    target_port = record.service.http.target_port;
    record.followed_selector = record.selector;
    record.followed_port = target_port;
    ns = record.service.ns;
    selector_text = record.selector;
  }
  const auto follow = [&]() -> absl::Status {
    if (selector_text.empty()) {
      return absl::FailedPreconditionError("the scale of its target has no selector");
    }
    ASSIGN_OR_RETURN(kube::Selector selector, kube::Selector::Parse(selector_text));
    return pods_.Follow(name, ns, std::move(selector), target_port);
  };
  const absl::Status status = follow();
  if (status.ok()) return;
  With(name, [&](CarriedRecord& record) {
    record.problem = absl::StrCat("its pods are not known: ", status.message());
    record.followed_port.reset();
  });
}

void ServeFront::AddOrChange(const std::string& name) {
  front::HttpService http;
  std::vector<front::PodView> pods;
  int32_t replicas = 0;
  bool add = false;
  std::shared_ptr<absl::Mutex> telling;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = records_.find(name);
    if (found == records_.end()) return;
    CarriedRecord& record = found->second;
    const bool ready = record.port != 0 && record.replicas.has_value() && record.pods.has_value() &&
                       record.h2c.has_value();
    if (!ready || !record.changed || record.claim == 0) return;
    record.changed = false;
    http = record.service.http;
    http.port = record.port;
    http.h2c = *record.h2c;
    add = !record.added;
    // Until it is decided which hosts it gets it has those from before a restart.
    http.hosts = add && (hosts_changed_ || !record.granted) ? Had(name) : record.hosts.routes;
    pods = *record.pods;
    replicas = *record.replicas;
    telling = record.telling_pods;
  }
  if (!add) return session()->front.ChangeService(http, Now());
  session()->front.AddService(http, replicas, pods, Now());
  {
    absl::MutexLock in_order(telling.get());
    const bool known = With(name, [&](CarriedRecord& record) {
      record.added = true;
      pods = *record.pods;  // read again, since they may have changed
    });
    if (!known) return;
    session()->front.SetPods(name, pods, Now());
  }
  NoteProgress(name);
  spdlog::info("front: {} is carried on port {}", name, http.port);
  Change(name);
}

void ServeFront::Remove(const std::vector<std::string>& ended) {
  for (const std::string& name : ended) {
    const std::string ns(front::NamespaceOf(name));
    const auto told = told_ports_.find(name);
    uint16_t port = told == told_ports_.end() ? 0 : told->second.port;
    {
      absl::MutexLock lock(&mutex_);
      const auto found = records_.find(name);  // one that is missing has none
      if (found != records_.end()) {
        if (found->second.claim != 0) continue;  // it is carried anew
        port = found->second.port;
        records_.erase(found);
      }
      hosts_changed_ = true;  // others may have its hosts now
    }
    if (!settings_.envoy_selector.empty()) maybe_stale_.emplace(ns, port);
    pods_.Forget(name, ns);
    session()->front.RemoveService(name, Now());
    ports_.Free(name, deps_.clock.MonotonicNow());
    expected_.erase(name);
    told_ports_.erase(name);
    spdlog::info("front: {} is not carried any more", name);
    stale_due_ = absl::ZeroDuration();
    keeper_.Wake();
  }
}

// A service that was expected and never came stays in the Envoys; if its Autoscaler is gone
// meanwhile, or has lost its trigger, nobody else says so. False: some are still missing.
bool ServeFront::ForgetMissing() {
  if (!serving_) return true;
  std::vector<std::string> missing;
  {
    absl::MutexLock lock(&mutex_);
    for (const std::string& name : expected_) {
      if (!records_.contains(name)) missing.push_back(name);
    }
  }
  if (missing.empty()) return true;
  const MonotonicTime now = deps_.clock.MonotonicNow();
  if (now < missing_due_) return false;
  missing_due_ = now + std::max(kLookForMissing, absl::Seconds(missing.size()));
  std::vector<std::string> gone;
  for (const std::string& name : missing) {
    const absl::string_view ns = front::NamespaceOf(name);
    const absl::StatusOr<std::string> object =
        client_->Get(kube::ObjectPath(scaler::kOwnGroup, scaler::kOwnVersion, ns,
                                      scaler::kOwnPlural, name.substr(ns.size() + 1)));
    if (object.ok() ? !WillBeCarried(*object) : absl::IsNotFound(object.status())) {
      gone.push_back(name);
    } else if (!object.ok()) {
      break;  // the API server is away
    }
  }
  Remove(gone);
  return gone.size() == missing.size();
}

void ServeFront::NoteProgress(const std::string& name) {
  if (expected_.contains(name)) progress_at_ = deps_.clock.MonotonicNow();
}

void ServeFront::BeginServingIfComplete() {
  if (serving_) return;
  const MonotonicTime now = deps_.clock.MonotonicNow();
  bool complete = true;
  std::map<std::string, front::HostRoutes> unknown;
  {
    absl::MutexLock lock(&mutex_);
    for (const std::string& name : expected_) {
      if (records_.contains(name)) continue;
      complete = false;
      unknown.emplace(name, Had(name));
    }
    for (const auto& [name, record] : records_) {
      const bool is_hopeless = record.has_no_port || record.astray + kLongestAstray <= now;
      complete = complete && (record.added || is_hopeless);
      if (!record.added) unknown.emplace(name, Had(name));
    }
  }
  if (!complete && now < progress_at_ + kLongestStart) return;
  if (!complete) spdlog::warn("front: Envoys are told of the services that are known by now");
  serving_ = true;
  TellEnvoys();
  session()->front.BeginServing(Now(), unknown);
  {
    absl::MutexLock lock(&mutex_);
    hosts_changed_ = true;  // they are written down now
  }
  keeper_.Wake();
}

}  // namespace flyball::serve
