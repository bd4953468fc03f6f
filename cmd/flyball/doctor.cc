// flyball doctor: examines the chain in a cluster link by link, and says what is broken and how to
// fix it.
//
// This file calls the functions that gather facts in their order and passes the facts to the
// checks; both are in doctor/. It only reads.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/clock.h"
#include "base/counted.h"
#include "base/read_file.h"
#include "base/status_macros.h"
#include "cmd/flags/doctor_flags.h"
#include "cmd/flags/words.h"
#include "cmd/flyball/commands.h"
#include "cmd/flyball/doctor_duties.h"
#include "doctor/autoscaler.h"
#include "doctor/cluster.h"
#include "doctor/finding.h"
#include "doctor/gates.h"
#include "doctor/metric.h"
#include "doctor/rule_series.h"
#include "kube/client/discovery.h"
#include "rules/compiled_rules.h"
#include "serve/connections.h"
#include "serve/rule_file.h"

namespace flyball::cmd {
namespace {

using doctor::Bad;
using doctor::Doubt;
using doctor::Findings;

std::string Text(const absl::Status& status) { return std::string(status.message()); }

bool IsOwn(const scaler::Managed& one) { return one.key.kind == scaler::AutoscalerKind::kOwn; }

class Doctor {
 public:
  Doctor(const DoctorFlags& flags, Cluster cluster, http::HttpTransport& server)
      : flags_(flags),
        cluster_(std::move(cluster)),
        server_(server),
        api_(server, clock_, flags.timeout),
        now_(clock_.WallNow()) {}

  doctor::Report Examine() {
    facts_ = doctor::LookAtCluster(
        server_, clock_,
        {.url = adapter::prometheus::SplitServerUrl(cluster_.transport.url).shown,
         .in_cluster = cluster_.inside,
         .timeout = flags_.timeout});
    Findings about_cluster = {doctor::CheckApiServer(facts_)};
    if (!facts_.version.ok()) return {{"cluster", std::move(about_cluster)}};
    KnowServer();
    KnowKinds();
    Findings about_rules = ExamineRules();
    ChooseAutoscalers();
    ExamineCluster(about_cluster);
    report_.push_back({"cluster", std::move(about_cluster)});
    report_.push_back({"rules", std::move(about_rules)});
    ExamineAutoscalers();
    return std::move(report_);
  }

 private:
  bool One() const { return !flags_.name.empty(); }

  // Reads from its pod how the server was started.
  void KnowServer() {
    if (const doctor::Backend* backend = facts_.RuleServer(); backend != nullptr) {
      pod_ = backend->server();
      settings_ = SettingsOf(pod_->args);
    }
  }

  void KnowKinds() {
    auto found = kube::Discover(server_, clock_, flags_.timeout);
    kinds_ = found.status();
    mapper_ = std::make_shared<const kube::RestMapper>(
        found.ok() ? std::move(found->resources) : std::vector<kube::ResourceInfo>());
  }

  Findings ExamineRules() {
    Findings findings;
    const absl::StatusOr<std::string> text = RuleText();
    if (!text.ok() && !flags_.config.empty()) {
      return {Bad("rules", Text(text.status()), "correct --config")};
    }
    if (!text.ok()) {
      return {Doubt("rules", absl::StrCat("the rules are not known: ", Text(text.status())),
                    "name the rule file by --config")};
    }
    const rules::CompileResult result = rules::CompileRules(*text, RuleName());
    for (const rules::Finding& finding : result.findings) {
      if (finding.severity == rules::Finding::Severity::kWarning) continue;
      const bool query = finding.severity == rules::Finding::Severity::kQuery;
      findings.push_back(
          Bad("rules", finding.ToString(),
              query ? "correct that query; until then requests for its metrics fail"
                    : "correct that line; until then a server that starts ends at once"));
    }
    if (result.rules == nullptr) return findings;
    rules_ = result.rules;
    findings.push_back(
        doctor::Good("rules", absl::StrCat(RuleName(), ": ", serve::CountedRules(*rules_))));
    ExaminePrometheus(findings);
    return findings;
  }

  std::string RuleName() const {
    return !flags_.config.empty() ? flags_.config
                                  : absl::StrCat(pod_->config_map, "/", pod_->config_key);
  }

  absl::StatusOr<std::string> RuleText() {
    if (!flags_.config.empty()) return ReadFile(flags_.config);
    if (pod_ == nullptr) {
      return absl::NotFoundError("no pod with --config can be seen behind an APIService");
    }
    if (pod_->config_map.empty()) {
      return absl::NotFoundError(
          absl::StrCat("--config of pod ", pod_->ns, "/", pod_->name, " is not of a ConfigMap"));
    }
    ASSIGN_OR_RETURN(
        const std::string json,
        api_.Get(kube::ObjectPath("", "v1", pod_->ns, "configmaps", pod_->config_map)));
    return doctor::ReadConfigKey(json, pod_->config_key);
  }

  void ExaminePrometheus(Findings& findings) {
    const bool given = !flags_.prometheus.prometheus_urls.empty();
    const serve::ServeFlags& asked = given ? flags_.prometheus : settings_;
    if (!given && !settings_.live.prometheus()) {
      findings.push_back(doctor::Good("prometheus", "the server asks none: --metric-source=live"));
      return;
    }
    if (asked.prometheus_urls.empty()) {
      findings.push_back(Doubt("prometheus", "which Prometheus the server asks is not known",
                               "name it by --prometheus-url"));
      return;
    }
    std::vector<std::string> shown;
    for (const std::string& url : asked.prometheus_urls) {
      shown.push_back(adapter::prometheus::SplitServerUrl(url).shown);
    }
    const std::string from = absl::StrJoin(shown, ", ");
    auto source = serve::MakePrometheusSource(asked, clock_, nullptr);
    if (source.ok()) {
      source_ = *std::move(source);
      const adapter::RelistOptions& relist = settings_.adapter.relist;
      discovered_ = doctor::DiscoverSeries(
          *rules_, *source_, mapper_,
          {.now = now_,
           .max_age = relist.max_age > absl::ZeroDuration() ? relist.max_age : relist.interval,
           .timeout = flags_.timeout});
    }
    const absl::Status status = source.ok() ? discovered_->source : source.status();
    if (!status.ok() && !given && !cluster_.inside) {
      // Outside of the cluster the name of a Service cannot be resolved.
      findings.push_back(Doubt("prometheus",
                               absl::StrCat("Prometheus can't be asked from here: ", Text(status)),
                               "kubectl port-forward its Service to 9090, and "
                               "--prometheus-url=http://localhost:9090"));
      discovered_.reset();
      return;
    }
    const bool live_too = settings_.live.live();
    if (source.ok()) {
      Append(doctor::CheckDiscovered(*discovered_, from, !One() && !live_too), findings);
      if (live_too) {
        findings.push_back(doctor::Good(
            "live",
            "the server also has samples in memory, which are not looked at here: `flyball "
            "metrics` lists what it offers"));
      }
    } else {
      findings.push_back(Bad("prometheus", Text(status), "correct that flag"));
    }
  }

  void ChooseAutoscalers() {
    if (!One() && !flags_.all) return;
    auto listed = doctor::ListAutoscalers(server_, flags_.ns, flags_.timeout);
    listed_ = listed.status();
    if (!listed.ok()) return;
    all_ = *std::move(listed);
    for (const scaler::ManagedPtr& one : all_) {
      if (One() && one->key.name != flags_.name) continue;
      if (!flags_.kind.empty() && IsOwn(*one) != (flags_.kind == "autoscaler")) continue;
      chosen_.push_back(one.get());
    }
  }

  void ExamineCluster(Findings& findings) {
    Append(doctor::CheckApiServices(facts_, WantedGroups()), findings);
    for (const doctor::Backend& backend : facts_.backends) {
      Append(doctor::CheckBackend(backend), findings);
      Append(doctor::CheckCertificate(facts_, backend, now_), findings);
    }
    findings.push_back(doctor::CheckAuthentication(facts_));
    Append(ExamineRights(), findings);
  }

  std::vector<doctor::Wanted> WantedGroups() const {
    std::vector<doctor::Wanted> wanted;
    const auto add = [&](const std::string& group, const std::string& by) {
      const bool there = std::any_of(wanted.begin(), wanted.end(),
                                     [&](const auto& other) { return other.group == group; });
      if (!there) wanted.push_back({group, by});
    };
    for (const scaler::Managed* one : chosen_) {
      if (IsOwn(*one)) continue;  // the scaler reads its metrics without the APIs
      const std::string title = doctor::AutoscalerTitle(one->key);
      for (const scaler::MetricSpec& metric : one->autoscaler.metrics) {
        using scaler::MetricType;
        const bool custom = metric.type == MetricType::kPods || metric.type == MetricType::kObject;
        add(custom                                 ? doctor::kCustomGroup
            : metric.type == MetricType::kExternal ? doctor::kExternalGroup
                                                   : doctor::kResourceGroup,
            title);
      }
    }
    if (rules_ != nullptr && !One()) {
      if (!rules_->custom.empty()) {
        add(doctor::kCustomGroup, Counted(rules_->custom.size(), "rule"));
      }
      if (!rules_->external.empty()) {
        add(doctor::kExternalGroup, Counted(rules_->external.size(), "external rule"));
      }
      if (rules_->resource.has_value()) add(doctor::kResourceGroup, "resourceRules");
    }
    if (!One() && DutiesOfServer().kubelets) add(doctor::kResourceGroup, "--live-scrape-kubelets");
    return wanted;
  }

  doctor::Duties DutiesOfServer() const {
    doctor::Duties duties =
        DutiesOf(settings_, pod_ == nullptr ? "" : pod_->ns, rules_.get(), chosen_);
    if (discovered_.has_value() && discovered_->registry != nullptr) {
      std::set<kube::GroupResource> objects;
      for (const adapter::CustomMetricInfo& info : *discovered_->registry->custom_list()) {
        const kube::ResourceInfo* known = mapper_->FindExact(info.resource);
        if (known != nullptr && known->listable) objects.insert(info.resource);
      }
      duties.objects.assign(objects.begin(), objects.end());
    }
    return duties;
  }

  // Checks the rights of the server's account: as that account in its pod, by impersonation
  // elsewhere.
  Findings ExamineRights() {
    if (pod_ == nullptr && !cluster_.inside) {
      return {Doubt("rights",
                    "the server's account is not known: no pod with --config can be seen behind "
                    "an APIService",
                    doctor::MayLook("list", "pods of the server"))};
    }
    std::string account = "this pod's account";
    http::TransportOptions as = cluster_.transport;
    if (!cluster_.inside) {
      account = absl::StrCat("system:serviceaccount:", pod_->ns, ":",
                             pod_->service_account.empty() ? "default" : pod_->service_account);
      as.headers.push_back({"Impersonate-User", account});
    }
    auto transport = http::MakeHttpTransport(std::move(as), clock_);
    if (!transport.ok()) return {};
    kube::ApiClient api(**transport, clock_, flags_.timeout);
    std::set<std::string> namespaces;
    for (const scaler::Managed* one : chosen_) namespaces.insert(one->key.ns);
    return doctor::CheckRights(account,
                               doctor::AskRights(api, doctor::WantedRights(DutiesOfServer()),
                                                 {namespaces.begin(), namespaces.end()}));
  }

  // The finding if no autoscaler can be examined.
  std::optional<doctor::Finding> WhyNone() const {
    if (!listed_.ok()) {
      return Bad("autoscaler", Text(listed_), doctor::MayLook("list", "horizontalpodautoscalers"));
    }
    if (One() && chosen_.empty()) {
      return Bad("autoscaler",
                 absl::StrCat("there is no ", flags_.kind.empty() ? "autoscaler" : flags_.kind, " ",
                              flags_.name, " in namespace ", flags_.ns),
                 "kubectl get hpa -A lists them; -n names the namespace");
    }
    if (chosen_.empty() || kinds_.ok()) return std::nullopt;
    return Bad("autoscaler", absl::StrCat("the cluster's kinds: ", Text(kinds_)),
               "kubectl api-resources shows which group fails");
  }

  // Options that the command line does not set are taken from the server.
  scaler::Dialect ClusterDialect() const {
    const scaler::DialectChoice choice =
        OrElse(flags_.dialect.choice, serve::ScalerOptionsFrom(settings_.scaler).dialect);
    const scaler::ServerVersion seen = facts_.server_version.value_or(scaler::kNewestServer);
    return scaler::DialectOf(doctor::WithShownGates(choice, seen, all_), seen);
  }

  void ExamineAutoscalers() {
    if (auto none = WhyNone()) {
      report_.push_back({"autoscalers", {*std::move(none)}});
      return;
    }
    if (chosen_.empty()) return;
    doctor::MetricLooker metrics({.api = api_,
                                  .mapper = *mapper_,
                                  .discovered = discovered_ ? &*discovered_ : nullptr,
                                  .source = source_.get(),
                                  .now = now_,
                                  .timeout = flags_.timeout});
    const doctor::AutoscalerLookDeps deps = {
        .server = server_,
        .api = api_,
        .mapper = *mapper_,
        .metrics = metrics,
        .default_mode = settings_.scaler.mode == "act" ? scaler::Mode::kAct : scaler::Mode::kShadow,
        .dialect = ClusterDialect(),
        .timeout = flags_.timeout};
    for (const scaler::Managed* one : chosen_) {
      report_.push_back(
          {doctor::AutoscalerTitle(one->key),
           doctor::CheckAutoscaler(doctor::LookAtAutoscaler(*one, all_, deps), clock_.WallNow())});
    }
  }

  const DoctorFlags& flags_;
  const Cluster cluster_;
  http::HttpTransport& server_;
  Clock& clock_ = Clock::System();
  kube::ApiClient api_;
  const absl::Time now_;

  doctor::Report report_;
  doctor::ClusterFacts facts_;
  const doctor::ServerPod* pod_ = nullptr;  // owned by facts_
  serve::ServeFlags settings_;              // the server's
  absl::Status kinds_;                      // whether mapper_ knows the cluster's kinds
  std::shared_ptr<const kube::RestMapper> mapper_;
  std::shared_ptr<const rules::CompiledRules> rules_;
  std::unique_ptr<adapter::prometheus::Client> source_;
  std::optional<doctor::Discovered> discovered_;
  absl::Status listed_;
  std::vector<scaler::ManagedPtr> all_;
  std::vector<const scaler::Managed*> chosen_;  // owned by all_
};

// Replaces the marks by letters if the terminal may be unable to show them.
std::string ForLocale(std::string text) {
  std::string locale;
  for (const char* name : {"LANG", "LC_CTYPE", "LC_ALL"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') locale = absl::AsciiStrToLower(value);
  }
  // Without a locale, as in a pod, nothing is known about the terminal, which is usually elsewhere.
  const bool letters =
      !locale.empty() && !absl::StrContains(locale, "utf-8") && !absl::StrContains(locale, "utf8");
  if (letters) absl::StrReplaceAll({{"✓", "ok"}, {"✗", "x "}}, &text);
  return text;
}

absl::StatusOr<doctor::Report> Examine(DoctorFlags flags) {
  ASSIGN_OR_RETURN(Cluster cluster, ConnectTo(flags, Clock::System()));
  if (!flags.name.empty()) flags.ns = cluster.ns;
  ASSIGN_OR_RETURN(const std::unique_ptr<http::HttpTransport> server,
                   http::MakeHttpTransport(cluster.transport, Clock::System()));
  return Doctor(flags, std::move(cluster), *server).Examine();
}

}  // namespace

int RunDoctor(const Args& args) {
  const absl::StatusOr<DoctorFlags> flags = DoctorFlagsFrom(args);
  if (!flags.ok()) {
    std::fprintf(stderr, "flyball doctor: %s\n", Text(flags.status()).c_str());
    return kUsageError;
  }
  if (!flags->help.empty()) {
    std::fputs(flags->help.c_str(), stdout);
    return 0;
  }
  spdlog::set_level(spdlog::level::off);  // the report has what would be logged
  const absl::StatusOr<doctor::Report> report = Examine(*flags);
  if (!report.ok()) {
    std::fprintf(stderr, "flyball doctor: %s\n", Text(report.status()).c_str());
    return kUsageError;
  }
  const std::string text = flags->output == "text"
                               ? ForLocale(doctor::ReportText(*report))
                               : JsonAs(flags->output, doctor::ReportJson(*report));
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) return 1;
  return doctor::CountOf(*report, doctor::Level::kBad) == 0 ? 0 : 1;
}

}  // namespace flyball::cmd
