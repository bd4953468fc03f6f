#include "apiservice/auth/configmap_watcher.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/objects/builtin_resources.h"
#include "kube/objects/json_members.h"
#include "spdlog/spdlog.h"

namespace flyball::apiservice {
namespace {

using Json = nlohmann::json;

constexpr char kNamespace[] = "kube-system";
constexpr char kName[] = "extension-apiserver-authentication";
constexpr size_t kMaxBytes = 4u << 20;

ConfigMapWatcher::Data DataOf(const Json& object) {
  ConfigMapWatcher::Data data;
  const Json& texts = kube::MemberOf(object, "data");
  if (!texts.is_object()) return data;
  for (const auto& [key, value] : texts.items()) {
    if (value.is_string()) data[key] = value.get<std::string>();
  }
  return data;
}

}  // namespace

ConfigMapWatcher::ConfigMapWatcher(std::shared_ptr<http::HttpTransport> transport, Clock& clock,
                                   OnData on_data)
    : transport_(std::move(transport)), clock_(clock), on_data_(std::move(on_data)) {}

absl::StatusOr<ConfigMapWatcher::Data> ConfigMapWatcher::Read() {
  http::HttpCall call;
  call.target = absl::StrCat("/api/v1/namespaces/", kNamespace, "/configmaps/", kName);
  call.headers = {{"Accept", "application/json"}};
  call.timeout = absl::Seconds(10);
  call.max_body_bytes = kMaxBytes;
  const absl::StatusOr<http::HttpAnswer> answer = transport_->Do(call);
  if (!answer.ok()) return answer.status();
  if (answer->status != 200) {
    const std::string text =
        absl::StrCat("ConfigMap ", kNamespace, "/", kName, ": HTTP ", answer->status);
    if (answer->status == 404) return absl::NotFoundError(text);
    if (answer->status == 401 || answer->status == 403) return absl::PermissionDeniedError(text);
    return absl::UnavailableError(text);
  }
  const Json object = Json::parse(answer->body, nullptr, false);
  if (!object.is_object()) return absl::UnavailableError("the answer is not a ConfigMap");
  return *(last_ = DataOf(object));
}

void ConfigMapWatcher::Start() {
  kube::ObjectWatchOptions options;
  options.resource = kube::ResourceNamed("", "v1", "configmaps", "ConfigMap");
  options.ns = kNamespace;
  options.field_selector = absl::StrCat("metadata.name=", kName);
  watch_ = std::make_unique<kube::ObjectWatch>(std::move(options), transport_, clock_, *this);
}

// A list repeats known content. The same content is not passed on, since verified certificates
// would have to be verified again.
void ConfigMapWatcher::Listed(absl::string_view object_json) {
  exists_ = true;
  const Json object = Json::parse(object_json.begin(), object_json.end(), nullptr, false);
  Data data = DataOf(object);
  if (last_ == data) return;
  on_data_(*(last_ = std::move(data)));
}

void ConfigMapWatcher::ListEnded() {
  if (exists_) return;
  spdlog::warn("there is no ConfigMap {}/{}: its last content, if any, stays in use", kNamespace,
               kName);
}

void ConfigMapWatcher::Changed(kube::ChangeType type, absl::string_view object_json) {
  if (type != kube::ChangeType::kDeleted) return Listed(object_json);
  spdlog::warn("ConfigMap {}/{} was deleted: its last content stays in use", kNamespace, kName);
}

void ConfigMapWatcher::StatusChanged(const absl::Status& status) {
  if (status.ok()) return;
  spdlog::warn("watching the authentication ConfigMap: {}", status.ToString());
}

}  // namespace flyball::apiservice
