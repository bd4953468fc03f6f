#include "cmd/flyball/decide_cluster.h"

#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/go/url.h"
#include "base/status_macros.h"
#include "doctor/metric.h"
#include "kube/client/api_client.h"
#include "kube/client/discovery.h"
#include "kube/client/scale.h"
#include "kube/objects/api_version.h"
#include "kube/objects/rest_mapping.h"

namespace flyball::cmd {
namespace {

using scaler::MetricSpec;

class HpaReader {
 public:
  HpaReader(http::HttpTransport& server, Clock& clock, std::string ns)
      : server_(server), clock_(clock), api_(server, clock), ns_(std::move(ns)) {}

  absl::StatusOr<ReadSnapshot> Read(const std::string& name) {
    RETURN_IF_ERROR(
        Add(kube::ObjectPath("autoscaling", "v2", ns_, "horizontalpodautoscalers", name)));
    if (read_.snapshot.autoscalers.size() != 1) {
      return absl::InvalidArgumentError(absl::StrCat("hpa ", name, " cannot be read"));
    }
    const scaler::Autoscaler& hpa = read_.snapshot.autoscalers[0];
    ReadVersion();
    ASSIGN_OR_RETURN(kube::Discovery found, kube::Discover(server_, clock_, absl::Seconds(10)));
    mapper_ = std::make_unique<kube::RestMapper>(std::move(found.resources));
    ASSIGN_OR_RETURN(const std::string selector, AddScale(hpa.scale_target));
    RETURN_IF_ERROR(Add(
        absl::StrCat("/api/v1/namespaces/", ns_, "/pods?labelSelector=", go::UrlEscape(selector))));
    custom_version_ = doctor::CustomMetricsVersion(api_);
    // A copy, because AddMetric adds to the snapshot, which may move the autoscaler.
    const std::vector<MetricSpec> metrics = hpa.metrics;
    for (const MetricSpec& metric : metrics) AddMetric(metric, selector);
    AddOthers(name);
    return std::move(read_);
  }

 private:
  void ReadVersion() {
    const absl::StatusOr<std::string> json = api_.Get("/version");
    const absl::StatusOr<scaler::ServerVersion> server =
        json.ok() ? scaler::ParseServerVersion(*json) : json.status();
    if (server.ok()) {
      read_.server = *server;
    } else {
      read_.gaps.push_back(absl::StrCat("/version: ", server.status().message(),
                                        "; without --kubernetes-version the newest counts"));
    }
  }

  absl::Status Add(const std::string& path,
                   const std::optional<std::string>& asked_by = std::nullopt) {
    ASSIGN_OR_RETURN(const std::string json, api_.Get(path));
    return scaler::AddFile(path, json, read_.snapshot, asked_by);
  }

  // Adds a target's scale, and returns the selector of its pods.
  absl::StatusOr<std::string> AddScale(const scaler::ObjectReference& target) {
    const std::string group = kube::ApiVersion::GroupOf(target.api_version);
    const kube::ResourceInfo* const kind = mapper_->FindKind(group, target.kind);
    if (kind == nullptr) {
      return absl::NotFoundError(absl::StrCat("the cluster has no kind ", target.kind));
    }
    ASSIGN_OR_RETURN(const kube::Scale scale, kube::GetScale(api_, *kind, ns_, target.name));
    read_.snapshot.scales.push_back({.kind = kind->kind,
                                     .ns = ns_,
                                     .name = target.name,
                                     .answer = {.error = {},
                                                .spec_replicas = scale.spec_replicas,
                                                .status_replicas = scale.status_replicas,
                                                .selector = scale.selector}});
    return scale.selector;
  }

  void AddOthers(const std::string& name) {
    const std::string path =
        kube::ObjectPath("autoscaling", "v2", ns_, "horizontalpodautoscalers", "");
    const absl::StatusOr<std::string> json = api_.Get(path);
    scaler::ClusterSnapshot listed;
    const absl::Status added = json.ok() ? scaler::AddFile(path, *json, listed) : json.status();
    if (!added.ok()) GapInOthers(path, added);
    for (scaler::Autoscaler& other : listed.autoscalers) {
      if (other.name == name) continue;
      const absl::Status scale = AddScale(other.scale_target).status();
      // Without a target it selects nothing.
      if (!scale.ok() && !absl::IsNotFound(scale)) {
        GapInOthers(absl::StrCat("the scale of hpa ", other.name), scale);
      }
      read_.snapshot.autoscalers.push_back(std::move(other));
    }
  }

  void GapInOthers(absl::string_view what, const absl::Status& why) {
    read_.gaps.push_back(
        absl::StrCat(what, ": ", why.message(),
                     "; whether another HorizontalPodAutoscaler selects the same pods, which would "
                     "stop both, is not known"));
  }

  void AddMetric(const MetricSpec& metric, const std::string& selector) {
    const absl::StatusOr<std::string> path =
        doctor::MetricPath(metric, ns_, selector, custom_version_, *mapper_);
    if (absl::IsInvalidArgument(path.status())) return;  // no API has metrics of that type
    if (path.ok() && !asked_.insert(*path).second) return;
    const absl::Status added = path.ok() ? Add(*path, metric.metric.selector_text) : path.status();
    if (!added.ok()) {
      read_.gaps.push_back(
          absl::StrCat(path.ok() ? *path : metric.metric.name, ": ", added.message()));
    }
  }

  http::HttpTransport& server_;
  Clock& clock_;
  kube::ApiClient api_;
  const std::string ns_;
  std::unique_ptr<kube::RestMapper> mapper_;
  std::string custom_version_;
  std::set<std::string> asked_;  // paths; cpu and memory have the same one
  ReadSnapshot read_;
};

}  // namespace

absl::StatusOr<ReadSnapshot> ReadHpa(http::HttpTransport& server, Clock& clock,
                                     const std::string& ns, const std::string& name) {
  return HpaReader(server, clock, ns).Read(name);
}

}  // namespace flyball::cmd
