#include "scaler/inputs/pod_json.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "kube/objects/json_fields.h"
#include "kube/objects/quantity.h"
#include "simdjson.h"

namespace flyball::scaler {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::error_code;

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// Calls on_field(key, value) for each field that is not null; stops at the first error.
template <typename F>
error_code ForEachField(ondemand::value value, F on_field) {
  return kube::ForEachRootField(value, [&](std::string_view key, ondemand::value inner) {
    bool null = false;
    const bool known = inner.is_null().get(null) == simdjson::SUCCESS;
    return known && null ? simdjson::SUCCESS : on_field(key, inner);
  });
}

// Leaves `out` unchanged if the text is empty.
error_code ReadTime(ondemand::value value, std::optional<absl::Time>& out) {
  std::string_view text;
  if (const auto error = value.get_string().get(text)) return error;
  absl::Time time;
  if (text.empty()) return simdjson::SUCCESS;
  if (!absl::ParseTime(absl::RFC3339_full, View(text), &time, nullptr)) {
    return simdjson::INCORRECT_TYPE;
  }
  out = time;
  return simdjson::SUCCESS;
}

error_code ReadQuantities(ondemand::value value, ResourceList& out) {
  return ForEachField(value, [&](std::string_view name, ondemand::value amount) {
    std::string_view text;
    if (amount.get_string().get(text) != simdjson::SUCCESS) {
      // A number becomes a quantity by the text that it is written with.
      text = amount.raw_json_token();
      while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
    }
    absl::StatusOr<kube::Quantity> quantity = kube::Quantity::Parse(View(text));
    if (!quantity.ok()) return simdjson::INCORRECT_TYPE;
    out.emplace_back(std::string(name), *std::move(quantity));
    return simdjson::SUCCESS;
  });
}

error_code ReadRequests(ondemand::value value, ResourceList& out) {
  return ForEachField(value, [&](std::string_view key, ondemand::value inner) {
    return key == "requests" ? ReadQuantities(inner, out) : simdjson::SUCCESS;
  });
}

error_code ReadContainers(ondemand::value value, std::vector<Container>& out) {
  return kube::ForEachItem(value, [&](ondemand::value item) {
    Container& container = out.emplace_back();
    return ForEachField(item, [&](std::string_view key, ondemand::value inner) {
      if (key == "name") return kube::ReadText(inner, &container.name);
      if (key == "resources") return ReadRequests(inner, container.requests);
      if (key != "restartPolicy") return simdjson::SUCCESS;
      std::string_view policy;
      const auto error = inner.get_string().get(policy);
      container.restarts_always = !error && policy == "Always";
      return error;
    });
  });
}

error_code ReadOwner(ondemand::value value, PodController& controller) {
  PodController read;
  bool controls = false;
  const auto error = ForEachField(value, [&](std::string_view key, ondemand::value inner) {
    if (key == "kind") return kube::ReadText(inner, &read.kind);
    if (key == "name") return kube::ReadText(inner, &read.name);
    return key == "controller" ? inner.get_bool().get(controls) : simdjson::SUCCESS;
  });
  if (!error && controls) controller = std::move(read);
  return error;
}

error_code ReadMetadata(ondemand::value value, Pod& pod, PodController& controller) {
  return ForEachField(value, [&](std::string_view key, ondemand::value inner) {
    if (key == "name") return kube::ReadText(inner, &pod.name);
    if (key == "namespace") return kube::ReadText(inner, &pod.ns);
    if (key == "labels") return kube::ReadTextMap(inner, &pod.labels);
    if (key == "ownerReferences") {
      return kube::ForEachItem(inner,
                               [&](ondemand::value item) { return ReadOwner(item, controller); });
    }
    if (key == "deletionTimestamp") pod.deleting = true;
    return simdjson::SUCCESS;
  });
}

error_code ReadSpec(ondemand::value value, Pod& pod, std::string& node) {
  return ForEachField(value, [&](std::string_view key, ondemand::value inner) {
    if (key == "containers") return ReadContainers(inner, pod.containers);
    if (key == "initContainers") return ReadContainers(inner, pod.init_containers);
    if (key == "nodeName") return kube::ReadText(inner, &node);
    if (key == "overhead") return ReadQuantities(inner, pod.overhead);
    if (key == "resources") return ReadRequests(inner, pod.pod_requests.emplace());
    return simdjson::SUCCESS;
  });
}

error_code ReadCondition(ondemand::value value, Pod& pod) {
  std::string_view type, status;
  std::optional<absl::Time> since;
  const auto error = ForEachField(value, [&](std::string_view key, ondemand::value inner) {
    if (key == "type") return inner.get_string().get(type);
    if (key == "status") return inner.get_string().get(status);
    if (key == "lastTransitionTime") return ReadTime(inner, since);
    return simdjson::SUCCESS;
  });
  if (error || type != "Ready" || pod.ready.has_value()) return error;
  pod.ready = {.status = ConditionStatusOf(View(status)),
               .last_transition_time = since.value_or(kGoZeroTime)};
  return error;
}

error_code ReadStatus(ondemand::value value, Pod& pod) {
  return ForEachField(value, [&](std::string_view key, ondemand::value inner) {
    if (key == "startTime") return ReadTime(inner, pod.start_time);
    if (key == "conditions") {
      return kube::ForEachItem(inner,
                               [&](ondemand::value item) { return ReadCondition(item, pod); });
    }
    if (key != "phase") return simdjson::SUCCESS;
    std::string_view phase;
    const auto error = inner.get_string().get(phase);
    pod.phase = PodPhaseOf(View(phase));
    return error;
  });
}

error_code ReadPodFields(ondemand::value root, Pod& pod, std::string& node,
                         PodController& controller) {
  return ForEachField(root, [&](std::string_view key, ondemand::value inner) {
    if (key == "metadata") return ReadMetadata(inner, pod, controller);
    if (key == "spec") return ReadSpec(inner, pod, node);
    if (key == "status") return ReadStatus(inner, pod);
    return simdjson::SUCCESS;
  });
}

}  // namespace

PodJsonReader::PodJsonReader() : parser_(std::make_unique<kube::JsonParser>()) {}
PodJsonReader::~PodJsonReader() = default;

absl::Status PodJsonReader::Read(absl::string_view json, Pod& pod) {
  pod = Pod();
  node_.clear();
  controller_ = {};
  auto error = parser_->Read(
      json, [&](ondemand::value root) { return ReadPodFields(root, pod, node_, controller_); });
  if (!error && pod.name.empty()) error = simdjson::NO_SUCH_FIELD;
  if (!error) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("pod ", pod.ns, "/", pod.name, ": ", simdjson::error_message(error)));
}

}  // namespace flyball::scaler
