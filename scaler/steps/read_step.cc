#include "scaler/steps/read_step.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/objects/api_version.h"
#include "scaler/math/hpa/decider_of.h"
#include "scaler/steps/stored_status.h"
#include "scaler/stores/pod_owner.h"

namespace flyball::scaler {
namespace {

ScaleAnswer Failure(ScaleAnswer::Failure kind, std::string error) {
  ScaleAnswer answer;
  answer.failure = kind;
  answer.error = std::move(error);
  return answer;
}

// An Autoscaler (CRD) in shadow is nobody's rival, since it writes nothing. An HPA in shadow is a
// rival, because the stock controller, with which it is compared, knows no modes. So is an
// Autoscaler in mode advise, since an HPA follows and writes its count.
bool IsRival(const CycleInputs& inputs) {
  return inputs.managed->key.kind == AutoscalerKind::kHpa || inputs.mode != Mode::kShadow;
}

ScaleAnswer NotFound(const CycleInputs& inputs) {
  return Failure(ScaleAnswer::Failure::kRead,
                 absl::StrCat(inputs.target.resource.name.ToString(), " \"",
                              inputs.managed->autoscaler.scale_target.name, "\" not found"));
}

}  // namespace

void ReadStep::FindTarget(CycleInputs& inputs) const {
  ScaleTarget& target = inputs.target;
  const ObjectReference& wanted = inputs.managed->autoscaler.scale_target;
  target = ScaleTarget();
  inputs.scale.absent_version.reset();
  target.mapper = deps_.directory.mapper();
  const absl::StatusOr<kube::ApiVersion> version = kube::ApiVersion::Parse(wanted.api_version);
  if (!version.ok()) {
    target.failure =
        Failure(ScaleAnswer::Failure::kApiVersion, std::string(version.status().message()));
    return;
  }
  const kube::ResourceInfo* found = target.mapper->FindKind(version->group, wanted.kind);
  if (found == nullptr) {
    deps_.directory.ResourceMissed();  // the kind may be new in the cluster
    target.failure = Failure(ScaleAnswer::Failure::kMapping,
                             absl::StrCat("no matches for kind \"", wanted.kind, "\" in group \"",
                                          version->group, "\""));
    return;
  }
  target.resource = *found;
  if (ScaleStore::Reads(*found)) {
    target.place = deps_.scales.Find(*found, inputs.managed->key.ns, wanted.name);
  }
}

void ReadStep::TakeScale(CycleInputs& inputs, std::shared_ptr<const kube::Scale> scale) {
  ScaleReading& reading = inputs.scale;
  if (scale == reading.scale) return;
  reading.scale = std::move(scale);
  reading.version = ScaleReading::kAsked;
  ScaleAnswer& answer = reading.answer;
  answer.failure = ScaleAnswer::Failure::kNone;
  answer.error.clear();
  answer.spec_replicas = reading.scale->spec_replicas;
  answer.status_replicas = reading.scale->status_replicas;
  if (answer.selector == reading.scale->selector &&
      (reading.selector.has_value() || !reading.selector_error.empty())) {
    return;
  }
  answer.selector = reading.scale->selector;
  absl::StatusOr<kube::Selector> selector =
      kube::Selector::Parse(answer.selector, inputs.config().labels);
  reading.selector.reset();
  reading.selector_error.clear();
  inputs.pods.selected = nullptr;
  if (!selector.ok()) {
    reading.selector_error = std::string(selector.status().message());
  } else if (!answer.selector.empty()) {
    reading.selector = *std::move(selector);
  }
}

ReadStep::Found ReadStep::FindScale(CycleInputs& inputs) const {
  const std::shared_ptr<const kube::RestMapper> mapper = deps_.directory.mapper();
  if (mapper->resources().empty()) return Found::kNotYet;
  ScaleTarget& target = inputs.target;
  if (target.mapper != mapper) FindTarget(inputs);
  if (target.failure.failure != ScaleAnswer::Failure::kNone) {
    inputs.scale.scale = nullptr;
    inputs.scale.answer.failure = target.failure.failure;
    inputs.scale.answer.error = target.failure.error;
    return Found::kScale;
  }
  if (target.place.object == nullptr) return Found::kToBeAsked;
  switch (ScaleStore::IsUsable(*target.place.kind)) {
    case ScaleStore::Usable::kNotListed: return Found::kNotYet;
    case ScaleStore::Usable::kBroken: inputs.scale.absent_version.reset(); return Found::kToBeAsked;
    case ScaleStore::Usable::kYes: break;
  }
  const uint64_t version = target.place.object->version.load(std::memory_order_acquire);
  if (inputs.scale.scale == nullptr || inputs.scale.version != version) {
    std::shared_ptr<const kube::Scale> scale = target.place.object->scale.Get();
    if (scale == nullptr) {
      // It may just have been created, since the watches of autoscalers and of targets are two. One
      // question is enough, unless the answer was that it exists.
      const bool was_there = inputs.scale.scale != nullptr;
      if (std::exchange(inputs.scale.absent_version, version) != version || was_there) {
        return Found::kToBeAsked;
      }
      inputs.scale.answer = NotFound(inputs);
      return Found::kScale;
    }
    inputs.scale.absent_version.reset();
    TakeScale(inputs, std::move(scale));
    inputs.scale.version = version;
  }
  inputs.scale.failure = ScaleStore::Failure(*target.place.kind);
  return Found::kScale;
}

bool ReadStep::AskScale(TrackedAutoscaler& tracked) const {
  ScaleTarget& target = tracked.inputs.target;
  QuestionBoard::Handle& question = target.question;
  if (question == nullptr) {
    question =
        deps_.board.Own(MakeScaleQuestion(deps_.client, target.resource, tracked.key.ns,
                                          tracked.inputs.managed->autoscaler.scale_target.name),
                        deps_.read_lanes.For(tracked.key.ns, "scales"));
  }
  tracked.pending = 2;
  if (deps_.board.Join(question, tracked.not_before, tracked)) tracked.pending.fetch_sub(1);
  return tracked.Answered();
}

void ReadStep::TakeAskedScale(CycleInputs& inputs) const {
  const AnswerPtr answer = QuestionBoard::LastAnswerOf(*inputs.target.question).answer;
  inputs.scale.failure.clear();
  if (answer->error.empty()) {
    return TakeScale(inputs, std::make_shared<const kube::Scale>(answer->scale));
  }
  inputs.scale.scale = nullptr;
  inputs.scale.answer.failure = ScaleAnswer::Failure::kRead;
  inputs.scale.answer.error = answer->error;
  // The watch's information is used even without the right to get one scale.
  if (inputs.scale.absent_version.has_value()) inputs.scale.answer = NotFound(inputs);
}

bool ReadStep::MayBeOld(const CycleInputs& inputs) {
  if (!inputs.scale.failure.empty()) return true;
  if (inputs.target.place.object == nullptr || inputs.scale.version == ScaleReading::kAsked) {
    return false;
  }
  const std::shared_ptr<const kube::Scale> now = inputs.target.place.object->scale.Get();
  return now != nullptr && now->spec_replicas != inputs.scale.answer.spec_replicas;
}

void ReadStep::SelectPods(TrackedAutoscaler& tracked) const {
  TakeStoredStatus(tracked);
  CycleInputs& inputs = tracked.inputs;
  const Autoscaler& autoscaler = inputs.plan.autoscaler();
  DecisionInput known;
  known.autoscaler = &autoscaler;
  known.status = &tracked.decided.status;
  known.scale = &inputs.scale.answer;
  known.config = &inputs.config();
  inputs.reads_metrics = DeciderOf(autoscaler).ReadsMetrics(known);
  const bool rival = IsRival(inputs);
  if (std::exchange(inputs.rival, rival) != rival) {
    inputs.pods.selected = nullptr;
    if (!rival) deps_.pods.Retire(inputs.managed->key);  // also where no pods are selected now
  }
  if (!inputs.reads_metrics || !inputs.scale.selector.has_value()) return;
  // In shadow the same pods count as for the stock controller.
  const bool owned_only =
      inputs.managed->own.owned_pods_only &&
      (inputs.managed->key.kind == AutoscalerKind::kOwn || inputs.mode != Mode::kShadow);
  // The pods are selected already, and neither selector nor plan nor mode has changed since.
  if (inputs.pods.selected != nullptr && inputs.pods.owned_only == owned_only) return;
  inputs.pods.owned_only = owned_only;
  const std::string& text = inputs.scale.answer.selector;
  const ObjectReference& target = autoscaler.scale_target;
  inputs.pods.selected =
      owned_only ? deps_.pods.Select(inputs.managed->key,
                                     OwnedBy(target.kind, target.name, *inputs.scale.selector),
                                     OwnedByText(target.kind, target.name, text), rival)
                 : deps_.pods.Select(inputs.managed->key, *inputs.scale.selector, text, rival);
  for (const QuestionBoard::Handle& question : inputs.plan.metric_questions()) {
    if (question == nullptr) continue;
    QuestionBoard::NoteSelector(*question, text, *inputs.scale.selector);
  }
}

void ReadStep::Join(const QuestionBoard::Handle& question, TrackedAutoscaler& tracked,
                    QuestionBoard::ToAsk& to_ask) const {
  tracked.pending.fetch_add(1);
  if (deps_.board.Join(question, tracked.not_before, tracked, to_ask)) tracked.pending.fetch_sub(1);
}

bool ReadStep::AskMetrics(TrackedAutoscaler& tracked, QuestionBoard::ToAsk& to_ask) const {
  CycleInputs& inputs = tracked.inputs;
  tracked.phase = CyclePhase::kReadingMetrics;
  tracked.pending = 1;
  inputs.pods.failure = deps_.pods.Failure(tracked.key.ns);  // triggers count pods, too
  if (inputs.reads_metrics && inputs.scale.selector.has_value()) {
    const void* last = nullptr;
    for (const QuestionBoard::Handle& question : inputs.plan.metric_questions()) {
      // Metrics of one API are often neighbours that ask the same.
      if (question == nullptr || last == QuestionBoard::QuestionOf(*question)) continue;
      last = QuestionBoard::QuestionOf(*question);
      Join(question, tracked, to_ask);
    }
  }
  if (inputs.scale.answer.failure == ScaleAnswer::Failure::kNone) {
    for (const Plan::PlannedTrigger& trigger : inputs.plan.triggers()) {
      if (trigger.question != nullptr) Join(trigger.question, tracked, to_ask);
    }
  }
  return tracked.Answered();
}

}  // namespace flyball::scaler
