#include "scaler/explain/snapshot.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "kube/objects/label_selector.h"
#include "scaler/inputs/document_reader.h"
#include "scaler/spec/decode.h"
#include "scaler/spec/hpa/admission.h"
#include "scaler/spec/own/parser.h"
#include "scaler/spec/v2_fields.h"
#include "scaler/stores/pod_owner.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::scaler {
namespace {

constexpr char kDefaultNamespace[] = "default";

// The fields that a Scale and a workload have in common.
struct WrittenScaleSpec {
  std::optional<int32_t> replicas;
};
struct WrittenScale {
  ObjectMeta metadata;
  std::optional<WrittenScaleSpec> spec;
  int32_t status_replicas = 0;
};
constexpr auto kScaleFields = [](auto& field, WrittenScale& to) {
  field.template Check<std::string>("kind");
  field("metadata", to.metadata, kObjectMetaFields);
  field("spec", to.spec, [](auto& field, WrittenScaleSpec& to) { field("replicas", to.replicas); });
  field("status", to, [](auto& field, WrittenScale& to) { field("replicas", to.status_replicas); });
};

// An object with a selector: the spec of a workload, or the metric of a MetricValue.
struct WrittenSelector {
  std::optional<kube::LabelSelector> selector;
};
constexpr auto kSelectorHolderFields = [](auto& field, WrittenSelector& to) {
  field("selector", to.selector, kSelectorFields);
};
// A ReplicationController, whose selector is a map of labels.
constexpr auto kLabelsHolderFields = [](auto& field, kube::LabelSelector& to) {
  field("selector", to.match_labels);
};

std::string TextAt(const Node& object, absl::string_view outer, absl::string_view inner) {
  const Node* member = object.Find(outer);
  return member == nullptr ? "" : std::string(member->FindText(inner));
}

// Reads the objects of one file. Its errors have the file's name and the line.
class FileReader {
 public:
  FileReader(absl::string_view file, const std::optional<std::string>& asked_by,
             ClusterSnapshot& snapshot)
      : file_(file), asked_by_(asked_by), snapshot_(snapshot) {}

  absl::Status Read(const Node& object, absl::string_view kind_in_list = "") {
    if (!object.is_map()) return Error(object.line, "expected an object of the Kubernetes API");
    std::string kind(object.FindText("kind"));
    if (kind.empty()) kind = std::string(kind_in_list);
    if (kind.empty()) return Error(object.line, "field `kind` is missing");
    const Node* items = object.Find("items");
    if (items != nullptr && absl::EndsWith(kind, "List")) {
      return ReadList(*items, kind.substr(0, kind.size() - 4));
    }
    if (kind == "HorizontalPodAutoscaler") return ReadHpa(object);
    if (kind == kOwnKind) return ReadOwn(object);
    return Located(object, ReadKind(object, kind));
  }

 private:
  absl::Status Error(int line, absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(file_, ":", line > 0 ? absl::StrCat(line, ":") : "", " ", what));
  }

  // Messages of the readers may begin with "line N: ", which becomes "FILE:N: ".
  absl::Status Located(const Node& object, const absl::Status& status) const {
    if (status.ok()) return status;
    absl::string_view message = status.message();
    int line = object.line;
    if (absl::ConsumePrefix(&message, "line ")) {
      const size_t end = message.find(':');
      if (end != absl::string_view::npos && absl::SimpleAtoi(message.substr(0, end), &line)) {
        message.remove_prefix(end + 1);
      }
    }
    return Error(line, absl::StripLeadingAsciiWhitespace(message));
  }

  absl::Status ReadList(const Node& items, absl::string_view kind) {
    if (!items.is_list()) return Error(items.line, "items: expected a list");
    for (const Node& item : items.items) RETURN_IF_ERROR(Read(item, kind));
    return absl::OkStatus();
  }

  // The errors of parsing or admission, with their lines.
  absl::Status Checked(const Node& object, const std::string& decode_error,
                       const std::vector<FieldError>& found) const {
    if (!decode_error.empty()) return Located(object, absl::InvalidArgumentError(decode_error));
    std::vector<std::string> errors;
    for (const FieldError& error : found) {
      errors.push_back(std::string(Error(LineOf(object, error.field), error.ToString()).message()));
    }
    if (errors.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrJoin(errors, "\n"));
  }

  absl::Status ReadOwn(Node object) {
    GiveNamespace(object);
    OwnParseResult parsed = ParseOwnAutoscaler(object, TriggerTypeNames());
    RETURN_IF_ERROR(Checked(object, parsed.decode_error, parsed.errors));
    snapshot_.own_autoscalers.push_back({.autoscaler = *std::move(parsed.autoscaler),
                                         .own = std::move(parsed.own),
                                         .created = parsed.created.value_or(absl::InfinitePast()),
                                         .last_active = parsed.last_active});
    return absl::OkStatus();
  }

  absl::Status ReadHpa(Node object) {
    GiveNamespace(object);
    // The object comes from a cluster, whose version and gates are not known: all fields count.
    AdmissionResult admitted = Admit(object, AdmitAll());
    RETURN_IF_ERROR(Checked(object, admitted.decode_error, admitted.errors));
    snapshot_.autoscalers.push_back(*std::move(admitted.autoscaler));
    return absl::OkStatus();
  }

  absl::Status ReadKind(const Node& object, const std::string& kind) {
    if (kind == "Pod") return ReadOnePod(object);
    if (kind == "Scale" || kind == "Deployment" || kind == "StatefulSet" || kind == "ReplicaSet" ||
        kind == "ReplicationController") {
      return ReadScale(object, kind);
    }
    if (kind == "PodMetrics") return ReadPodUsage(object);
    if (kind == "MetricValue") return ReadObjectValue(object);
    if (kind == "ExternalMetricValue") return ReadExternalValue(object);
    ++snapshot_.ignored[kind];
    return absl::OkStatus();
  }

  absl::Status ReadOnePod(const Node& object) {
    ASSIGN_OR_RETURN(Pod pod, ReadPod(object));
    if (pod.ns.empty()) pod.ns = kDefaultNamespace;
    ASSIGN_OR_RETURN(const PodController controller, ReadPodController(object));
    AddOwners(controller, pod.labels);
    snapshot_.pods.push_back(std::move(pod));
    return absl::OkStatus();
  }

  // The selector of a workload is an object (a ReplicationController's is a map of labels), that of
  // a Scale is a text.
  absl::StatusOr<std::string> ReadSelectorText(const Node& object, const std::string& kind) const {
    if (kind == "Scale") return TextAt(object, "status", "selector");
    const Node* spec = object.Find("spec");
    if (spec == nullptr) return std::string();
    kube::LabelSelector selector;
    if (kind == "ReplicationController") {
      RETURN_IF_ERROR(Decode(*spec, KeyMatch::kExact, selector, kLabelsHolderFields));
    } else {
      WrittenSelector written;
      RETURN_IF_ERROR(Decode(*spec, KeyMatch::kExact, written, kSelectorHolderFields));
      selector = std::move(written.selector).value_or(kube::LabelSelector());
    }
    ASSIGN_OR_RETURN(const kube::Selector parsed, selector.ToSelector());
    return parsed.ToString();
  }

  absl::Status ReadScale(const Node& object, const std::string& kind) {
    WrittenScale written;
    RETURN_IF_ERROR(Decode(object, KeyMatch::kExact, written, kScaleFields));
    WorkloadScale scale;
    ASSIGN_OR_RETURN(scale.answer.selector, ReadSelectorText(object, kind));
    scale.kind = kind;
    scale.ns = written.metadata.ns.empty() ? kDefaultNamespace : written.metadata.ns;
    scale.name = written.metadata.name;
    // The default is 1 for a workload, and 0 in the spec of a Scale.
    scale.answer.spec_replicas = 1;
    if (written.spec.has_value()) {
      scale.answer.spec_replicas = written.spec->replicas.value_or(kind == "Scale" ? 0 : 1);
    }
    scale.answer.status_replicas = written.status_replicas;
    snapshot_.scales.push_back(std::move(scale));
    return absl::OkStatus();
  }

  absl::Status ReadPodUsage(const Node& object) {
    ASSIGN_OR_RETURN(PodMetrics metrics, ReadPodMetrics(object));
    const std::string ns = TextAt(object, "metadata", "namespace");
    See(metrics.timestamp);
    snapshot_.pod_metrics.push_back({.ns = ns.empty() ? kDefaultNamespace : ns,
                                     .asked_for = asked_by_.has_value(),
                                     .metrics = std::move(metrics)});
    return absl::OkStatus();
  }

  absl::Status ReadObjectValue(const Node& object) {
    GivenObjectMetric given;
    given.asked_by = asked_by_;
    ASSIGN_OR_RETURN(given.value, ReadObjectMetricValue(object));
    const Node* described = object.Find("describedObject");
    if (described == nullptr) return absl::InvalidArgumentError("describedObject is missing");
    given.kind = std::string(described->FindText("kind"));
    given.ns = std::string(described->FindText("namespace"));
    // v1beta1: metricName, selector; v1beta2: metric.name, metric.selector.
    const Node* metric = object.Find("metric");
    given.metric =
        std::string(metric != nullptr ? metric->FindText("name") : object.FindText("metricName"));
    if (given.metric.empty()) return absl::InvalidArgumentError("the metric's name is missing");
    WrittenSelector written;
    RETURN_IF_ERROR(Decode(metric != nullptr ? *metric : object, KeyMatch::kExact, written,
                           kSelectorHolderFields));
    given.selector = MakeMetricIdentifier(given.metric, written.selector).selector_text;
    See(given.value.timestamp);
    snapshot_.object_metrics.push_back(std::move(given));
    return absl::OkStatus();
  }

  absl::Status ReadExternalValue(const Node& object) {
    GivenExternalMetric given;
    given.asked_by = asked_by_;
    ASSIGN_OR_RETURN(given.value, ReadExternalMetricValue(object));
    given.metric = std::string(object.FindText("metricName"));
    if (given.metric.empty()) return absl::InvalidArgumentError("metricName is missing");
    if (const Node* labels = object.Find("metricLabels")) {
      for (const auto& [key, label] : labels->members) given.labels[key] = label.text;
    }
    See(given.value.timestamp);
    snapshot_.external_metrics.push_back(std::move(given));
    return absl::OkStatus();
  }

  void See(const std::optional<absl::Time>& time) {
    if (!time.has_value()) return;
    snapshot_.newest_reading = std::max(snapshot_.newest_reading.value_or(*time), *time);
  }

  absl::string_view file_;
  const std::optional<std::string>& asked_by_;
  ClusterSnapshot& snapshot_;
};

}  // namespace

absl::Status AddFile(absl::string_view file, absl::string_view text, ClusterSnapshot& snapshot,
                     const std::optional<std::string>& asked_by) {
  absl::StatusOr<std::vector<Node>> documents = ParseDocuments(text);
  if (!documents.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": ", documents.status().message()));
  }
  if (documents->empty()) return absl::InvalidArgumentError(absl::StrCat(file, ": is empty"));
  FileReader reader(file, asked_by, snapshot);
  for (const Node& document : *documents) RETURN_IF_ERROR(reader.Read(document));
  return absl::OkStatus();
}

}  // namespace flyball::scaler
