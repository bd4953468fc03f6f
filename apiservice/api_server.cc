#include "apiservice/api_server.h"

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "apiservice/auth/authenticator.h"
#include "apiservice/auth/authorizer.h"
#include "apiservice/auth/configmap_watcher.h"
#include "apiservice/auth/review_client.h"
#include "apiservice/auth/token_authenticator.h"
#include "apiservice/auth/trust.h"
#include "apiservice/endpoints/document_endpoints.h"
#include "apiservice/endpoints/metric_endpoints.h"
#include "apiservice/endpoints/process_metrics.h"
#include "apiservice/handler.h"
#include "apiservice/self_metrics.h"
#include "base/file_watcher.h"
#include "base/read_file.h"
#include "base/status_macros.h"
#include "base/thread_limit.h"
#include "http/server/http_server.h"
#include "http/server/tls.h"
#include "spdlog/spdlog.h"

namespace flyball::apiservice {
namespace {

constexpr absl::Duration kFileInterval = absl::Seconds(1);
constexpr absl::Duration kDrainTimeout = absl::Seconds(60);  // for requests under way at shutdown

// There are enough threads for all requests that may wait for the API server or Prometheus, in
// addition to those that are ready. So probes, and requests that are answered from memory, never
// wait for them.
http::ListenOptions ListenWithEnoughWorkers(const ServerOptions& options) {
  constexpr int kFewestWorkers = 8;
  constexpr int kMasters = 32;  // for requests of system:masters, which no limit counts
  constexpr int kKindsOfReviews = 2;
  http::ListenOptions listen = options.listen;
  if (listen.workers == 0) {
    listen.workers =
        std::max(kFewestWorkers, static_cast<int>(std::thread::hardware_concurrency()));
  }
  if (listen.max_workers == 0) {
    listen.max_workers = listen.workers + options.limits.max_in_flight +
                         kKindsOfReviews * options.limits.max_reviews + kMasters;
  }
  return listen;
}

// `last` becomes the status. A failure that recurs each second is logged once.
void WarnOnce(const char* what, const absl::Status& status, absl::Status& last) {
  if (!status.ok() && status != last) spdlog::warn("{}: {}", what, status.ToString());
  last = status;
}

}  // namespace

class ApiServer::Impl {
 public:
  Impl(ServerOptions options, ServerDependencies dependencies)
      : options_(std::move(options)),
        dependencies_(std::move(dependencies)),
        clock_(&dependencies_.clock) {}

  ~Impl() { Stop(absl::ZeroDuration()); }

  absl::Status Prepare() {
    if (options_.authorization.mode == AuthorizationMode::kReview &&
        dependencies_.authorization == nullptr) {
      return absl::InvalidArgumentError(
          "authorization by SubjectAccessReview needs a connection to the Kubernetes API");
    }
    ASSIGN_OR_RETURN(tls_,
                     http::TlsCertificates::Create(options_.tls, options_.listen.bind_address));
    RETURN_IF_ERROR(PrepareAuthentication());
    if (dependencies_.authorization != nullptr) {
      access_reviews_ = std::make_unique<ReviewClient>(dependencies_.authorization, clock_);
    }
    authorizer_ = std::make_unique<Authorizer>(options_.authorization, access_reviews_.get(),
                                               clock_, options_.limits.max_reviews);
    PrepareHealth();
    std::vector<std::string> own_paths;
    if (dependencies_.debug_rules) own_paths.emplace_back("/debug/rules");
    if (dependencies_.debug_decisions) own_paths.emplace_back("/debug/decisions");
    documents_ = std::make_unique<DocumentEndpoints>(
        options_.version, health_.get(), own_paths, [this] { return http_->port(); }, clock_);
    metrics_ = std::make_unique<MetricEndpoints>(
        clock_, options_.limits, [this](size_t bytes) { return http_->CountAnswer(bytes); });
    PrepareHandler();
    http_ = std::make_unique<http::HttpServer>(
        ListenWithEnoughWorkers(options_), tls_.get(), clock_,
        [this](const http::HttpRequest& request) { return Answer(request); });
    PrepareSelfMetrics();
    return absl::OkStatus();
  }

  absl::Status Start() {
    RETURN_IF_ERROR(http_->Start());
    started_ = true;
    if (config_map_ != nullptr) config_map_->Start();
    certificate_watcher_ = std::make_unique<FileWatcher>(*clock_, tls_->first_look(), kFileInterval,
                                                         [this] { return ReloadCertificates(); });
    if (trust_files_.has_value()) {
      trust_watcher_ = std::make_unique<FileWatcher>(*clock_, *trust_files_, kFileInterval,
                                                     [this] { return ReloadTrust(); });
    }
    if (token_file_.has_value()) {
      token_watcher_ = std::make_unique<FileWatcher>(*clock_, *token_file_, kFileInterval,
                                                     [this] { return ReloadTokens(); });
    }
    return absl::OkStatus();
  }

  int port() const { return http_->port(); }
  absl::Duration shutdown_delay() const { return options_.shutdown_delay; }

  // `delay`: how long to go on serving after /readyz fails.
  void BeginStop(absl::Duration delay) {
    absl::MutexLock lock(&stop_mutex_);
    const MonotonicTime now = clock_->MonotonicNow();
    if (!stopping_.exchange(true)) unready_since_ = now;
    if (started_) clock_->Await(stop_mutex_, absl::Condition(&stopped_), unready_since_ + delay);
  }

  void Stop(absl::Duration delay) {
    BeginStop(delay);
    absl::MutexLock lock(&stop_mutex_);
    if (std::exchange(stop_called_, true)) {
      stop_mutex_.Await(absl::Condition(&stopped_));  // the first caller is stopping it
      return;
    }
    if (started_) http_->Drain(kDrainTimeout);
    if (token_reviews_ != nullptr) token_reviews_->Stop();
    if (access_reviews_ != nullptr) access_reviews_->Stop();
    certificate_watcher_.reset();
    trust_watcher_.reset();
    token_watcher_.reset();
    if (config_map_ != nullptr) config_map_->Stop();
    stopped_ = true;
  }

 private:
  http::HttpResponse Answer(const http::HttpRequest& request) {
    http::HttpResponse response = handler_->Handle(request);
    // Connections are closed, so that clients find another server.
    if (stopping_) response.close = true;
    return response;
  }

  absl::Status PrepareAuthentication() {
    const AuthenticationOptions& options = options_.authentication;
    if (dependencies_.authentication != nullptr) {
      token_reviews_ = std::make_unique<ReviewClient>(dependencies_.authentication.get(), clock_);
    }
    tokens_ = std::make_unique<TokenAuthenticator>(
        token_reviews_.get(), clock_, options.token_cache_ttl, options_.limits.max_reviews);
    authenticator_ = std::make_unique<Authenticator>(tokens_.get(), clock_);
    std::vector<std::string> paths = TrustFiles(options);
    if (!paths.empty()) trust_files_.emplace(std::move(paths));
    if (!options.token_file.empty()) token_file_.emplace(std::vector{options.token_file});
    ASSIGN_OR_RETURN(Trust files, TrustFromFiles(options));
    if (!options.token_file.empty()) RETURN_IF_ERROR(ReadTokens());
    const bool wanted = options.lookup && dependencies_.authentication != nullptr;
    // If flags name both CA files, nothing in the ConfigMap would be used.
    const bool useful =
        options.client_ca_file.empty() || options.request_header.client_ca_file.empty();
    {
      absl::MutexLock lock(&trust_mutex_);
      from_files_ = files;
      from_config_map_.headers = files.headers;
      looked_up_ = !wanted || !useful;
    }
    if (wanted && useful) RETURN_IF_ERROR(LookUpConfigMap());
    absl::MutexLock lock(&trust_mutex_);
    Publish();
    return absl::OkStatus();
  }

  absl::Status LookUpConfigMap() {
    config_map_ = std::make_unique<ConfigMapWatcher>(
        dependencies_.authentication, *clock_,
        [this](const ConfigMapWatcher::Data& data) { OnConfigMap(data); });
    const absl::StatusOr<ConfigMapWatcher::Data> data = config_map_->Read();
    if (data.ok()) {
      OnConfigMap(*data);
      return absl::OkStatus();
    }
    const bool unreachable =
        absl::IsUnavailable(data.status()) || absl::IsDeadlineExceeded(data.status());
    if (options_.authentication.tolerate_lookup_failure || unreachable) {
      // The API server may be down for a while; until it is back /readyz says so.
      spdlog::warn("authentication ConfigMap: {}", data.status().ToString());
      absl::MutexLock lock(&trust_mutex_);
      looked_up_ = options_.authentication.tolerate_lookup_failure;
      return absl::OkStatus();
    }
    return absl::FailedPreconditionError(absl::StrCat(
        data.status().message(),
        "; give the service account the role extension-apiserver-authentication-reader in "
        "kube-system, or use --authentication-skip-lookup or "
        "--authentication-tolerate-lookup-failure"));
  }

  void OnConfigMap(const ConfigMapWatcher::Data& data) {
    std::vector<std::string> problems;
    absl::MutexLock lock(&trust_mutex_);
    from_config_map_ = TrustFromConfigMap(data, from_config_map_, &problems);
    looked_up_ = true;
    Publish();
    for (const std::string& problem : problems) {
      spdlog::warn("ConfigMap kube-system/extension-apiserver-authentication, {}", problem);
    }
  }

  void Publish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(trust_mutex_) {
    authenticator_->SetTrust(Combine(options_.authentication, from_files_, from_config_map_));
  }

  absl::Status ReadTokens() {
    const std::string& path = options_.authentication.token_file;
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    const absl::Status status = tokens_->SetStaticTokens(text);
    if (status.ok()) return status;
    return absl::InvalidArgumentError(absl::StrCat("token file ", path, ", ", status.message()));
  }

  absl::Status ReloadTrust() {
    absl::StatusOr<Trust> files = TrustFromFiles(options_.authentication);
    WarnOnce("CA files changed and are not used", files.status(), trust_reload_);
    if (!files.ok()) return trust_reload_;
    absl::MutexLock lock(&trust_mutex_);
    from_files_ = *std::move(files);
    Publish();
    return absl::OkStatus();
  }

  absl::Status ReloadTokens() {
    WarnOnce("tokens changed and are not used", ReadTokens(), tokens_reload_);
    return tokens_reload_;
  }

  absl::Status ReloadCertificates() {
    WarnOnce("serving certificate changed and is not used", tls_->Reload(), certificate_reload_);
    if (certificate_reload_.ok()) spdlog::info("serving certificate read anew");
    return certificate_reload_;
  }

  void PrepareHealth() {
    // The original's names, in its order. Work of its post-start hooks is already finished here
    // when the server answers.
    const auto done = [] { return absl::OkStatus(); };
    const auto looked_up = [this] {
      absl::MutexLock lock(&trust_mutex_);
      return looked_up_ ? absl::OkStatus() : absl::UnavailableError("not read yet");
    };
    const auto not_stopping = [this] {
      return stopping_ ? absl::UnavailableError("process is shutting down") : absl::OkStatus();
    };
    std::vector<HealthCheck> checks = {
        {"poststarthook/generic-apiserver-start-informers", done, true},
        {"informer-sync", dependencies_.objects_known ? dependencies_.objects_known : done},
        {"poststarthook/max-in-flight-filter", done, true},
        {"poststarthook/storage-object-count-tracker-hook", done, true}};
    checks.insert(checks.end(), dependencies_.checks.begin(), dependencies_.checks.end());
    checks.push_back({"authentication-configmap", looked_up});
    checks.push_back({"shutdown", not_stopping});
    health_ = std::make_unique<HealthChecks>(std::move(checks));
  }

  void PrepareHandler() {
    RequestHandler::Deps deps;
    deps.clock = clock_;
    deps.authenticator = authenticator_.get();
    deps.authorizer = authorizer_.get();
    deps.documents = documents_.get();
    deps.metrics = metrics_.get();
    deps.self_metrics = &self_metrics_;
    deps.providers = dependencies_.providers;
    deps.metrics_text = [this] { return MetricsText(); };
    deps.debug_rules = dependencies_.debug_rules;
    deps.pages = dependencies_.pages;
    deps.debug_decisions = dependencies_.debug_decisions;
    handler_ = std::make_unique<RequestHandler>(options_.limits, std::move(deps));
  }

  void PrepareSelfMetrics() {
    SelfMetrics::Sources& sources = self_metrics_.sources;
    sources.http = &http_->counters();
    sources.authentication = &authenticator_->counters();
    sources.authorization = &authorizer_->counters();
    if (token_reviews_ != nullptr) sources.token_reviews = &token_reviews_->durations();
    if (access_reviews_ != nullptr) sources.access_reviews = &access_reviews_->durations();
    sources.metrics = metrics_.get();
    sources.certificate_end = [this] { return tls_->not_after(); };
    sources.now = [this] { return clock_->WallNow(); };
  }

  std::string MetricsText() const {
    std::vector<prometheus::MetricFamily> families;
    for (const std::weak_ptr<prometheus::Collectable>& weak : dependencies_.metrics) {
      const std::shared_ptr<prometheus::Collectable> collectable = weak.lock();
      if (collectable == nullptr) continue;
      for (prometheus::MetricFamily& family : collectable->Collect()) {
        families.push_back(std::move(family));
      }
    }
    std::string text = self_metrics_.Text() + ProcessMetricsText() +
                       prometheus::TextSerializer().Serialize(families);
    if (dependencies_.more_metrics) dependencies_.more_metrics(text);
    return text;
  }

  const ServerOptions options_;
  const ServerDependencies dependencies_;
  Clock* const clock_;

  std::unique_ptr<http::TlsCertificates> tls_;
  std::unique_ptr<ReviewClient> token_reviews_;
  std::unique_ptr<ReviewClient> access_reviews_;
  std::unique_ptr<TokenAuthenticator> tokens_;
  std::unique_ptr<Authenticator> authenticator_;
  std::unique_ptr<Authorizer> authorizer_;
  std::unique_ptr<HealthChecks> health_;
  std::unique_ptr<DocumentEndpoints> documents_;
  std::unique_ptr<MetricEndpoints> metrics_;
  SelfMetrics self_metrics_;
  std::unique_ptr<RequestHandler> handler_;
  std::unique_ptr<http::HttpServer> http_;

  // As they were before they were read; absent: none.
  std::optional<FileStamps> trust_files_, token_file_;
  absl::Status trust_reload_, tokens_reload_, certificate_reload_;  // of their watcher's thread
  absl::Mutex trust_mutex_;
  Trust from_files_ ABSL_GUARDED_BY(trust_mutex_);
  Trust from_config_map_ ABSL_GUARDED_BY(trust_mutex_);
  bool looked_up_ ABSL_GUARDED_BY(trust_mutex_) = false;

  std::atomic<bool> stopping_{false};  // /readyz fails
  bool started_ = false;
  absl::Mutex stop_mutex_;
  MonotonicTime unready_since_ ABSL_GUARDED_BY(stop_mutex_) = absl::ZeroDuration();
  bool stop_called_ ABSL_GUARDED_BY(stop_mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(stop_mutex_) = false;

  // Last: their threads use what is above.
  std::unique_ptr<ConfigMapWatcher> config_map_;
  std::unique_ptr<FileWatcher> certificate_watcher_;
  std::unique_ptr<FileWatcher> trust_watcher_;
  std::unique_ptr<FileWatcher> token_watcher_;
};

ApiServer::ApiServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ApiServer::~ApiServer() = default;

absl::StatusOr<std::unique_ptr<ApiServer>> ApiServer::Create(ServerOptions options,
                                                             ServerDependencies dependencies) {
  auto impl = std::make_unique<Impl>(std::move(options), std::move(dependencies));
  RETURN_IF_ERROR(impl->Prepare());
  return std::unique_ptr<ApiServer>(new ApiServer(std::move(impl)));
}

absl::Status ApiServer::Start() {
  return UnlessNoThread([this] { return impl_->Start(); });
}
int ApiServer::port() const { return impl_->port(); }
void ApiServer::BeginShutdown() { impl_->BeginStop(impl_->shutdown_delay()); }
void ApiServer::Shutdown() { impl_->Stop(impl_->shutdown_delay()); }

}  // namespace flyball::apiservice
