#include "apiservice/auth/configmap_watcher.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kube/objects/json_members.h"
#include "spdlog/spdlog.h"

namespace flyball::apiservice {
namespace {

using Json = nlohmann::json;

constexpr char kOne[] =
    "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
constexpr char kWatch[] =
    "/api/v1/namespaces/kube-system/configmaps?fieldSelector=metadata.name%3D"
    "extension-apiserver-authentication&watch=true&timeoutSeconds=300&resourceVersion=";
constexpr absl::Duration kFirstWait = absl::Seconds(1);
constexpr absl::Duration kLongestWait = absl::Seconds(30);
constexpr absl::Duration kBetweenWatches = absl::Milliseconds(100);  // if they end without error
constexpr size_t kMaxBytes = 4u << 20;  // of one ConfigMap or one event

ConfigMapWatcher::Data DataOf(const Json& object) {
  ConfigMapWatcher::Data data;
  const Json& texts = kube::MemberOf(object, "data");
  if (!texts.is_object()) return data;
  for (const auto& [key, value] : texts.items()) {
    if (value.is_string()) data[key] = value.get<std::string>();
  }
  return data;
}

std::string VersionOf(const Json& object) {
  return kube::TextOf(kube::MemberOf(object, "metadata"), "resourceVersion");
}

}  // namespace

ConfigMapWatcher::ConfigMapWatcher(http::HttpTransport* transport, Clock& clock, OnData on_data)
    : transport_(transport),
      on_data_(std::move(on_data)),
      wait_(kFirstWait),
      thread_(clock, [this] { return Watch(); }) {}

ConfigMapWatcher::~ConfigMapWatcher() { Stop(); }

absl::StatusOr<ConfigMapWatcher::Data> ConfigMapWatcher::Read() {
  http::HttpCall call;
  call.target = kOne;
  call.headers = {{"Accept", "application/json"}};
  call.timeout = absl::Seconds(10);
  call.max_body_bytes = kMaxBytes;
  const absl::StatusOr<http::HttpAnswer> answer = transport_->Do(call);
  if (!answer.ok()) return answer.status();
  if (answer->status != 200) {
    const std::string text = absl::StrCat(
        "ConfigMap kube-system/extension-apiserver-authentication: HTTP ", answer->status);
    if (answer->status == 404) return absl::NotFoundError(text);
    if (answer->status == 401 || answer->status == 403) return absl::PermissionDeniedError(text);
    return absl::UnavailableError(text);
  }
  const Json object = Json::parse(answer->body, nullptr, false);
  if (!object.is_object()) return absl::UnavailableError("the answer is not a ConfigMap");
  resource_version_ = VersionOf(object);
  return DataOf(object);
}

void ConfigMapWatcher::Start() {
  started_ = true;
  thread_.Start();
}

void ConfigMapWatcher::Stop() {
  thread_.BeginStop();
  if (!std::exchange(started_, false)) return;
  transport_->Shutdown();
  thread_.Stop();
}

void ConfigMapWatcher::HandleLine(absl::string_view line) {
  const Json event = Json::parse(line.begin(), line.end(), nullptr, false);
  if (!event.is_object() || !event.contains("object") || !event["object"].is_object()) return;
  const Json& object = event["object"];
  const std::string type = kube::TextOf(event, "type");
  if (type == "ERROR") {  // the version is too old: read it anew
    resource_version_.clear();
    return;
  }
  if (const std::string version = VersionOf(object); !version.empty()) resource_version_ = version;
  if (type == "ADDED" || type == "MODIFIED") on_data_(DataOf(object));
  if (type == "DELETED") {
    spdlog::warn(
        "ConfigMap kube-system/extension-apiserver-authentication was deleted: its last "
        "content stays in use");
  }
}

absl::Status ConfigMapWatcher::WatchOnce() {
  if (resource_version_.empty()) {
    ASSIGN_OR_RETURN(const Data data, Read());
    on_data_(data);
  }
  http::HttpCall call;
  call.target = absl::StrCat(kWatch, resource_version_);
  call.headers = {{"Accept", "application/json"}};
  call.timeout = absl::Seconds(330);
  std::string pending;
  const absl::Status status = transport_->Stream(call, [&](absl::string_view piece) {
    pending.append(piece.data(), piece.size());
    size_t end = 0;
    while ((end = pending.find('\n')) != std::string::npos) {
      HandleLine(absl::string_view(pending).substr(0, end));
      pending.erase(0, end + 1);
    }
    return pending.size() <= kMaxBytes && !resource_version_.empty();
  });
  if (!status.ok()) resource_version_.clear();
  return status;
}

absl::Duration ConfigMapWatcher::Watch() {
  const absl::Status status = WatchOnce();
  if (status.ok()) {
    wait_ = kFirstWait;
    reported_ = false;
    return kBetweenWatches;
  }
  if (!thread_.stopping() && !std::exchange(reported_, true)) {
    spdlog::warn("watching the authentication ConfigMap: {}", status.ToString());
  }
  return wait_ = std::min(wait_ * 2, kLongestWait);
}

}  // namespace flyball::apiservice
