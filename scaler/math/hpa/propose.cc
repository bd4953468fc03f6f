#include "scaler/math/hpa/metrics_path.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/go/text.h"
#include "scaler/math/hpa/formulas.h"

namespace flyball::scaler {
namespace {

// Empties a proposal but keeps its buffers.
void Reset(Proposal& proposal) {
  Proposal fresh;
  for (const auto buffer :
       {&Proposal::name, &Proposal::error, &Proposal::wrapped_error, &Proposal::reason}) {
    fresh.*buffer = std::move(proposal.*buffer);
    (fresh.*buffer).clear();
  }
  fresh.pod_groups = std::move(proposal.pod_groups);
  fresh.pod_groups.clear();
  proposal = std::move(fresh);
}

// Why a metric proposes nothing; an empty error means that it does propose.
struct Failure {
  absl::string_view reason;  // of condition and event
  std::string error;         // as condition and event show it
  std::string wrap;          // what the aggregate error and the log put before it
};

// Everything that the kinds of metrics need; made for each call of Propose.
struct Context {
  const DecisionInput& input;
  const MetricSpec& metric;
  const Reading& reading;
  Workspace& workspace;
};

GroupQuery MakeGroupQuery(const Context& context, const RequestColumn* requests) {
  return {.table = *context.input.pods->table,
          .samples = context.reading.samples,
          .requests = requests,
          .judge_readiness =
              context.metric.type != MetricType::kPods && context.metric.resource == "cpu",
          .config = *context.input.config,
          .now = context.input.now};
}

// "", or why the metric's selector does not compile, in the words of the controller's version.
std::string SelectorError(const Context& context) {
  const MetricIdentifier& id = context.metric.metric;
  if (id.selector_error.empty() || !id.selector.has_value()) return id.selector_error;
  return std::string(id.selector->ToSelector(context.input.config->labels).status().message());
}

// ---- Resource, ContainerResource ----------------------------------------------------------------

absl::Status ProposeUtilization(const Context& context, Proposal& proposal) {
  const PodTable& table = *context.input.pods->table;
  const RequestColumn* requests = table.Requests(context.metric.resource, context.metric.container);
  if (requests == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("the pod table was made without the requests for ", context.metric.resource));
  }
  proposal.target_utilization = *context.metric.target.average_utilization;
  return ProposeFromUtilization(MakeGroupQuery(context, requests),
                                context.input.scale->spec_replicas, context.workspace, proposal);
}

absl::Status ProposeAverage(const Context& context, Proposal& proposal) {
  proposal.target_milli = context.metric.target.average_value->milli;
  return ProposeFromMean(MakeGroupQuery(context, nullptr), context.input.scale->spec_replicas,
                         context.workspace, proposal);
}

absl::Status ProposeFromResource(const Context& context, bool average, Proposal& proposal) {
  if (!context.reading.error.empty()) {
    return absl::FailedPreconditionError(absl::StrCat("unable to get metrics for resource ",
                                                      context.metric.resource, ": ",
                                                      context.reading.error));
  }
  return average ? ProposeAverage(context, proposal) : ProposeUtilization(context, proposal);
}

Failure ProposeResource(const Context& context, Proposal& proposal) {
  const MetricSpec& metric = context.metric;
  const bool container = metric.type == MetricType::kContainerResource;
  const bool average = metric.target.average_value.has_value();
  std::string error;
  if (!average && !metric.target.average_utilization.has_value()) {
    error =
        "invalid resource metric source: neither an average utilization target nor an average "
        "value (usage) target was set";
  } else if (const absl::Status status = ProposeFromResource(context, average, proposal);
             !status.ok()) {
    error = absl::StrCat("failed to get ", metric.resource,
                         average ? " usage: " : " utilization: ", status.message());
  }
  if (!error.empty()) {
    return {container ? "FailedGetContainerResourceMetric" : "FailedGetResourceMetric",
            std::move(error),
            absl::StrCat("failed to get ", container ? metric.container : metric.resource,
                         container ? " container" : " resource", " metric value: ")};
  }
  absl::StrAppend(&proposal.name, metric.resource, container && !average ? " container" : "",
                  average ? " resource" : " resource utilization (percentage of request)");
  return {};
}

// ---- Pods ---------------------------------------------------------------------------------------

absl::Status ProposeFromPodsMetric(const Context& context, Proposal& proposal) {
  const MetricIdentifier& id = context.metric.metric;
  if (!id.selector_error.empty()) return absl::InvalidArgumentError(SelectorError(context));
  if (!context.metric.target.average_value.has_value()) {
    return absl::InvalidArgumentError(
        "invalid pods metric source: no average value target was set");
  }
  if (!context.reading.error.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("unable to get metric ", id.name, ": ", context.reading.error));
  }
  return ProposeAverage(context, proposal);
}

Failure ProposePods(const Context& context, Proposal& proposal) {
  if (const absl::Status status = ProposeFromPodsMetric(context, proposal); !status.ok()) {
    return {"FailedGetPodsMetric", std::string(status.message()),
            "failed to get pods metric value: "};
  }
  absl::StrAppend(&proposal.name, "pods metric ", context.metric.metric.name);
  return {};
}

// ---- Object, External ---------------------------------------------------------------------------

// The calculation for Object and External metrics; the caller has checked selector and reading.
absl::Status ProposeTotal(const Context& context, bool average, Proposal& proposal) {
  const bool external = context.metric.type == MetricType::kExternal;
  if (average) {
    proposal.target_milli = context.metric.target.average_value->milli;
    ProposeFromTotalPerReplica(context.reading.amounts_milli, external,
                               context.input.scale->status_replicas, proposal);
    return absl::OkStatus();
  }
  proposal.timestamp.reset();
  proposal.target_milli = context.metric.target.value->milli;
  const absl::Status status = ProposeFromTotal({.amounts_milli = context.reading.amounts_milli,
                                                .table = *context.input.pods->table,
                                                .current = context.input.scale->spec_replicas,
                                                .saturates = context.input.config->saturates},
                                               proposal);
  if (status.ok()) return status;
  return absl::FailedPreconditionError(
      absl::StrCat("unable to calculate ready pods: ", status.message()));
}

// Sets the name, in conditions and events, of a metric with an AverageValue target and of all
// External metrics.
void NameAsExternal(const MetricIdentifier& id, Proposal& proposal) {
  absl::StrAppend(&proposal.name, "external metric ", id.name, "(", id.selector_go, ")");
}

// Why an object's metric is not known. Up to 1.36 the arguments in upstream's text are shifted by
// one.
std::string UnknownObjectText(const Context& context) {
  const MetricSpec& metric = context.metric;
  const bool named = context.input.config->names_described_object;
  return absl::StrCat("unable to get metric ", metric.metric.name, named ? " on " : ": ",
                      metric.described_object.kind, named ? " " : " on ",
                      context.input.autoscaler->ns, named ? "/" : " ", metric.described_object.name,
                      named ? ": " : "/", context.reading.error);
}

Failure ProposeObject(const Context& context, Proposal& proposal) {
  const MetricSpec& metric = context.metric;
  const MetricIdentifier& id = metric.metric;
  const auto fail = [](std::string error, absl::string_view inner_wrap = "") -> Failure {
    return {"FailedGetObjectMetric", std::move(error),
            absl::StrCat("failed to get object metric value: ", inner_wrap)};
  };
  if (!id.selector_error.empty()) return fail(SelectorError(context));
  const bool value = metric.target.type == TargetType::kValue && metric.target.value.has_value();
  const bool average = !value && metric.target.type == TargetType::kAverageValue &&
                       metric.target.average_value.has_value();
  if (!value && !average) {
    return fail(
        "invalid object metric source: neither a value target nor an average value target was "
        "set");
  }
  std::string error;
  if (!context.reading.error.empty()) {
    error = UnknownObjectText(context);
  } else {
    error = std::string(ProposeTotal(context, average, proposal).message());
  }
  if (!error.empty()) {
    return fail(std::move(error),
                average ? absl::StrCat("failed to get ", id.name, " object metric: ") : "");
  }
  if (average) {
    NameAsExternal(id, proposal);
  } else {
    absl::StrAppend(&proposal.name, metric.described_object.kind, " metric ", id.name);
  }
  return {};
}

Failure ProposeExternal(const Context& context, Proposal& proposal) {
  const MetricTarget& target = context.metric.target;
  const MetricIdentifier& id = context.metric.metric;
  const auto fail = [&id](std::string error, absl::string_view inner_wrap = "") -> Failure {
    return {"FailedGetExternalMetric", std::move(error),
            absl::StrCat("failed to get ", id.name, " external metric value: ", inner_wrap)};
  };
  const bool average = target.average_value.has_value();
  if (!average && !target.value.has_value()) {
    return fail(
        "invalid external metric source: neither a value target nor an average value target was "
        "set");
  }
  std::string error;
  if (!id.selector_error.empty()) {
    error = SelectorError(context);
  } else if (!context.reading.error.empty()) {
    error = absl::StrCat("unable to get external metric ", context.input.autoscaler->ns, "/",
                         id.name, "/", id.selector_go, ": ", context.reading.error);
  } else {
    error = std::string(ProposeTotal(context, average, proposal).message());
  }
  if (!error.empty()) {
    return fail(std::move(error),
                average ? absl::StrCat("failed to get ", id.name, " external metric: ")
                        : absl::StrCat("failed to get external metric ", id.name, ": "));
  }
  NameAsExternal(id, proposal);
  return {};
}

Failure ProposeByType(const Context& context, Proposal& proposal) {
  switch (context.metric.type) {
    case MetricType::kResource:
    case MetricType::kContainerResource: return ProposeResource(context, proposal);
    case MetricType::kPods: return ProposePods(context, proposal);
    case MetricType::kObject: return ProposeObject(context, proposal);
    case MetricType::kExternal: return ProposeExternal(context, proposal);
    case MetricType::kUnknown: break;
  }
  proposal.spec_fault = true;
  return {"InvalidMetricSourceType",
          absl::StrCat("unknown metric source type ", go::Quote(context.metric.type_text)), ""};
}

// Proposes what stands in for an unknown metric, which only an Autoscaler (CRD) has.
void ProposeInstead(const Context& context, Proposal& proposal) {
  const MetricSpec& metric = context.metric;
  const Reading::Instead& instead = *context.reading.instead;
  proposal.valid = true;
  proposal.verdict = Verdict::kInstead;
  proposal.replicas = instead.replicas;
  proposal.valid_until = instead.until;
  proposal.activity_only = instead.activity_only;
  proposal.error = context.reading.error;
  absl::StrAppend(&proposal.name,
                  instead.activity_only ? "the activity of metric " : "the fallback of metric ",
                  metric.metric.name.empty() ? metric.resource : metric.metric.name);
}

}  // namespace

Tolerance ToleranceOf(const Autoscaler& autoscaler, const MathConfig& config) {
  Tolerance out{.down = config.tolerance, .up = config.tolerance};
  if (!autoscaler.behavior.has_value() || !config.configurable_tolerance) return out;
  const Behavior& behavior = *autoscaler.behavior;
  if (behavior.scale_down.tolerance.has_value()) out.down = behavior.scale_down.tolerance->ratio;
  if (behavior.scale_up.tolerance.has_value()) out.up = behavior.scale_up.tolerance->ratio;
  return out;
}

void Propose(const DecisionInput& input, size_t index, const DecideOptions& options,
             Workspace& workspace, Proposal& proposal) {
  const Context context{.input = input,
                        .metric = input.autoscaler->metrics[index],
                        .reading = input.readings[index],
                        .workspace = workspace};
  Reset(proposal);
  proposal.tolerance = context.metric.exact ? Tolerance{.down = 0, .up = 0}
                                            : ToleranceOf(*input.autoscaler, *input.config);
  proposal.reading_time = context.reading.timestamp;
  proposal.timestamp = context.reading.timestamp;
  if (context.reading.timestamp.has_value()) proposal.age = input.now - *context.reading.timestamp;
  proposal.items = context.reading.samples.size() + context.reading.amounts_milli.size();
  workspace.groups.clear();
  if (context.reading.instead.has_value()) return ProposeInstead(context, proposal);
  Failure failure = ProposeByType(context, proposal);
  if (options.pod_detail) proposal.pod_groups = workspace.groups;
  proposal.valid = failure.error.empty();
  if (proposal.valid) return;
  proposal.verdict = Verdict::kFailed;
  proposal.formula = Formula::kNone;
  proposal.timestamp.reset();
  proposal.reason = std::string(failure.reason);
  proposal.wrapped_error = absl::StrCat(failure.wrap, failure.error);
  proposal.error = std::move(failure.error);
}

}  // namespace flyball::scaler
