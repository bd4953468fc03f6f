#include "kube/testing/fake_api_server.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/go/url.h"
#include "kube/local/local_api.h"

namespace flyball::kube {

using nlohmann::json;

namespace {

constexpr absl::Duration kGenerous = absl::Seconds(30);  // for tests that wait

}  // namespace

class FakeApiServer::Impl {
 public:
  // One open watch; guarded by Impl::mutex_.
  struct Watch : LocalApi::Watch {
    using LocalApi::Watch::Watch;
    uint64_t bookmarks = 0;
    uint64_t cuts = 0;
  };

  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall& call, const bool& shut) {
    Enter(call.method, call);
    absl::MutexLock lock(&mutex_);
    if (shut) return absl::CancelledError("fake API server: shutting down");
    requests_.push_back({call.method, call.target, call.body});
    if (dead_) return absl::UnavailableError("fake API server: connection refused");
    Fault* fault = FaultFor(call.method, call.target);
    if (fault == nullptr && !version_.empty() && call.target == "/version") {
      return AsHttp({200, json{{"major", "1"}, {"minor", version_}}});
    }
    if (fault == nullptr) return api_.Serve(call);
    if (fault->applied) api_.Serve(call);
    if (fault->status == 0) return absl::UnavailableError("fake API server: connection reset");
    return FaultAnswer(*fault);
  }

  absl::Status Stream(const http::HttpCall& call, const bool& shut,
                      const std::function<bool(absl::string_view)>& on_data) {
    Watch watch(call);
    if (watch.query["watch"].empty()) return Hand(Do(call, shut), on_data);
    Enter("WATCH", call);
    std::string text;
    {
      absl::MutexLock lock(&mutex_);
      requests_.push_back({"WATCH", call.target, ""});
      if (dead_) return absl::UnavailableError("fake API server: connection refused");
      if (Fault* fault = FaultFor("WATCH", call.target); fault != nullptr) {
        if (fault->status == 0) return absl::UnavailableError("fake API server: connection reset");
        return absl::Status(http::HttpStatusCode(fault->status), FaultAnswer(*fault).body);
      }
      if (!api_.Open(watch, text)) return absl::NotFoundError("404 page not found");
      watch.bookmarks = bookmarks_;
      watch.cuts = cuts_;
      ++open_;
    }
    const absl::Status ended = Follow(&watch, std::move(text), call.timeout, shut, on_data);
    absl::MutexLock lock(&mutex_);
    --open_;
    return ended;
  }

  LocalTarget FindObject(absl::string_view path) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const LocalTarget target = api_.store().Find(path);
    if (target.kind == nullptr) Misused(absl::StrCat("no such resource: ", path));
    return target;
  }

  [[noreturn]] static void Misused(absl::string_view what) {
    std::cerr << "FakeApiServer: " << what << std::endl;
    std::abort();
  }

  mutable absl::Mutex mutex_;
  LocalApi api_ ABSL_GUARDED_BY(mutex_);
  std::deque<Fault> faults_ ABSL_GUARDED_BY(mutex_);
  int faults_hit_ ABSL_GUARDED_BY(mutex_) = 0;
  std::function<void(const http::HttpCall&)> hook_ ABSL_GUARDED_BY(mutex_);
  std::vector<Request> requests_ ABSL_GUARDED_BY(mutex_);
  std::string version_ ABSL_GUARDED_BY(mutex_);
  bool dead_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t bookmarks_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t cuts_ ABSL_GUARDED_BY(mutex_) = 0;
  bool cut_well_ ABSL_GUARDED_BY(mutex_) = false;
  int open_ ABSL_GUARDED_BY(mutex_) = 0;

 private:
  // In pieces that end anywhere.
  static absl::Status Hand(const absl::StatusOr<http::HttpAnswer>& answer,
                           const std::function<bool(absl::string_view)>& on_data) {
    constexpr size_t kPiece = 1000;
    if (!answer.ok()) return answer.status();
    if (answer->status != 200)
      return absl::Status(http::HttpStatusCode(answer->status), answer->body);
    bool wanted = on_data("");
    for (size_t at = 0; wanted && at < answer->body.size(); at += kPiece) {
      wanted = on_data(absl::string_view(answer->body).substr(at, kPiece));
    }
    return absl::OkStatus();
  }

  void Enter(const std::string& method, const http::HttpCall& call) {
    std::function<void(const http::HttpCall&)> hook;
    {
      absl::MutexLock lock(&mutex_);
      hook = hook_;
    }
    http::HttpCall seen = call;
    seen.method = method;
    if (hook) hook(seen);
  }

  Fault* FaultFor(absl::string_view method, absl::string_view target)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (Fault& fault : faults_) {
      if (fault.times <= 0 || !absl::StrContains(target, fault.part) ||
          (!fault.method.empty() && fault.method != method)) {
        continue;
      }
      --fault.times;
      ++faults_hit_;
      return &fault;
    }
    return nullptr;
  }

  static http::HttpAnswer FaultAnswer(const Fault& fault) {
    http::HttpAnswer answer = AsHttp(LocalFailure(fault.status, fault.reason, fault.message));
    answer.headers.insert(answer.headers.end(), fault.headers.begin(), fault.headers.end());
    return answer;
  }

  // What LocalApi tells, and a pending bookmark.
  std::string News(Watch* watch, bool* expired) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::string text = api_.News(*watch, *expired);
    if (!*expired && std::exchange(watch->bookmarks, bookmarks_) != bookmarks_) {
      const json object = {{"kind", watch->target.kind->info.kind},
                           {"apiVersion", watch->target.kind->ApiVersion()},
                           {"metadata", {{"resourceVersion", absl::StrCat(watch->version)}}}};
      text += EventLine("BOOKMARK", object);
    }
    return text;
  }

  absl::Status Follow(Watch* watch, std::string text, absl::Duration timeout, const bool& shut,
                      const std::function<bool(absl::string_view)>& on_data) {
    if (!on_data("")) return absl::OkStatus();
    while (true) {
      if (!text.empty() && !on_data(text)) return absl::OkStatus();
      bool expired = false;
      {
        absl::MutexLock lock(&mutex_);
        const auto something = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
          return shut || dead_ || watch->cuts != cuts_ || watch->bookmarks != bookmarks_ ||
                 api_.HasNews(*watch);
        };
        if (!mutex_.AwaitWithTimeout(absl::Condition(&something), timeout)) {
          return absl::DeadlineExceededError("fake API server: nothing came");
        }
        if (shut) return absl::CancelledError("fake API server: shutting down");
        if (dead_) return absl::UnavailableError("fake API server: connection reset");
        if (watch->cuts != cuts_) {
          return cut_well_ ? absl::OkStatus()
                           : absl::UnavailableError("fake API server: connection reset");
        }
        text = News(watch, &expired);
      }
      if (expired) {
        on_data(text);
        return absl::OkStatus();
      }
    }
  }
};

class FakeApiServer::Transport : public http::HttpTransport {
 public:
  explicit Transport(Impl& server) : server_(server) {}

  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall& call) override {
    return server_.Do(call, shut_);
  }
  absl::Status Stream(const http::HttpCall& call,
                      const std::function<bool(absl::string_view)>& on_data) override {
    return server_.Stream(call, shut_, on_data);
  }
  void Shutdown() override {
    absl::MutexLock lock(&server_.mutex_);
    shut_ = true;
  }

 private:
  Impl& server_;
  bool shut_ = false;  // guarded by server_.mutex_
};

FakeApiServer::FakeApiServer() : impl_(std::make_unique<Impl>()) {}
FakeApiServer::~FakeApiServer() = default;

std::unique_ptr<http::HttpTransport> FakeApiServer::Connect() {
  return std::make_unique<Transport>(*impl_);
}

std::function<absl::StatusOr<std::unique_ptr<http::HttpTransport>>()> FakeApiServer::Connector() {
  return [this]() -> absl::StatusOr<std::unique_ptr<http::HttpTransport>> { return Connect(); };
}

void FakeApiServer::AddKind(const ResourceInfo& info, bool scale) {
  absl::MutexLock lock(&impl_->mutex_);
  impl_->api_.store().AddKind(info, scale);
}

std::string FakeApiServer::Put(absl::string_view text) {
  json object = json::parse(text.begin(), text.end(), nullptr, false);
  if (!object.is_object()) Impl::Misused(absl::StrCat("no JSON object: ", text));
  absl::MutexLock lock(&impl_->mutex_);
  LocalTarget target;
  target.kind =
      impl_->api_.store().FindKind(object.value("apiVersion", ""), object.value("kind", ""));
  const json metadata = object.value("metadata", json::object());
  target.name = metadata.value("name", "");
  if (target.kind == nullptr || target.name.empty()) {
    Impl::Misused(absl::StrCat("unknown kind or no name: ", text));
  }
  if (target.kind->info.namespaced) target.ns = metadata.value("namespace", "default");
  return impl_->api_.store().Force(target, std::move(object)).dump();
}

std::string FakeApiServer::Patch(absl::string_view path, absl::string_view patch) {
  absl::MutexLock lock(&impl_->mutex_);
  const LocalTarget target = impl_->FindObject(path);
  json object = impl_->api_.store().Get(target).body;
  object.merge_patch(json::parse(patch.begin(), patch.end(), nullptr, false));
  return impl_->api_.store().Force(target, std::move(object)).dump();
}

void FakeApiServer::Delete(absl::string_view path) {
  absl::MutexLock lock(&impl_->mutex_);
  impl_->api_.store().Delete(impl_->FindObject(path));
}

std::string FakeApiServer::Get(absl::string_view path) const {
  absl::MutexLock lock(&impl_->mutex_);
  const LocalAnswer answer = impl_->api_.store().Get(impl_->FindObject(path));
  return answer.status == 200 ? answer.body.dump() : "";
}

std::vector<std::string> FakeApiServer::List(absl::string_view path) const {
  absl::MutexLock lock(&impl_->mutex_);
  std::vector<std::string> out;
  for (const auto& object : impl_->api_.store().List(impl_->FindObject(path))) {
    out.push_back(object->dump());
  }
  return out;
}

void FakeApiServer::Inject(Fault fault) {
  absl::MutexLock lock(&impl_->mutex_);
  impl_->faults_.push_back(std::move(fault));
}

int FakeApiServer::faults() const {
  absl::MutexLock lock(&impl_->mutex_);
  return impl_->faults_hit_;
}

void FakeApiServer::OnRequest(std::function<void(const http::HttpCall&)> hook) {
  absl::MutexLock lock(&impl_->mutex_);
  impl_->hook_ = std::move(hook);
}

void FakeApiServer::SetVersion(const std::string& minor) {
  absl::MutexLock lock(&impl_->mutex_);
  impl_->version_ = minor;
}

void FakeApiServer::SetDead(bool dead) {
  absl::MutexLock lock(&impl_->mutex_);
  impl_->dead_ = dead;
}

void FakeApiServer::CutWatches(bool well) {
  absl::MutexLock lock(&impl_->mutex_);
  impl_->cut_well_ = well;
  ++impl_->cuts_;
}

void FakeApiServer::ExpireVersions() {
  absl::MutexLock lock(&impl_->mutex_);
  impl_->api_.store().Expire();
  impl_->api_.ForgetPages();
}

void FakeApiServer::SendBookmarks() {
  absl::MutexLock lock(&impl_->mutex_);
  ++impl_->bookmarks_;
}

int FakeApiServer::watches() const {
  absl::MutexLock lock(&impl_->mutex_);
  return impl_->open_;
}

std::vector<FakeApiServer::Request> FakeApiServer::Requests() const {
  absl::MutexLock lock(&impl_->mutex_);
  return impl_->requests_;
}

namespace {

int Count(const std::vector<FakeApiServer::Request>& requests, absl::string_view method,
          absl::string_view part) {
  return static_cast<int>(
      std::count_if(requests.begin(), requests.end(), [&](const FakeApiServer::Request& request) {
        return (method.empty() || request.method == method) &&
               absl::StrContains(request.target, part);
      }));
}

}  // namespace

int FakeApiServer::CountRequests(absl::string_view method, absl::string_view part) const {
  absl::MutexLock lock(&impl_->mutex_);
  return Count(impl_->requests_, method, part);
}

bool FakeApiServer::AwaitRequests(absl::string_view method, absl::string_view part,
                                  int count) const {
  absl::MutexLock lock(&impl_->mutex_);
  const auto enough = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return Count(impl_->requests_, method, part) >= count;
  };
  return impl_->mutex_.AwaitWithTimeout(absl::Condition(&enough), kGenerous);
}

bool FakeApiServer::AwaitWatches(int count) const {
  absl::MutexLock lock(&impl_->mutex_);
  const auto enough = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return impl_->open_ == count; };
  return impl_->mutex_.AwaitWithTimeout(absl::Condition(&enough), kGenerous);
}

}  // namespace flyball::kube
