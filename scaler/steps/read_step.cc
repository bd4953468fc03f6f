#include "scaler/steps/read_step.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scaler/math/reconcile.h"

namespace flyball::scaler {
namespace {

ScaleAnswer Failure(ScaleAnswer::Failure kind, std::string error) {
  ScaleAnswer answer;
  answer.failure = kind;
  answer.error = std::move(error);
  return answer;
}

}  // namespace

void ReadStep::FindTarget(Entry& entry) const {
  ScaleTarget& target = entry.target;
  const ObjectReference& wanted = entry.managed->autoscaler.scale_target;
  target = ScaleTarget();
  target.mapper = parts_.directory.mapper();
  if (std::count(wanted.api_version.begin(), wanted.api_version.end(), '/') > 1) {
    target.failure = Failure(ScaleAnswer::Failure::kApiVersion,
                             absl::StrCat("unexpected GroupVersion string: ", wanted.api_version));
    return;
  }
  const size_t slash = wanted.api_version.find('/');
  const std::string group = slash == std::string::npos ? "" : wanted.api_version.substr(0, slash);
  const kube::ResourceInfo* found = target.mapper->FindKind(group, wanted.kind);
  if (found == nullptr) {
    parts_.directory.ResourceMissed();  // it may be new
    target.failure =
        Failure(ScaleAnswer::Failure::kMapping,
                absl::StrCat("no matches for kind \"", wanted.kind, "\" in group \"", group, "\""));
    return;
  }
  target.resource = *found;
  if (ScaleStore::Reads(*found)) {
    target.place = parts_.scales.Find(*found, entry.key.ns, wanted.name);
  }
}

void ReadStep::TakeScale(Entry& entry, std::shared_ptr<const kube::Scale> scale) {
  ScaleReading& reading = entry.scale;
  if (scale != nullptr && scale == reading.scale) return;
  reading.scale = std::move(scale);
  reading.version = 0;
  ScaleAnswer& answer = reading.answer;
  answer.failure = ScaleAnswer::Failure::kNone;
  answer.error.clear();
  if (reading.scale == nullptr) {
    answer = Failure(ScaleAnswer::Failure::kRead,
                     absl::StrCat(entry.target.resource.name.ToString(), " \"",
                                  entry.managed->autoscaler.scale_target.name, "\" not found"));
    return;
  }
  answer.spec_replicas = reading.scale->spec_replicas;
  answer.status_replicas = reading.scale->status_replicas;
  if (answer.selector == reading.scale->selector &&
      (reading.selector.has_value() || !reading.selector_error.empty())) {
    return;
  }
  answer.selector = reading.scale->selector;
  absl::StatusOr<kube::Selector> selector = kube::Selector::Parse(answer.selector);
  reading.selector.reset();
  reading.selector_error.clear();
  entry.group = nullptr;
  if (!selector.ok()) {
    reading.selector_error = std::string(selector.status().message());
  } else if (!answer.selector.empty()) {
    reading.selector = *std::move(selector);
  }
}

ReadStep::Found ReadStep::FindScale(Entry& entry) const {
  const std::shared_ptr<const kube::RestMapper> mapper = parts_.directory.mapper();
  if (mapper->resources().empty()) return Found::kNotYet;
  ScaleTarget& target = entry.target;
  if (target.mapper != mapper) FindTarget(entry);
  if (target.failure.failure != ScaleAnswer::Failure::kNone) {
    entry.scale.scale = nullptr;
    entry.scale.answer.failure = target.failure.failure;
    entry.scale.answer.error = target.failure.error;
    return Found::kScale;
  }
  if (target.place.slot == nullptr) return Found::kToBeAsked;
  switch (ScaleStore::IsUsable(*target.place.kind)) {
    case ScaleStore::Usable::kNotListed:
      return Found::kNotYet;
    case ScaleStore::Usable::kBroken:
      return Found::kToBeAsked;
    case ScaleStore::Usable::kYes:
      break;
  }
  const uint64_t version = target.place.slot->version.load(std::memory_order_acquire);
  if (entry.scale.scale == nullptr || entry.scale.version != version) {
    TakeScale(entry, target.place.slot->scale.Get());
    entry.scale.version = version;
  }
  return Found::kScale;
}

bool ReadStep::AskScale(Entry& entry) const {
  QuestionBoard::Handle& question = entry.target.question;
  if (question == nullptr) {
    question =
        parts_.board.Own(MakeScaleQuestion(parts_.client, entry.target.resource, entry.key.ns,
                                           entry.managed->autoscaler.scale_target.name),
                         parts_.run_reads);
  }
  entry.pending = 2;
  if (parts_.board.Join(question, entry.not_before, entry)) entry.pending.fetch_sub(1);
  return entry.Answered();
}

void ReadStep::TakeAskedScale(Entry& entry) const {
  const AnswerPtr answer = QuestionBoard::AnswerOf(*entry.target.question);
  if (answer->error.empty()) {
    return TakeScale(entry, std::make_shared<const kube::Scale>(answer->scale));
  }
  entry.scale.scale = nullptr;
  entry.scale.answer.failure = ScaleAnswer::Failure::kRead;
  entry.scale.answer.error = answer->error;
}

void ReadStep::SelectPods(Entry& entry) const {
  entry.reads_metrics = ReadsMetrics(entry.plan.autoscaler(), entry.scale.answer);
  if (!entry.reads_metrics || !entry.scale.selector.has_value()) return;
  if (entry.group != nullptr && entry.noted_plan == entry.plan.version()) return;
  const std::string& text = entry.scale.answer.selector;
  entry.group = parts_.pods.Select(entry.key, *entry.scale.selector, text);
  entry.noted_plan = entry.plan.version();
  for (const QuestionBoard::Handle& question : entry.plan.metric_questions()) {
    if (question == nullptr) continue;
    QuestionBoard::QuestionOf(*question).NoteSelector(text, *entry.scale.selector);
  }
}

void ReadStep::Join(const QuestionBoard::Handle& question, Entry& entry,
                    std::vector<QuestionBoard::Handle>& to_ask) const {
  entry.pending.fetch_add(1);
  if (parts_.board.Join(question, entry.not_before, entry, to_ask)) entry.pending.fetch_sub(1);
}

bool ReadStep::AskMetrics(Entry& entry, std::vector<QuestionBoard::Handle>& to_ask) const {
  entry.phase = CyclePhase::kReadingMetrics;
  entry.pending = 1;
  if (entry.reads_metrics && entry.scale.selector.has_value()) {
    const QuestionBoard::Handle* last = nullptr;
    for (const QuestionBoard::Handle& question : entry.plan.metric_questions()) {
      // Metrics of one API are often neighbours that ask the same.
      if (question == nullptr || (last != nullptr && *last == question)) continue;
      last = &question;
      Join(question, entry, to_ask);
    }
  }
  if (entry.scale.answer.failure == ScaleAnswer::Failure::kNone) {
    for (const Plan::PlannedTrigger& trigger : entry.plan.triggers()) {
      if (trigger.question != nullptr) Join(trigger.question, entry, to_ask);
    }
  }
  return entry.Answered();
}

}  // namespace flyball::scaler
