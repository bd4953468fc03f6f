#include "processes/pod_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kube/objects/json_members.h"

namespace flyball::processes {
namespace {

using kube::TimeText;
using nlohmann::json;

int64_t Count(const std::vector<ReplicaView>& replicas, bool ready_only) {
  return std::count_if(replicas.begin(), replicas.end(), [&](const ReplicaView& replica) {
    return !replica.ending && (replica.ready || !ready_only);
  });
}

}  // namespace

std::string PodPath(const ProcessSetSpec& spec, int32_t index) {
  return absl::StrCat("/api/v1/namespaces/", spec.ns, "/pods/", NameOfReplica(spec, index));
}

std::string PodJson(const ProcessSetSpec& spec, const ReplicaView& replica) {
  const int32_t port = PortOfReplica(spec, replica.index);
  json metadata = {{"namespace", spec.ns},
                   {"name", NameOfReplica(spec, replica.index)},
                   {"uid", absl::StrCat(spec.ns, "/", NameOfReplica(spec, replica.index), "/",
                                        replica.incarnation)},
                   {"labels", spec.labels},
                   {"creationTimestamp", TimeText(replica.started)}};
  if (!spec.metrics_path.empty()) {
    metadata["annotations"] = {{"prometheus.io/scrape", "true"},
                               {"prometheus.io/port", absl::StrCat(port)},
                               {"prometheus.io/path", spec.metrics_path}};
  }
  if (replica.ending) metadata["deletionTimestamp"] = TimeText(replica.ready_changed);
  json container = {{"name", spec.name}};
  if (port != 0)
    container["ports"] = {{{"name", "http"}, {"containerPort", port}, {"protocol", "TCP"}}};
  if (spec.readiness.check == Readiness::Check::kHttp) {
    container["readinessProbe"] = {{"httpGet", {{"path", spec.readiness.path}, {"port", port}}}};
  } else if (spec.readiness.check == Readiness::Check::kTcp) {
    container["readinessProbe"] = {{"tcpSocket", {{"port", port}}}};
  }
  json condition = {{"type", "Ready"},
                    {"status", replica.ready ? "True" : "False"},
                    {"lastTransitionTime", TimeText(replica.ready_changed)}};
  json status = {
      {"phase", replica.pid == 0 ? "Pending" : "Running"},
      {"podIP", "127.0.0.1"},
      {"podIPs", {{{"ip", "127.0.0.1"}}}},
      {"startTime", TimeText(replica.started)},
      {"conditions", {condition}},
      {"containerStatuses",
       {{{"name", spec.name}, {"ready", replica.ready}, {"restartCount", replica.restarts}}}}};
  if (!replica.problem.empty()) status["message"] = replica.problem;
  return json{{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", metadata},
              {"spec", {{"containers", {container}}}},
              {"status", status}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string StatusJson(const ProcessSetSpec& spec, const std::vector<ReplicaView>& replicas) {
  return json{{"status",
               {{"replicas", Count(replicas, false)},
                {"readyReplicas", Count(replicas, true)},
                {"selector", absl::StrJoin(spec.labels, ",", absl::PairFormatter("="))}}}}
      .dump();
}

std::string StatusFileText(const ProcessSetSpec& spec, const std::vector<ReplicaView>& replicas) {
  json processes = json::array();
  for (const ReplicaView& replica : replicas) {
    json one = {{"name", NameOfReplica(spec, replica.index)},
                {"pid", replica.pid},
                {"ready", replica.ready},
                {"ending", replica.ending},
                {"restarts", replica.restarts}};
    if (spec.port != 0)
      one["address"] = absl::StrCat("127.0.0.1:", PortOfReplica(spec, replica.index));
    if (!replica.problem.empty()) one["problem"] = replica.problem;
    processes.push_back(std::move(one));
  }
  return json{{"namespace", spec.ns},
              {"name", spec.name},
              {"wanted", spec.replicas},
              {"replicas", Count(replicas, false)},
              {"readyReplicas", Count(replicas, true)},
              {"processes", processes}}
      .dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace flyball::processes
