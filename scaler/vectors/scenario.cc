#include "scaler/vectors/scenario.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "scaler/inputs/document_reader.h"
#include "scaler/spec/decode.h"

namespace flyball::scaler {
namespace {

// A scenario as it is written. Pods and items of answers are read after the rest has been found
// right.
struct WrittenAnswer {
  std::string kind;
  std::string object;
  std::string metric;
  std::string selector;
  std::string error;
  std::vector<Node> items;
};
struct WrittenTick {
  Tick tick;
  std::optional<absl::Time> now;
  std::optional<std::vector<Node>> pods;
  std::vector<Node> pods_upsert;
  std::optional<WrittenAnswer> resource;
  std::vector<WrittenAnswer> custom;
  std::vector<WrittenAnswer> external;
};
struct WrittenScenario {
  Scenario scenario;
  std::optional<Node> tolerance;
  ControllerFlags flags;
  std::string kubernetes_version;
  std::optional<Node> gates;
  std::optional<ScalerState> state;
  std::vector<WrittenTick> ticks;
};

constexpr auto kConfigFields = [](auto& field, WrittenScenario& to) {
  const auto seconds = [&field](const char* name, absl::Duration& to, absl::Duration absent) {
    int64_t seconds = absl::ToInt64Seconds(to);
    field.OrElse(name, seconds, absl::ToInt64Seconds(absent));
    to = absl::Seconds(seconds);
  };
  const ControllerFlags absent;
  ControllerFlags& flags = to.flags;
  field("tolerance", to.tolerance);
  seconds("downscaleStabilizationSeconds", flags.downscale_stabilization,
          absent.downscale_stabilization);
  seconds("cpuInitializationPeriodSeconds", flags.cpu_initialization_period,
          absent.cpu_initialization_period);
  seconds("initialReadinessDelaySeconds", flags.initial_readiness_delay,
          absent.initial_readiness_delay);
  field("kubernetesVersion", to.kubernetes_version);
  field("featureGates", to.gates);
};

constexpr auto kScaleEventFields = [](auto& field, ScaleEvent& to) {
  field("change", to.change);
  field.OrElse("time", to.time, absl::UnixEpoch());
  field("outdated", to.outdated);
};
constexpr auto kStateFields = [](auto& field, ScalerState& to) {
  field("recommendations", to.recommendations, [](auto& field, Recommendation& to) {
    field("replicas", to.replicas);
    field.OrElse("time", to.time, absl::UnixEpoch());
  });
  field("scaleUpEvents", to.scale_ups, kScaleEventFields);
  field("scaleDownEvents", to.scale_downs, kScaleEventFields);
};

constexpr auto kAnswerFields = [](auto& field, WrittenAnswer& to) {
  field("kind", to.kind);
  field("object", to.object);
  field("metric", to.metric);
  field("selector", to.selector);
  field("error", to.error);
  field("items", to.items);
};
constexpr auto kTickFields = [](auto& field, WrittenTick& to) {
  field("now", to.now);
  field("scale", to.tick.scale, [](auto& field, ScaleChange& to) {
    field("specReplicas", to.spec_replicas);
    field("statusReplicas", to.status_replicas);
    field("selector", to.selector);
  });
  field("spec", to.tick.spec);
  field("generation", to.tick.generation);
  field("pods", to.pods);
  field("podsRemove", to.tick.pods_remove);
  field("podsUpsert", to.pods_upsert);
  field("metrics", to, [](auto& field, WrittenTick& to) {
    field("resource", to.resource, kAnswerFields);
    field("custom", to.custom, kAnswerFields);
    field("external", to.external, kAnswerFields);
  });
  field("faults", to.tick.faults, [](auto& field, Faults& to) {
    field("getScale", to.get_scale);
    field("updateScale", to.update_scale);
    field("updateStatus", to.update_status);
    field("listPods", to.list_pods);
    field("deleted", to.deleted);
  });
};
constexpr auto kScenarioFields = [](auto& field, WrittenScenario& to) {
  field("id", to.scenario.id);
  field("config", to, kConfigFields);
  field("autoscaler", to.scenario.autoscaler);
  field("skipAdmission", to.scenario.admit.skip_admission);
  field("otherAutoscalers", to.scenario.others, [](auto& field, OtherAutoscaler& to) {
    field("namespace", to.ns);
    field("name", to.name);
    field("selector", to.selector);
  });
  field("state", to.state, kStateFields);
  field("ticks", to.ticks, kTickFields);
};

// There may be gates of other parts of Kubernetes, which have no effect.
absl::StatusOr<GateSettings> ReadGates(const std::optional<Node>& written) {
  GateSettings out;
  if (!written.has_value()) return out;
  for (const auto& [name, value] : written->members) {
    if (value.is_null()) continue;
    if (value.kind != Node::Kind::kBool) {
      return absl::InvalidArgumentError(
          absl::StrCat("config.featureGates.", name, ": expected a bool"));
    }
    out[name] = value.boolean;
  }
  return out;
}

absl::Status ReadConfig(WrittenScenario& written, const DialectChoice& otherwise, Scenario& out) {
  if (written.tolerance.has_value() &&
      (written.tolerance->kind != Node::Kind::kNumber ||
       !absl::SimpleAtod(written.tolerance->text, &written.flags.tolerance))) {
    return absl::InvalidArgumentError("config.tolerance: expected a number");
  }
  ServerVersion version;
  version.minor = otherwise.minor.value_or(version.minor);
  if (!written.kubernetes_version.empty()) {
    ASSIGN_OR_RETURN(const DialectChoice choice,
                     ParseDialectChoice(written.kubernetes_version, ""));
    version.minor = choice.minor.value_or(version.minor);
  }
  ASSIGN_OR_RETURN(GateSettings gates, ReadGates(written.gates));
  gates.insert(otherwise.gates.begin(), otherwise.gates.end());  // does not replace the scenario's
  out.admit.dialect = DialectOf(version, gates);
  out.math = MathConfigOf(written.flags, out.admit.dialect);
  return absl::OkStatus();
}

// Reads every item of a list with `read`.
template <typename Item>
absl::StatusOr<std::vector<Item>> ReadAll(const std::vector<Node>& items, absl::string_view key,
                                          absl::StatusOr<Item> (*read)(const Node&,
                                                                       absl::string_view)) {
  std::vector<Item> out;
  for (size_t i = 0; i < items.size(); ++i) {
    ASSIGN_OR_RETURN(Item item, read(items[i], absl::StrCat(key, "[", i, "]")));
    out.push_back(std::move(item));
  }
  return out;
}

template <typename Item>
absl::Status ReadAnswer(WrittenAnswer& written,
                        absl::StatusOr<Item> (*read)(const Node&, absl::string_view),
                        MetricsAnswer<Item>& out) {
  out.error = std::move(written.error);
  ASSIGN_OR_RETURN(out.items, ReadAll(written.items, "items", read));
  return absl::OkStatus();
}

template <typename Item>
absl::Status ReadAnswers(std::vector<WrittenAnswer>& written,
                         absl::StatusOr<Item> (*read)(const Node&, absl::string_view),
                         std::vector<ScriptedAnswer<Item>>& out) {
  for (WrittenAnswer& one : written) {
    ScriptedAnswer<Item>& scripted = out.emplace_back();
    scripted.kind = std::move(one.kind);
    scripted.object = std::move(one.object);
    scripted.metric = std::move(one.metric);
    scripted.selector = std::move(one.selector);
    RETURN_IF_ERROR(ReadAnswer(one, read, scripted.answer));
  }
  return absl::OkStatus();
}

absl::Status ReadMetrics(WrittenTick& written, Tick& tick) {
  if (written.resource.has_value()) {
    RETURN_IF_ERROR(ReadAnswer(*written.resource, ReadPodMetrics, tick.resource.emplace()));
  }
  RETURN_IF_ERROR(ReadAnswers(written.custom, ReadObjectMetricValue, tick.custom));
  return ReadAnswers(written.external, ReadExternalMetricValue, tick.external);
}

absl::StatusOr<Tick> ReadTick(WrittenTick& written, absl::string_view path) {
  if (!written.now.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ".now is missing"));
  }
  Tick& tick = written.tick;
  tick.now = *written.now;
  if (written.pods.has_value()) {
    ASSIGN_OR_RETURN(tick.pods, ReadAll(*written.pods, "pods", ReadPod));
  }
  ASSIGN_OR_RETURN(tick.pods_upsert, ReadAll(written.pods_upsert, "podsUpsert", ReadPod));
  RETURN_IF_ERROR(ReadMetrics(written, tick));
  return std::move(tick);
}

}  // namespace

absl::StatusOr<Scenario> ReadScenario(const Node& node, const DialectChoice& otherwise) {
  WrittenScenario written;
  Scenario& out = written.scenario;
  out.autoscaler.kind = Node::Kind::kMap;
  RETURN_IF_ERROR(Decode(node, KeyMatch::kExact, written, kScenarioFields));
  RETURN_IF_ERROR(ReadConfig(written, otherwise, out));
  out.state = std::move(written.state).value_or(ScalerState());
  for (WrittenTick& tick : written.ticks) {
    ASSIGN_OR_RETURN(Tick read, ReadTick(tick, absl::StrCat("ticks[", out.ticks.size(), "]")));
    out.ticks.push_back(std::move(read));
  }
  return std::move(out);
}

}  // namespace flyball::scaler
