#include "serve/flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "scaler/spec/dialect.h"
#include "serve/completion.h"
#include "serve/logging.h"

namespace flyball::serve {
namespace {

// Half of the longest request line that the strictest proxies accept, those with nginx's defaults.
constexpr size_t kMaxMergedUrl = 4096;

constexpr char kScalerGroup[] = "Scaler";  // of flags

enum class Kind { kBool, kInt, kFloat, kString, kDuration, kFileLevels };

// Flags of the original that have no effect here, and why.
struct InertFlag {
  const char* name;
  Kind kind;
  const char* reason;
};

constexpr char kNoHttp2[] = "this server speaks HTTP/1.1 only";
constexpr char kNoLimit[] =
    "objects are watched, not listed for each request, so there is no client limit";
constexpr char kNoGo[] = "there is no Go profiler here";
constexpr char kNoAudit[] = "audit logs are not written";
constexpr char kNoKlog[] = "logs are flushed at once and have no per-file level";
constexpr char kLogsToStderr[] = "logs always go to stderr";
constexpr char kOneHead[] = "lines of the log always begin in the same way";

constexpr InertFlag kInert[] = {
    {"disable-http2", Kind::kBool, kNoHttp2},
    {"http2-max-streams-per-connection", Kind::kInt, kNoHttp2},
    {"client-qps", Kind::kFloat, kNoLimit},
    {"client-burst", Kind::kInt, kNoLimit},
    {"profiling", Kind::kBool, kNoGo},
    {"contention-profiling", Kind::kBool, kNoGo},
    {"debug-socket-path", Kind::kString, kNoGo},
    {"enable-priority-and-fairness", Kind::kBool, "kube-apiserver queues its callers already"},
    {"vmodule", Kind::kFileLevels, kNoKlog},
    // Flags of klog that occur in manifests from before 0.12, some with underscores up to 0.10.
    {"logtostderr", Kind::kBool, kLogsToStderr},
    {"alsologtostderr", Kind::kBool, kLogsToStderr},
    {"stderrthreshold", Kind::kString, kLogsToStderr},
    {"log-dir", Kind::kString, kLogsToStderr},
    {"log_dir", Kind::kString, kLogsToStderr},
    {"log-file", Kind::kString, kLogsToStderr},
    {"log_file", Kind::kString, kLogsToStderr},
    {"log-file-max-size", Kind::kInt, kLogsToStderr},
    {"log_file_max_size", Kind::kInt, kLogsToStderr},
    {"one-output", Kind::kBool, kLogsToStderr},
    {"one_output", Kind::kBool, kLogsToStderr},
    {"skip-log-headers", Kind::kBool, kLogsToStderr},
    {"skip_log_headers", Kind::kBool, kLogsToStderr},
    {"skip-headers", Kind::kBool, kOneHead},
    {"skip_headers", Kind::kBool, kOneHead},
    {"add-dir-header", Kind::kBool, kOneHead},
    {"add_dir_header", Kind::kBool, kOneHead},
    {"log-backtrace-at", Kind::kString, kNoKlog},
    {"log_backtrace_at", Kind::kString, kNoKlog},
    {"log-flush-frequency", Kind::kDuration, kNoKlog},
    {"audit-policy-file", Kind::kString, kNoAudit},
    {"audit-log-path", Kind::kString, kNoAudit},
    {"audit-log-format", Kind::kString, kNoAudit},
    {"audit-log-mode", Kind::kString, kNoAudit},
    {"audit-log-version", Kind::kString, kNoAudit},
    {"audit-log-maxage", Kind::kInt, kNoAudit},
    {"audit-log-maxbackup", Kind::kInt, kNoAudit},
    {"audit-log-maxsize", Kind::kInt, kNoAudit},
    {"audit-log-compress", Kind::kBool, kNoAudit},
    {"audit-log-batch-buffer-size", Kind::kInt, kNoAudit},
    {"audit-log-batch-max-size", Kind::kInt, kNoAudit},
    {"audit-log-batch-max-wait", Kind::kDuration, kNoAudit},
    {"audit-log-batch-throttle-enable", Kind::kBool, kNoAudit},
    {"audit-log-batch-throttle-qps", Kind::kFloat, kNoAudit},
    {"audit-log-batch-throttle-burst", Kind::kInt, kNoAudit},
    {"audit-log-truncate-enabled", Kind::kBool, kNoAudit},
    {"audit-log-truncate-max-batch-size", Kind::kInt, kNoAudit},
    {"audit-log-truncate-max-event-size", Kind::kInt, kNoAudit},
    {"audit-webhook-config-file", Kind::kString, kNoAudit},
    {"audit-webhook-initial-backoff", Kind::kDuration, kNoAudit},
    {"audit-webhook-mode", Kind::kString, kNoAudit},
    {"audit-webhook-version", Kind::kString, kNoAudit},
    {"audit-webhook-batch-buffer-size", Kind::kInt, kNoAudit},
    {"audit-webhook-batch-max-size", Kind::kInt, kNoAudit},
    {"audit-webhook-batch-max-wait", Kind::kDuration, kNoAudit},
    {"audit-webhook-batch-throttle-enable", Kind::kBool, kNoAudit},
    {"audit-webhook-batch-throttle-qps", Kind::kFloat, kNoAudit},
    {"audit-webhook-batch-throttle-burst", Kind::kInt, kNoAudit},
    {"audit-webhook-truncate-enabled", Kind::kBool, kNoAudit},
    {"audit-webhook-truncate-max-batch-size", Kind::kInt, kNoAudit},
    {"audit-webhook-truncate-max-event-size", Kind::kInt, kNoAudit},
};

void AddSourceFlags(GoFlags flags, ServeFlags& f) {
  flags.String("config", f.config, "rule file (required)");
  AddPrometheusFlags(flags, f);
  flags.Duration("metrics-relist-interval", f.adapter.relist.interval,
                 "how often series are discovered");
  flags.Duration(
      "metrics-max-age", f.adapter.relist.max_age,
      "a series counts as existing if it had a sample in this time; 0: in the relist interval");
  flags.Duration("query-freshness", f.adapter.queries.flights.freshness,
                 "reuse a query's result for this long; 0: no caching");
  flags.Bool("query-merge", f.adapter.queries.merge,
             "ask for several objects of one rule in one query where the answers are the same");
  flags.String("nan-value", f.nan_value,
               "what NaN becomes: zero, or drop (the object has no value)", "zero|drop");
}

void AddObjectFlags(GoFlags flags, ServeFlags& f) {
  flags.String("objects", f.objects,
               "folder of YAML files that hold the objects, instead of a cluster; with --scaler "
               "the processes of its ProcessSets are run and scaled");
  flags.String("lister-kubeconfig", f.lister_kubeconfig,
               "kubeconfig for discovery and objects (default: in-cluster)");
  flags.Duration("discovery-interval", f.discovery_interval,
                 "how often the cluster's resources are discovered again; 0: every five minutes "
                 "and when one is missed");
}

void AddServingFlags(GoFlags flags, ServeFlags& f) {
  flags.Int("secure-port", f.server.listen.port, "port of the HTTPS server");
  flags.String("bind-address", f.server.listen.bind_address,
               "address to listen on; 0.0.0.0 and :: are all, of IPv4 and IPv6");
  flags.String("cert-dir", f.server.tls.cert_dir,
               "where a self-signed certificate is made when none is given");
  flags.String("tls-cert-file", f.server.tls.cert_file,
               "serving certificate, re-read when it changes");
  flags.String("tls-private-key-file", f.server.tls.key_file, "key of the serving certificate");
  flags.String("tls-min-version", f.server.tls.min_version,
               "VersionTLS10 to VersionTLS13 (default VersionTLS12)");
  flags.List("tls-cipher-suites", f.server.tls.cipher_suites, "cipher suites by their Go names");
  flags.Repeated("tls-sni-cert-key", f.tls_sni_cert_keys,
                 "CERT,KEY[:NAME,…] for a server name; repeatable");
  flags.Bool("permit-address-sharing", f.server.listen.reuse_address, "set SO_REUSEADDR");
  flags.Bool("permit-port-sharing", f.server.listen.reuse_port, "set SO_REUSEPORT");
  flags.Int("max-requests-inflight", f.server.limits.max_in_flight,
            "most requests at once; more are answered 429");
  flags.Duration(
      "shutdown-delay-duration", f.server.shutdown_delay,
      "how long the server goes on serving after the signal to stop, while /readyz already "
      "fails");
}

// Limits on what clients may use of the server.
void AddLimitFlags(GoFlags flags, ServeFlags& f) {
  flags.Int("max-reviews-inflight", f.server.limits.max_reviews,
            "most requests at once that wait for a TokenReview, and as many for a "
            "SubjectAccessReview; more are answered 429");
  flags.Int("max-connections", f.server.listen.max_connections,
            "most connections; beyond it the one that has been quiet longest is closed");
  flags.Int("max-connection-bytes", f.max_connection_bytes,
            "memory that all connections may take together: state of TLS, requests that are read, "
            "answers that clients have not read; beyond it those that have been quiet longest are "
            "closed");
  flags.Int("max-header-bytes", f.max_header_bytes,
            "longest request line and headers; more is answered 431");
  flags.Int("max-header-lines", f.max_header_lines,
            "header lines of one request; more are answered 431");
  flags.Int("max-selector-bytes", f.max_selector_bytes,
            "largest selector of a request, where each key and value counts its length and 64 "
            "bytes; more is answered 400");
  flags.Int("max-answer-bytes", f.max_answer_bytes,
            "longest list of metrics as compact JSON; what would be longer is answered 413");
}

void AddAuthFlags(GoFlags flags, ServeFlags& f) {
  apiservice::RequestHeaderOptions& users = f.server.authentication.request_header;
  flags.String("authentication-kubeconfig", f.authentication_kubeconfig,
               "kubeconfig for TokenReview (default: in-cluster; with --objects: none is asked)");
  flags.String(
      "authorization-kubeconfig", f.authorization_kubeconfig,
      "kubeconfig for SubjectAccessReview (default: in-cluster; with --objects: none is asked)");
  flags.Bool("authentication-skip-lookup", f.authentication_skip_lookup,
             "do not read the extension-apiserver-authentication ConfigMap");
  flags.Bool("authentication-tolerate-lookup-failure",
             f.server.authentication.tolerate_lookup_failure,
             "start although that ConfigMap can't be read");
  flags.Duration("authentication-token-webhook-cache-ttl", f.server.authentication.token_cache_ttl,
                 "how long a TokenReview counts");
  flags.Duration("authorization-webhook-cache-authorized-ttl",
                 f.server.authorization.authorized_ttl, "how long an allowed review counts");
  flags.Duration("authorization-webhook-cache-unauthorized-ttl",
                 f.server.authorization.unauthorized_ttl, "how long a denied review counts");
  flags.List("authorization-always-allow-paths", f.server.authorization.always_allow_paths,
             "paths that need no authorization, exactly as written");
  flags.String("client-ca-file", f.server.authentication.client_ca_file,
               "CA of client certificates (default: from the ConfigMap)");
  flags.String(
      "token-auth-file", f.server.authentication.token_file,
      "CSV file of static tokens: token,user,uid,\"group1,group2\"; for use without a cluster");
  flags.String("requestheader-client-ca-file", users.client_ca_file,
               "CA of the front proxy (default: from the ConfigMap)");
  flags.List("requestheader-allowed-names", users.allowed_names,
             "common names that the front proxy's certificate may have");
  flags.List("requestheader-username-headers", users.headers.username_headers,
             "headers with the user");
  flags.List("requestheader-group-headers", users.headers.group_headers, "headers with the groups");
  flags.List("requestheader-extra-headers-prefix", users.headers.extra_prefixes,
             "prefixes of headers with extra fields");
}

// The variables for flags without effect, one for each type: values are checked for their type, as
// in the original, and then forgotten.
struct InertValues {
  bool flag = false;
  int integer = 0;
  double real = 0;
  std::string text;
  absl::Duration duration;
};

void AddInertFlags(CLI::App& app, const char* group, InertValues& values) {
  GoFlags flags(app, group);
  for (const InertFlag& inert : kInert) {
    const std::string name = absl::StrCat("--", inert.name);
    switch (inert.kind) {
      case Kind::kBool:
        app.add_flag(name, values.flag, "accepted without effect")->take_last()->group(group);
        break;
      case Kind::kInt: flags.Int(inert.name, values.integer, "accepted without effect"); break;
      case Kind::kFloat:
        app.add_option(name, values.real, "accepted without effect")->take_last()->group(group);
        break;
      case Kind::kString:
        app.add_option(name, values.text, "accepted without effect")->take_last()->group(group);
        break;
      case Kind::kFileLevels: flags.FileLevels(inert.name, "accepted without effect"); break;
      case Kind::kDuration:
        flags.Duration(inert.name, values.duration, "accepted without effect");
        break;
    }
  }
}

// One warning for all flags that have no effect here, one for those of the scaler if it does not
// run, and one for those of the metric source that is not used.
void WarnOfIdleFlags(const CLI::App& app, ServeFlags& f) {
  std::vector<std::string> inert, of_no_scaler, of_no_live, of_no_prometheus;
  for (const InertFlag& flag : kInert) {
    if (app.count(absl::StrCat("--", flag.name)) > 0) {
      inert.push_back(absl::StrCat("--", flag.name, " (", flag.reason, ")"));
    }
  }
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    const bool of_scaler = option->get_group() == kScalerGroup && name != "--scaler";
    const bool of_live = absl::StartsWith(name, "--live-") || name == "--promql-dialect";
    if (option->count() == 0) continue;
    if (of_scaler && !f.scaler.enabled) of_no_scaler.push_back(name);
    if (of_live && !f.live.live()) of_no_live.push_back(name);
    if (absl::StartsWith(name, "--prometheus-") && !f.live.prometheus() && !f.live.warms()) {
      of_no_prometheus.push_back(name);
    }
  }
  const auto warn = [&f](absl::string_view what, const std::vector<std::string>& given) {
    if (!given.empty()) f.warnings.push_back(absl::StrCat(what, absl::StrJoin(given, ", ")));
  };
  warn("these flags are accepted and have no effect: ", inert);
  warn("without --scaler these flags have no effect: ", of_no_scaler);
  warn("without --metric-source=live these flags have no effect: ", of_no_live);
  warn("with --metric-source=live these flags have no effect: ", of_no_prometheus);
  if (!f.scaler.enabled) return;
  const auto dialect =
      scaler::ParseDialectChoice(f.scaler.kubernetes_version, f.scaler.feature_gates);
  if (dialect.ok()) warn("--feature-gates: without effect on autoscalers: ", dialect->other_gates);
}

absl::Status Check(const ServeFlags& f) {
  const auto positive = [](const char* flag, int value) {
    return RefusedFlag{value <= 0, absl::StrCat(flag, ": expected more than 0, got ", value)};
  };
  RETURN_IF_ERROR(FirstRefused({
      {f.config.empty(),
       "no metrics discovery configuration file specified (make sure to use --config)"},
      {f.prometheus_verb != "GET" && f.prometheus_verb != "POST",
       absl::StrCat("--prometheus-verb: unsupported Prometheus HTTP verb \"", f.prometheus_verb,
                    "\"; supported verbs: \"GET\" and \"POST\"")},
      {f.prometheus_auth_incluster && !f.prometheus_auth_config.empty(),
       "--prometheus-auth-incluster and --prometheus-auth-config exclude each other"},
      {f.nan_value != "zero" && f.nan_value != "drop",
       absl::StrCat("--nan-value: expected zero or drop, got \"", f.nan_value, "\"")},
      {f.log_format != "text" && f.log_format != "json",
       absl::StrCat("--log-format: expected text or json, got \"", f.log_format, "\"")},
      {f.server.listen.port < 0 || f.server.listen.port > 65535,
       absl::StrCat("--secure-port: ", f.server.listen.port, " is not between 0 and 65535")},
      {f.server.listen.port == 0 && f.objects.empty(),
       "--secure-port: 0 (a free port) is only served with --objects"},
      {f.server.tls.cert_file.empty() != f.server.tls.key_file.empty(),
       "--tls-cert-file and --tls-private-key-file need each other"},
      positive("--max-reviews-inflight", f.server.limits.max_reviews),
      positive("--max-connections", f.server.listen.max_connections),
      positive("--max-connection-bytes", f.max_connection_bytes),
      positive("--max-header-bytes", f.max_header_bytes),
      positive("--max-header-lines", f.max_header_lines),
      positive("--max-selector-bytes", f.max_selector_bytes),
      positive("--max-answer-bytes", f.max_answer_bytes),
      {f.adapter.relist.interval <= absl::ZeroDuration(),
       "--metrics-relist-interval: expected more than 0"},
      {f.scaler.enabled && !f.objects.empty() && !f.scaler.kubeconfig.empty(),
       "--scaler-kubeconfig: with --objects the scaler works on the objects of the folder"},
  }));
  RETURN_IF_ERROR(CheckLiveFlags(f.live));
  return f.scaler.enabled ? CheckScalerFlags(f.scaler) : absl::OkStatus();
}

}  // namespace

void AddPrometheusFlags(GoFlags flags, ServeFlags& f) {
  flags.Repeated(
      "prometheus-url", f.prometheus_urls,
      "URL of Prometheus (default of serve: https://localhost, of doctor: the server's); "
      "repeated: servers of equal "
      "content, tried in order",
      "URL");
  flags.Bool("prometheus-auth-incluster", f.prometheus_auth_incluster,
             "use the pod's service account towards Prometheus");
  flags.String("prometheus-auth-config", f.prometheus_auth_config,
               "kubeconfig whose credentials are used towards Prometheus");
  flags.String("prometheus-ca-file", f.prometheus_ca_file, "PEM file of the CA of Prometheus");
  flags.String("prometheus-client-tls-cert-file", f.prometheus_client_tls_cert_file,
               "client certificate towards Prometheus");
  flags.String("prometheus-client-tls-key-file", f.prometheus_client_tls_key_file,
               "key of that certificate");
  flags.String("prometheus-token-file", f.prometheus_token_file,
               "file with the bearer token for Prometheus, re-read when it changes");
  flags.Repeated("prometheus-header", f.prometheus_headers,
                 "header K=V for each request to Prometheus; repeatable");
  flags.String("prometheus-verb", f.prometheus_verb, "how queries are sent", "GET|POST");
  flags.Duration(
      "prometheus-timeout", f.prometheus_timeout,
      "limit on one query to Prometheus; a call for series may take as long as the relist "
      "interval, if that is longer, and at least 60s");
}

absl::StatusOr<ServeFlags> ParseServeFlags(const std::vector<std::string>& args) {
  ServeFlags f;
  InertValues inert;
  CLI::App app(
      "Serves custom.metrics.k8s.io, external.metrics.k8s.io and metrics.k8s.io from rule files.",
      "flyball serve");
  app.set_help_all_flag("--help-all", "Print this, and the flags that are accepted without effect");
  app.footer(
      "Exit status: 0 after a signal to stop, 2 for a flag that is unknown or malformed, 255 when "
      "it cannot start, also because of a flag's value.");
  AddSourceFlags(GoFlags(app, "Rules and Prometheus"), f);
  AddObjectFlags(GoFlags(app, "Objects"), f);
  AddServingFlags(GoFlags(app, "Serving"), f);
  AddLimitFlags(GoFlags(app, "Limits"), f);
  AddAuthFlags(GoFlags(app, "Authentication and authorization"), f);
  AddLiveFlags(GoFlags(app, "Live source"), f.live);
  AddScalerFlags(GoFlags(app, kScalerGroup), f.scaler);
  app.add_option(
         "-v,--v", f.verbosity,
         absl::StrCat("log level: from ", kLogRequests, " on each request with its user, from ",
                      kLogQueries, " on each query to Prometheus (default 0)"))
      ->take_last()
      ->type_name("INT")
      ->group("Log");
  GoFlags(app, "Log").String("log-format", f.log_format, "format of the log", "text|json");
  // An empty group is not listed.
  const bool all = absl::c_linear_search(args, "--help-all");
  AddInertFlags(app, all ? "Of prometheus-adapter, accepted without effect" : "", inert);
  // prometheus-adapter ignores positional words; its Helm chart passes one.
  std::vector<std::string> ignored;
  app.add_option("ignored", ignored)->group("");

  if (std::optional<std::string> listed = ListedWords(app, args)) {
    f.help = *std::move(listed);
    return f;
  }
  std::vector<std::string> words = GoWords(app, args);
  std::reverse(words.begin(), words.end());  // CLI11 takes words last first
  try {
    app.parse(std::move(words));
  } catch (const CLI::Success&) {  // a call for help
    f.help = app.help();
    return f;
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(error.what());
  }
  f.bind_address_given = app.count("--bind-address") > 0;
  f.live.prometheus_given = !f.prometheus_urls.empty();
  WarnOfIdleFlags(app, f);
  TakeFrontDefaults(f.scaler, [&app](const std::string& name) { return app.count(name) > 0; });
  // The values of our own flags may be in upper or lower case.
  for (std::string* word :
       {&f.nan_value, &f.log_format, &f.scaler.mode, &f.scaler.trigger_secrets}) {
    absl::AsciiStrToLower(word);
  }
  RETURN_IF_ERROR(Check(f));
  if (f.prometheus_urls.empty()) f.prometheus_urls = {"https://localhost"};
  if (f.adapter.relist.max_age == absl::ZeroDuration()) {
    f.adapter.relist.max_age = f.adapter.relist.interval;
  }
  if (f.prometheus_verb == "GET") f.adapter.queries.max_url_bytes = kMaxMergedUrl;
  // The original has no limit for this call. Here it delays no other call, and is not repeated
  // before the interval is over.
  f.adapter.relist.timeout =
      std::max({f.adapter.relist.timeout, f.adapter.relist.interval, f.prometheus_timeout});
  if (f.nan_value == "drop") f.adapter.nan_value = adapter::NanValue::kDrop;
  return f;
}

}  // namespace flyball::serve
