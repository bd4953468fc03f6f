#include "cmd/flyball/rules_at_hand.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cmd/flags/doctor_flags.h"
#include "cmd/flyball/rule_files.h"
#include "doctor/cluster.h"
#include "kube/client/api_client.h"
#include "kube/client/discovery.h"
#include "kube/objects/manifest_objects.h"

namespace flyball::cmd {

absl::StatusOr<RulesAtHand> RulesOfFile(const std::string& path, const std::string& values_path) {
  RulesAtHand out;
  ASSIGN_OR_RETURN(out.found, ReadRuleFile(path, values_path));
  out.mapper = kube::ManifestObjects({}).mapper();
  return out;
}

absl::StatusOr<RulesAtHand> RulesOfCluster(http::HttpTransport& server, const std::string& url,
                                           Clock& clock) {
  const doctor::ClusterFacts facts = doctor::LookAtCluster(server, clock, {.url = url});
  RETURN_IF_ERROR(facts.version.status());
  const doctor::Backend* const backend = facts.RuleServer();
  if (backend == nullptr || backend->server()->config_map.empty()) {
    return absl::NotFoundError(
        "no pod of flyball with the ConfigMap of its rules can be seen behind the metrics APIs: "
        "`flyball doctor` says why; a rule file can be named instead");
  }
  const doctor::ServerPod& pod = *backend->server();
  kube::ApiClient api(server, clock);
  ASSIGN_OR_RETURN(const std::string json,
                   api.Get(kube::ObjectPath("", "v1", pod.ns, "configmaps", pod.config_map)));
  ASSIGN_OR_RETURN(const std::string text, doctor::ReadConfigKey(json, pod.config_key));
  RulesAtHand out;
  ASSIGN_OR_RETURN(out.found,
                   OnlyRules(text, absl::StrCat(pod.config_map, "/", pod.config_key), {}));
  ASSIGN_OR_RETURN(kube::Discovery discovery, kube::Discover(server, clock, absl::Seconds(10)));
  out.mapper = std::make_shared<const kube::RestMapper>(std::move(discovery.resources));
  out.server = SettingsOf(pod.args);
  return out;
}

}  // namespace flyball::cmd
