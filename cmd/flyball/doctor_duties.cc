#include "cmd/flyball/doctor_duties.h"

#include <set>

#include "absl/algorithm/container.h"

namespace flyball::cmd {
namespace {

void AddRules(const rules::CompiledRules& rules, doctor::Duties& duties) {
  duties.custom = !rules.custom.empty();
  duties.external = !rules.external.empty();
  duties.resource = rules.resource.has_value();
  duties.asks_for_replicas = absl::c_any_of(rules.external, [](const auto& rule) {
    return rule->on_failure.has_value() && rule->on_failure->replicas.has_value();
  });
}

void AddScaler(const serve::ScalerFlags& scaler, absl::Span<const scaler::Managed* const> chosen,
               doctor::Duties& duties) {
  duties.scaler = scaler.enabled;
  duties.scaler_mode = scaler.mode;
  duties.scaler_hpa = scaler.options.act_on_hpas;
  duties.scaler_namespaces = scaler.options.namespaces;
  duties.leader_elect = scaler.leader_elect;
  duties.front = !scaler.front_pod_selector.empty();
  const std::vector<std::string>& only = scaler.options.namespaces;
  std::set<std::string> with_secrets;
  for (const scaler::Managed* one : chosen) {
    const bool scaled = only.empty() || absl::c_linear_search(only, one->key.ns);
    const bool names_some = absl::c_any_of(
        one->own.triggers, [](const auto& trigger) { return !trigger.secrets.empty(); });
    if (scaled && names_some) with_secrets.insert(one->key.ns);
  }
  duties.secrets_in.assign(with_secrets.begin(), with_secrets.end());
}

}  // namespace

doctor::Duties DutiesOf(const serve::ServeFlags& server, const std::string& pod_ns,
                        const rules::CompiledRules* rules,
                        absl::Span<const scaler::Managed* const> chosen) {
  doctor::Duties duties;
  const std::string& of_leases = server.scaler.election.ns;
  duties.ns = of_leases.empty() ? pod_ns : of_leases;
  if (rules != nullptr) AddRules(*rules, duties);
  duties.reads_authentication = !server.authentication_skip_lookup;
  const serve::LiveFlags& live = server.live;
  duties.annotated_pods = live.live() && live.scrape_annotated > absl::ZeroDuration();
  duties.kubelets = live.live() && live.scrape_kubelets > absl::ZeroDuration();
  AddScaler(server.scaler, chosen, duties);
  return duties;
}

}  // namespace flyball::cmd
