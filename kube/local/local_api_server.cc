#include "kube/local/local_api_server.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/local/local_api.h"
#include "kube/objects/json_members.h"

namespace flyball::kube {

using nlohmann::json;

class LocalApiServer::Transport : public http::HttpTransport {
 public:
  explicit Transport(LocalApiServer& server) : server_(server) {}

  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall& call) override {
    return server_.Do(call, shut_);
  }
  absl::Status Stream(const http::HttpCall& call,
                      const std::function<bool(absl::string_view)>& on_data) override {
    return server_.Stream(call, shut_, on_data);
  }
  bool InProcess() const override { return true; }
  void Shutdown() override {
    absl::MutexLock lock(&server_.mutex_);
    shut_ = true;
  }

 private:
  LocalApiServer& server_;
  bool shut_ = false;  // guarded by server_.mutex_
};

LocalApiServer::LocalApiServer(Clock& clock) : clock_(clock), api_(std::make_unique<LocalApi>()) {
  api_->store().KeepChanges(kKeptChanges);
}
LocalApiServer::~LocalApiServer() = default;

std::unique_ptr<http::HttpTransport> LocalApiServer::Connect() {
  return std::make_unique<Transport>(*this);
}

absl::StatusOr<http::HttpAnswer> LocalApiServer::Do(const http::HttpCall& call, const bool& shut) {
  absl::StatusOr<http::HttpAnswer> answer;
  {
    absl::MutexLock lock(&mutex_);
    if (shut) return absl::CancelledError("local API server: shutting down");
    api_->store().SetTime(clock_.WallNow());
    answer = api_->Serve(call);
  }
  if (call.method != "GET" && on_write_) on_write_(call.target);
  return answer;
}

absl::Status LocalApiServer::Stream(const http::HttpCall& call, const bool& shut,
                                    const std::function<bool(absl::string_view)>& on_data) {
  LocalApi::Watch watch(call);
  if (watch.query["watch"].empty()) {
    const absl::StatusOr<http::HttpAnswer> answer = Do(call, shut);
    if (!answer.ok()) return answer.status();
    if (answer->status != 200) {
      return absl::Status(http::HttpStatusCode(answer->status), answer->body);
    }
    if (on_data("")) on_data(answer->body);
    return absl::OkStatus();
  }
  std::string text;
  {
    absl::MutexLock lock(&mutex_);
    if (!api_->Open(watch, text)) return absl::NotFoundError("404 page not found");
  }
  if (!on_data("")) return absl::OkStatus();
  bool expired = false;
  while (text.empty() || on_data(text)) {
    if (expired) break;
    absl::MutexLock lock(&mutex_);
    const auto something = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return shut || api_->HasNews(watch);
    };
    const bool came =
        clock_.Await(mutex_, absl::Condition(&something), clock_.MonotonicNow() + call.timeout);
    if (shut) return absl::CancelledError("local API server: shutting down");
    if (!came) break;  // as a server ends a watch after its time
    text = api_->News(watch, expired);
  }
  return absl::OkStatus();
}

void LocalApiServer::AddKind(const ResourceInfo& info, bool scale) {
  absl::MutexLock lock(&mutex_);
  api_->store().AddKind(info, scale);
}

absl::Status LocalApiServer::Put(absl::string_view text) {
  json object = json::parse(text.begin(), text.end(), nullptr, false);
  if (!object.is_object()) return absl::InvalidArgumentError("no JSON object");
  const json& metadata = MemberOf(object, "metadata");
  LocalTarget target;
  target.name = TextOf(metadata, "name");
  if (target.name.empty()) return absl::InvalidArgumentError("metadata.name is missing");
  absl::MutexLock lock(&mutex_);
  const std::string kind = TextOf(object, "kind");
  target.kind = api_->store().FindKind(TextOf(object, "apiVersion"), kind);
  if (target.kind == nullptr) return absl::NotFoundError(absl::StrCat("unknown kind ", kind));
  if (target.kind->info.namespaced) {
    target.ns = TextOf(metadata, "namespace");
    if (target.ns.empty()) target.ns = "default";
  }
  api_->store().SetTime(clock_.WallNow());
  api_->store().Force(target, std::move(object));
  return absl::OkStatus();
}

void LocalApiServer::Delete(absl::string_view path) {
  absl::MutexLock lock(&mutex_);
  const LocalTarget target = api_->store().Find(path);
  if (target.kind != nullptr) api_->store().Delete(target);
}

std::string LocalApiServer::Get(absl::string_view path) const {
  absl::MutexLock lock(&mutex_);
  const LocalTarget target = api_->store().Find(path);
  if (target.kind == nullptr) return "";
  const LocalAnswer answer = api_->store().Get(target);
  return answer.status == 200 ? answer.body.dump() : "";
}

std::vector<std::string> LocalApiServer::List(absl::string_view path) const {
  absl::MutexLock lock(&mutex_);
  std::vector<std::string> out;
  const LocalTarget target = api_->store().Find(path);
  if (target.kind == nullptr) return out;
  for (const auto& object : api_->store().List(target)) out.push_back(object->dump());
  return out;
}

}  // namespace flyball::kube
