#include "serve/front/carried_pods.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/status_macros.h"
#include "base/thread_limit.h"
#include "kube/objects/builtin_resources.h"

namespace flyball::serve {

class CarriedPods::Namespace : public kube::WatchHandler {
 public:
  explicit Namespace(const OnPods& on_pods) : on_pods_(on_pods) {}

  absl::Status Start(const std::string& ns, const Connect& connect, Clock& clock) {
    kube::ObjectWatchOptions options;
    options.resource = kube::ResourceNamed("", "v1", "pods", "Pod");
    options.ns = ns;
    ASSIGN_OR_RETURN(std::unique_ptr<http::HttpTransport> server, connect());
    watch_ =
        std::make_unique<kube::ObjectWatch>(std::move(options), std::move(server), clock, *this);
    return absl::OkStatus();
  }
  void Stop() { watch_.reset(); }

  void Follow(const std::string& service, kube::Selector selector, const std::string& port) {
    {
      absl::MutexLock lock(&mutex_);
      services_[service] = {std::move(selector), port};
      touched_.insert(service);
    }
    TellTouched();
  }
  // Whether no service is left.
  bool Forget(const std::string& service) {
    absl::MutexLock lock(&mutex_);
    services_.erase(service);
    return services_.empty();
  }
  std::optional<CarriedPod> Find(const std::string& uid) const {
    absl::MutexLock lock(&mutex_);
    const auto found = pods_.find(uid);
    return found == pods_.end() ? std::nullopt : std::optional(found->second);
  }

  void ListStarted() override {
    absl::MutexLock lock(&mutex_);
    seen_.clear();
  }
  void Listed(absl::string_view json) override {
    absl::MutexLock lock(&mutex_);
    if (const std::string uid = Take(json); !uid.empty()) seen_.insert(uid);
  }
  void ListEnded() override {
    {
      absl::MutexLock lock(&mutex_);
      absl::erase_if(pods_, [&](const auto& pod) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return !seen_.contains(pod.first);
      });
      listed_ = true;
      for (const auto& [service, followed] : services_) touched_.insert(service);
    }
    TellTouched();
  }
  void Changed(kube::ChangeType type, absl::string_view json) override {
    absl::MutexLock lock(&mutex_);
    if (type != kube::ChangeType::kDeleted) {
      Take(json);
      return;
    }
    const absl::StatusOr<CarriedPod> pod = ReadCarriedPod(json);
    if (!pod.ok()) return;
    Touch(pod->labels);
    pods_.erase(pod->uid);
  }
  void Flushed() override { TellTouched(); }

 private:
  struct Followed {
    kube::Selector selector;
    std::string port;
  };

  void Touch(const kube::Labels& labels) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (const auto& [service, followed] : services_) {
      if (followed.selector.Matches(labels)) touched_.insert(service);
    }
  }
  // Its uid; "" when it can't be read.
  std::string Take(absl::string_view json) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    absl::StatusOr<CarriedPod> pod = ReadCarriedPod(json);
    if (!pod.ok()) return "";
    std::string uid = pod->uid;
    CarriedPod& kept = pods_[uid];
    Touch(kept.labels);
    kept = *std::move(pod);
    Touch(kept.labels);
    return uid;
  }
  std::vector<front::PodView> ViewsOf(const Followed& followed) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    std::vector<front::PodView> views;
    for (const auto& [uid, pod] : pods_) {
      if (followed.selector.Matches(pod.labels)) views.push_back(ViewOf(pod, followed.port));
    }
    return views;
  }
  // The lock of the pods is not held, since the callback may ask about a pod.
  void TellTouched() {
    absl::MutexLock order(&telling_);
    std::vector<std::pair<std::string, std::vector<front::PodView>>> news;
    {
      absl::MutexLock lock(&mutex_);
      if (!listed_) return;
      for (const std::string& service : std::exchange(touched_, {})) {
        const auto followed = services_.find(service);
        if (followed != services_.end()) news.emplace_back(service, ViewsOf(followed->second));
      }
    }
    for (auto& [service, views] : news) on_pods_(service, std::move(views));
  }

  const OnPods& on_pods_;
  absl::Mutex telling_;  // so that pods are told in the order in which they changed
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, CarriedPod> pods_ ABSL_GUARDED_BY(mutex_);  // by uid
  std::map<std::string, Followed> services_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<std::string> seen_ ABSL_GUARDED_BY(mutex_);     // in the list under way
  absl::flat_hash_set<std::string> touched_ ABSL_GUARDED_BY(mutex_);  // services to be told
  bool listed_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<kube::ObjectWatch> watch_;  // the last: it calls the others
};

CarriedPods::CarriedPods(Connect connect, Clock& clock, OnPods on_pods)
    : connect_(std::move(connect)), clock_(clock), on_pods_(std::move(on_pods)) {}
CarriedPods::~CarriedPods() { Stop(); }

void CarriedPods::Stop() {
  std::map<std::string, std::shared_ptr<Namespace>> ended;
  {
    absl::MutexLock lock(&mutex_);
    ended.swap(namespaces_);
  }
  for (const auto& [ns, watched] : ended) watched->Stop();
}

absl::Status CarriedPods::Follow(const std::string& service, const std::string& ns,
                                 kube::Selector selector, const std::string& target_port) {
  std::shared_ptr<Namespace> watched;
  {
    absl::MutexLock lock(&mutex_);
    auto known = namespaces_.find(ns);
    if (known == namespaces_.end()) {
      auto fresh = std::make_shared<Namespace>(on_pods_);
      RETURN_IF_ERROR(UnlessNoThread([&] { return fresh->Start(ns, connect_, clock_); }));
      known = namespaces_.emplace(ns, std::move(fresh)).first;
    }
    watched = known->second;
  }
  watched->Follow(service, std::move(selector), target_port);
  return absl::OkStatus();
}

void CarriedPods::Forget(const std::string& service, const std::string& ns) {
  std::shared_ptr<Namespace> ended;
  {
    absl::MutexLock lock(&mutex_);
    const auto known = namespaces_.find(ns);
    if (known == namespaces_.end() || !known->second->Forget(service)) return;
    ended = std::move(known->second);
    namespaces_.erase(known);
  }
  ended->Stop();  // without the lock, since the watch's thread may ask about a pod
}

std::optional<CarriedPods::Question> CarriedPods::QuestionOf(const std::string& ns,
                                                             const std::string& uid,
                                                             const std::string& requests) const {
  std::shared_ptr<Namespace> watched;
  {
    absl::MutexLock lock(&mutex_);
    const auto known = namespaces_.find(ns);
    if (known == namespaces_.end()) return std::nullopt;
    watched = known->second;
  }
  const std::optional<CarriedPod> pod = watched->Find(uid);
  if (!pod.has_value() || !pod->check.has_value()) return std::nullopt;
  const std::string address =
      pod->check->port.empty() ? requests : AddressOf(*pod, pod->check->port);
  return Question{.address = address, .check = *pod->check};
}

}  // namespace flyball::serve
