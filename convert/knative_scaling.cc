#include "convert/knative_scaling.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/go/duration.h"
#include "convert/knative_pods.h"
#include "kube/objects/json_members.h"
#include "scaler/spec/knative/annotations.h"
#include "scaler/spec/knative/metadata.h"
#include "scaler/spec/own_spec.h"

namespace flyball::convert {
namespace {

using Json = nlohmann::ordered_json;
using kube::NumberOf;
namespace knative = scaler::knative;

constexpr int32_t kMaxReplicasWithoutLimit = 100;  // if Knative has no limit
constexpr int64_t kLongestActivation = 3600;       // seconds
constexpr int kLongestQueue = 10'000;

class ScalingConverter {
 public:
  ScalingConverter(const KnativeRevision& revision, Json& spec, Manifests& out)
      : revision_(revision), spec_(spec), out_(out) {}

  KnativeScaling Convert() {
    if (!AreSound()) return {};
    KnativeScaling scaling;
    const std::string klass = knative::TextAnnotation(revision_.annotations, knative::kClass)
                                  .value_or(knative::kKpaClass);
    scaling.by_requests = klass != knative::kHpaClass;
    if (scaling.by_requests && klass != knative::kKpaClass) {
      out_.Refuse(revision_.annotations_path,
                  absl::StrCat("the class ", klass, " is neither ", knative::kKpaClass, " nor ",
                               knative::kHpaClass));
    }
    AddBounds(scaling.by_requests ? 0 : 1);
    scaling.by_requests ? AddTrigger() : AddMetrics();
    scaling.initial_scale = knative::IntAnnotation(revision_.annotations, knative::kInitialScale);
    scaling.progress_deadline_seconds = ProgressDeadline();
    NameOthers();
    out_.Remark(
        "The cluster's ConfigMap config-autoscaler is not read. What it changes has to be written "
        "here: targets, windows, and minReplicas for enable-scale-to-zero: \"false\".");
    return scaling;
  }

 private:
  bool AreSound() {
    knative::Config config;
    config.allow_zero_initial_scale = true;
    const absl::Status checked = knative::CheckAnnotations(config, revision_.annotations);
    if (checked.ok()) return true;
    for (const absl::string_view line : absl::StrSplit(checked.message(), '\n')) {
      out_.Refuse(revision_.annotations_path, line);
    }
    return false;
  }

  void AddBounds(int32_t least) {
    const int32_t min =
        knative::IntAnnotation(revision_.annotations, knative::kMinScale).value_or(0);
    const int32_t max =
        knative::IntAnnotation(revision_.annotations, knative::kMaxScale).value_or(0);
    spec_["minReplicas"] = std::max(min, least);
    spec_["maxReplicas"] = max > 0 ? max : std::max(kMaxReplicasWithoutLimit, min);
    if (max > 0) return;
    out_.Remark(absl::StrCat("max-scale sets no limit: maxReplicas is ",
                             std::max(kMaxReplicasWithoutLimit, min),
                             ", choose what the cluster can bear."));
  }

  void AddTrigger() {
    knative::TextMap tuning;
    knative::AddAnnotations(revision_.annotations, tuning);
    tuning.erase("initialScale");  // a comment says how it is set
    const int64_t written = NumberOf(revision_.spec, "timeoutSeconds");
    const int64_t timeout = written > 0 ? written : kKnativeTimeoutSeconds;
    Json metadata = {{"service", revision_.front_service},
                     {"targetPort", absl::StrCat(revision_.port)},
                     {"activationTimeout", Seconds(std::min(timeout, kLongestActivation))},
                     {"requestTimeout", Seconds(timeout)},
                     {"queue", absl::StrCat(kLongestQueue)}};
    out_.Remark(absl::StrCat(
        revision_.spec_path, ".timeoutSeconds (", timeout,
        ") was one limit from a request's arrival to its end; here activationTimeout is how long "
        "it may wait for a pod, and requestTimeout how long it may take after that, which also "
        "ends websockets and gRPC streams."));
    out_.Remark(
        absl::StrCat("Knative holds any number of requests that wait for a pod; here it is queue (",
                     kLongestQueue, " at most), and others get 503."));
    if (const int64_t limit = NumberOf(revision_.spec, "containerConcurrency"); limit > 0) {
      metadata["containerConcurrency"] = absl::StrCat(limit);
    }
    for (const auto& [key, text] : tuning) metadata[key] = text;
    spec_["triggers"] =
        Json::array({{{"type", std::string(scaler::kHttpTrigger)}, {"metadata", metadata}}});
    for (const char* const part : {"responseStartTimeoutSeconds", "idleTimeoutSeconds"}) {
      if (NumberOf(revision_.spec, part) > 0) {
        out_.NotCarriedOver(absl::StrCat(revision_.spec_path, ".", part),
                            "the requestTimeout covers the whole request");
      }
    }
  }

  static std::string Seconds(int64_t seconds) { return absl::StrCat(seconds, "s"); }

  // Adds the metrics of the HorizontalPodAutoscaler that Knative would make.
  void AddMetrics() {
    const std::string metric =
        knative::TextAnnotation(revision_.annotations, knative::kMetric).value_or("cpu");
    const std::optional<double> target =
        knative::FloatAnnotation(revision_.annotations, knative::kTarget);
    if (!target.has_value()) {
      out_.Refuse(revision_.annotations_path,
                  absl::StrCat("class ", knative::kHpaClass, " without a target of ", metric));
      return;
    }
    const auto whole = static_cast<int64_t>(std::min(*target, 1e9));
    Json source;
    if (metric == "cpu") {
      source = {
          {"type", "Resource"},
          {"resource",
           {{"name", "cpu"},
            {"target",
             {{"type", "Utilization"},
              {"averageUtilization", static_cast<int64_t>(std::ceil(std::min(*target, 1e6)))}}}}}};
    } else if (metric == "memory") {
      source = {
          {"type", "Resource"},
          {"resource",
           {{"name", "memory"},
            {"target", {{"type", "AverageValue"}, {"averageValue", absl::StrCat(whole, "Mi")}}}}}};
    } else {
      source = {{"type", "Pods"},
                {"pods",
                 {{"metric", {{"name", metric}}},
                  {"target", {{"type", "AverageValue"}, {"averageValue", absl::StrCat(whole)}}}}}};
    }
    spec_["metrics"] = Json::array({std::move(source)});
    if (const auto window = knative::DurationAnnotation(revision_.annotations, knative::kWindow)) {
      const Json rules = {{"stabilizationWindowSeconds", absl::ToInt64Seconds(*window)}};
      spec_["behavior"] = {{"scaleDown", rules}, {"scaleUp", rules}};
    }
    out_.Remark(absl::StrCat("class ", knative::kHpaClass,
                             " does not count requests: the Service leads to the pods, and there "
                             "is no way to zero."));
    if (NumberOf(revision_.spec, "containerConcurrency") > 0) {
      out_.NotCarriedOver(absl::StrCat(revision_.spec_path, ".containerConcurrency"),
                          "without a front nobody limits it");
    }
  }

  std::optional<int64_t> ProgressDeadline() {
    const auto written = knative::FindAnnotation(revision_.annotations, knative::kProgressDeadline);
    if (!written.has_value()) return std::nullopt;
    const absl::StatusOr<absl::Duration> deadline = go::ParseDuration(written->text);
    if (deadline.ok() && *deadline >= absl::Seconds(1)) return absl::ToInt64Seconds(*deadline);
    out_.Refuse(revision_.annotations_path,
                absl::StrCat(written->key, " is no duration of a second or more"));
    return std::nullopt;
  }

  bool IsUsed(absl::string_view key, bool by_requests) const {
    std::vector<knative::AnnotationName> names = {
        knative::kClass,  knative::kMinScale, knative::kMaxScale, knative::kInitialScale,
        knative::kMetric, knative::kTarget,   knative::kWindow,   knative::kProgressDeadline};
    if (by_requests) {
      for (const auto& name : knative::MetadataNames()) names.push_back(name.annotation);
    }
    for (const knative::AnnotationName& name : names) {
      const auto found = knative::FindAnnotation(revision_.annotations, name);
      if (found.has_value() && found->key == key) return true;
    }
    return false;
  }

  void NameOthers() {
    for (const auto& [key, text] : revision_.annotations) {
      if (!IsOfDomain(key, "knative.dev") || IsUsed(key, !spec_.contains("metrics"))) continue;
      absl::string_view why;
      if (absl::StartsWith(key, "queue.sidecar.")) why = "there is no proxy beside the pods";
      out_.NotCarriedOver(absl::StrCat("annotation ", key), why);
    }
  }

  const KnativeRevision& revision_;
  Json& spec_;
  Manifests& out_;
};

}  // namespace

KnativeScaling AddKnativeScaling(const KnativeRevision& revision, Json& spec, Manifests& out) {
  return ScalingConverter(revision, spec, out).Convert();
}

}  // namespace flyball::convert
