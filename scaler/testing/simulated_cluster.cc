#include "scaler/testing/simulated_cluster.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "kube/local/local_request.h"
#include "nlohmann/json.hpp"
#include "scaler/stores/autoscaler_store.h"

namespace flyball::scaler {
namespace {

using nlohmann::json;

// Old enough that no rule about young pods matters, whatever a replica's clock says.
constexpr char kPodStart[] = "2025-06-01T00:00:00Z";

constexpr char kHpas[] = "horizontalpodautoscalers.autoscaling";
constexpr char kOther[] = "-other";
constexpr char kOwns[] = "autoscalers.flyball.dev";

json DeploymentJson(const SimulatedCluster::Target& target, int replicas) {
  return {
      {"apiVersion", "apps/v1"},
      {"kind", "Deployment"},
      {"metadata", {{"namespace", target.first}, {"name", target.second}}},
      {"spec", {{"replicas", replicas}, {"selector", {{"matchLabels", {{"app", target.second}}}}}}},
      {"status", {{"replicas", replicas}}}};
}

// Whether the object differs in its status alone.
bool IsStatus(const kube::LocalObjectStore::Change& change) {
  if (change.before == nullptr || change.after == nullptr) return false;
  const json &before = (*change.before)["metadata"], &after = (*change.after)["metadata"];
  return before["uid"] == after["uid"] && before["generation"] == after["generation"] &&
         before.value("annotations", json()) == after.value("annotations", json());
}

}  // namespace

SimulatedCluster::Target OtherOf(const SimulatedCluster::Target& target) {
  return {target.first, absl::StrCat(target.second, kOther)};
}

SimulatedCluster::Target FirstOf(const SimulatedCluster::Target& target) {
  return {target.first, std::string(absl::StripSuffix(target.second, kOther))};
}

SimulatedCluster::Target JobsOf(const SimulatedCluster::Target& target) {
  return {target.first, absl::StrCat("jobs-", FirstOf(target).second)};
}

std::string PathOf(const AutoscalerKey& key) {
  return absl::StrCat(
      key.kind == AutoscalerKind::kHpa ? "/apis/autoscaling/v2/namespaces/"
                                       : "/apis/flyball.dev/v1alpha1/namespaces/",
      key.ns, key.kind == AutoscalerKind::kHpa ? "/horizontalpodautoscalers/" : "/autoscalers/",
      key.name);
}

SimulatedCluster::SimulatedCluster(SimulatedTime& time) : time_(time) {
  store_.AddKind({.name = {"flyball.dev", "autoscalers"},
                  .version = "v1alpha1",
                  .kind = "Autoscaler",
                  .singular = "autoscaler",
                  .namespaced = true,
                  .listable = true,
                  .watchable = true},
                 /*scale=*/false);
}

kube::LocalTarget SimulatedCluster::DeploymentAt(const Target& target) const {
  return store_.Find(
      absl::StrCat("/apis/apps/v1/namespaces/", target.first, "/deployments/", target.second));
}

int SimulatedCluster::Replicas(const Target& target) const {
  const kube::LocalAnswer stored = store_.Get(DeploymentAt(target));
  return stored.status == 200 ? stored.body["spec"]["replicas"].get<int>() : -1;
}

void SimulatedCluster::PutDeployment(const Target& target, int replicas) {
  store_.Force(DeploymentAt(target), DeploymentJson(target, replicas));
  FollowScale(target);
  Changed();
}

void SimulatedCluster::DeleteDeployment(const Target& target) {
  if (Replicas(target) < 0) return;
  store_.Delete(DeploymentAt(target));
  MakePods(target, 0);
  Changed();
}

void SimulatedCluster::Scale(const Target& target, int replicas) {
  const kube::LocalAnswer stored = store_.Get(DeploymentAt(target));
  if (stored.status != 200) return;
  json object = stored.body;
  object["spec"]["replicas"] = replicas;
  store_.Force(DeploymentAt(target), std::move(object));
  FollowScale(target);
  Changed();
}

void SimulatedCluster::MakePods(const Target& target, int wanted) {
  Past<std::vector<SimulatedPod>>& past = pods_[target];
  // Until then it had none, which is what a reading from before tells.
  if (past.empty() && time_.now() > absl::ZeroDuration()) past.Set(absl::ZeroDuration(), {});
  std::vector<SimulatedPod> pods = past.empty() ? std::vector<SimulatedPod>() : past.latest();
  const auto at = [&](const std::string& name) {
    return store_.Find(absl::StrCat("/api/v1/namespaces/", target.first, "/pods/", name));
  };
  while (static_cast<int>(pods.size()) > wanted) {
    store_.Delete(at(pods.back().name));
    pods.pop_back();
  }
  while (static_cast<int>(pods.size()) < wanted) {
    pods.push_back({.name = absl::StrCat(target.second, "-", ++next_pod_)});
    store_.Force(at(pods.back().name), json::parse(PodJson(target, pods.back())));
  }
  past.Set(time_.now(), std::move(pods));
}

// The pods become as many as spec.replicas asks for.
void SimulatedCluster::FollowScale(const Target& target) {
  const int wanted = Replicas(target);
  MakePods(target, wanted);
  json object = store_.Get(DeploymentAt(target)).body;
  object["status"]["replicas"] = wanted;
  store_.Force(DeploymentAt(target), std::move(object));
}

void SimulatedCluster::DisturbPod(const Target& target) {
  const auto found = pods_.find(target);
  if (found == pods_.end() || found->second.latest().empty()) return;
  std::vector<SimulatedPod> pods = found->second.latest();
  SimulatedPod& pod = pods.front();
  pod.ready = !pod.ready;
  store_.Force(store_.Find(absl::StrCat("/api/v1/namespaces/", target.first, "/pods/", pod.name)),
               json::parse(PodJson(target, pod)));
  found->second.Set(time_.now(), std::move(pods));
  Changed();
}

std::string SimulatedCluster::PodJson(const Target& target, const SimulatedPod& pod) {
  return absl::StrCat(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":")", target.first, R"(","name":")",
      pod.name, R"(","labels":{"app":")", target.second,
      R"("}},"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":"1"}}}]},)",
      R"("status":{"phase":")", pod.ready ? "Running" : "Pending", R"(","startTime":")", kPodStart,
      R"(","conditions":[{"type":"Ready","status":")", pod.ready ? "True" : "False",
      R"(","lastTransitionTime":")", kPodStart, R"("}]}})");
}

void SimulatedCluster::PutAutoscaler(absl::string_view text) {
  json object = json::parse(text.begin(), text.end());
  const json& metadata = object["metadata"];
  const AutoscalerKey key = {
      .kind = object["kind"] == "Autoscaler" ? AutoscalerKind::kOwn : AutoscalerKind::kHpa,
      .ns = metadata["namespace"],
      .name = metadata["name"]};
  const kube::LocalTarget at = store_.Find(PathOf(key));
  const kube::LocalAnswer stored = store_.Get(at);
  if (stored.status == 200 && stored.body.contains("status")) {
    object["status"] = stored.body["status"];
  }
  store_.Force(at, std::move(object));
  Changed();
}

void SimulatedCluster::DeleteAutoscaler(const AutoscalerKey& key) {
  store_.Delete(store_.Find(PathOf(key)));
  Changed();
}

void SimulatedCluster::RecreateAutoscaler(const AutoscalerKey& key) {
  const kube::LocalTarget at = store_.Find(PathOf(key));
  const kube::LocalAnswer stored = store_.Get(at);
  if (stored.status != 200) return;
  json object = stored.body;
  for (const char* field : {"uid", "resourceVersion", "generation"}) {
    object["metadata"].erase(field);
  }
  object.erase("status");
  store_.Delete(at);
  store_.Force(at, std::move(object));
  Changed();
}

Past<SimulatedCluster::Amount>& SimulatedCluster::AmountOf(const Target& target,
                                                           absl::string_view metric) {
  if (metric == "cpu") return amounts_[target].cpu;
  if (metric == "memory") return amounts_[target].memory;
  Amounts& amounts = amounts_[FirstOf(target)];  // of an autoscaler, whichever target it has
  return absl::StartsWith(metric, "a-") ? amounts.a : amounts.b;
}

http::HttpAnswer SimulatedCluster::Serve(const http::HttpCall& call, int writer) {
  const kube::LocalTarget at = store_.Find(call.target);
  if (at.kind == nullptr) std::abort();  // nothing in the scaler asks for anything else
  if (call.method == "GET") return kube::AsHttp(store_.Get(at));
  const json body = json::parse(call.body);
  const bool scale = at.subresource == "scale";
  const Target target = {at.ns, at.name};
  const int before = scale ? Replicas(target) : 0;
  kube::LocalAnswer answer;
  if (call.method == "POST") answer = store_.Create(at, body);
  if (call.method == "PUT") answer = store_.Update(at, body);
  if (call.method == "PATCH") answer = store_.MergePatch(at, body);
  if (answer.status >= 300) return kube::AsHttp(answer);
  if (scale) {
    on_scale_write({.writer = writer,
                    .target = target,
                    .before = before,
                    .after = body["spec"]["replicas"].get<int>()});
    FollowScale(target);
  }
  Changed();
  return kube::AsHttp(answer);
}

void SimulatedCluster::Changed() {
  NoteAutoscalers();
  if (on_change) on_change();
}

// Keeps what each autoscaler was at which time.
void SimulatedCluster::NoteAutoscalers() {
  for (; seen_ < store_.changes().size(); ++seen_) {
    const kube::LocalObjectStore::Change& change = store_.changes()[seen_];
    const std::string& resource = std::get<0>(change.key);
    if ((resource != kHpas && resource != kOwns) || IsStatus(change)) continue;
    const AutoscalerKey key = {
        .kind = resource == kHpas ? AutoscalerKind::kHpa : AutoscalerKind::kOwn,
        .ns = std::get<1>(change.key),
        .name = std::get<2>(change.key)};
    Past<ManagedPtr>& past = autoscalers_[key];
    const bool was_gone = !past.empty() && past.latest() == nullptr && past.changed() < time_.now();
    if (was_gone && change.after != nullptr) ++returns_[key];
    past.Set(time_.now(),
             change.after == nullptr ? nullptr : ReadManaged(key.kind, change.after->dump()));
  }
}

std::vector<ManagedPtr> SimulatedCluster::Autoscaler(const AutoscalerKey& key,
                                                     absl::Duration since) const {
  std::vector<ManagedPtr> out;
  const auto found = autoscalers_.find(key);
  if (found == autoscalers_.end()) return out;
  for (const ManagedPtr* managed : found->second.Since(since)) out.push_back(*managed);
  return out;
}

int SimulatedCluster::Returns(const AutoscalerKey& key) const {
  const auto found = returns_.find(key);
  return found == returns_.end() ? 0 : found->second;
}

std::vector<const std::vector<SimulatedPod>*> SimulatedCluster::Pods(const Target& target,
                                                                     absl::Duration since) const {
  const auto found = pods_.find(target);
  if (found == pods_.end()) return {};
  return found->second.Since(since);
}

}  // namespace flyball::scaler
