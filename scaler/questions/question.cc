#include "scaler/questions/question.h"

#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/objects/api_version.h"

namespace flyball::scaler {
namespace {

using adapter::PodAmounts;

kube::Selector SelectorOf(const MetricIdentifier& metric) {
  if (!metric.selector.has_value()) return {};
  return metric.selector->ToSelector().value_or(kube::Selector());
}

// The single amount that the metric needs of a pod; nullopt: it needs something else, or both.
std::optional<PodAmounts> AmountsOf(const MetricSpec& metric) {
  if (metric.type != MetricType::kResource) return std::nullopt;  // names containers
  if (metric.resource == "cpu") return PodAmounts::kCpu;
  if (metric.resource == "memory") return PodAmounts::kMemory;
  return std::nullopt;
}

std::vector<Question::PartAnswer> One(std::shared_ptr<Answer> answer, SamplesRead read = {}) {
  return {{.part = 0, .answer = std::move(answer), .read = std::move(read)}};
}

// metrics.k8s.io: one question for all resource metrics of the pods.
class ResourceQuestion : public Question {
 public:
  ResourceQuestion(std::string ns, const MetricSpec& metric)
      : ns_(std::move(ns)), wanted_(AmountsOf(metric).value_or(PodAmounts::kBoth)) {}

  std::vector<PartAnswer> Ask(const AskContext& context) override {
    auto answer = std::make_shared<Answer>();
    AskedPods::Choice choice = pods_.ToAsk();
    answer->whole_namespace = choice.whole_namespace;
    const PodAmounts wanted = wanted_;
    if (context.providers.resource == nullptr) {
      answer->error = "the server could not find the requested resource (get pods.metrics.k8s.io)";
      asked_ = wanted;
      standing_ = nullptr;
      return One(std::move(answer));
    }
    if (standing_ == nullptr || provider_ != context.providers.resource || asked_ != wanted ||
        !choice.same) {
      standing_ = context.providers.resource->StandPods(ns_, choice.selector, wanted);
      provider_ = context.providers.resource;
    }
    asked_ = wanted;
    auto said = standing_->Ask(kReadTimeout);
    if (!said.ok()) {
      answer->error = ApiErrorText(said.status());
      return One(std::move(answer));
    }
    SamplesRead read = std::move(said->list.freshness.samples);
    if (said->unchanged) {
      return {{.part = 0, .answer = nullptr, .time = said->time, .read = std::move(read)}};
    }
    answer->pods = std::move(said->list.items);
    return One(std::move(answer), std::move(read));
  }

  // As soon as two autoscalers want different amounts, both amounts are asked for.
  PartId AddPart(const MetricSpec& metric) override {
    if (AmountsOf(metric) != wanted_) wanted_ = PodAmounts::kBoth;
    return 0;
  }
  void NoteSelector(absl::string_view text, const kube::Selector& selector) override {
    pods_.Note(text, selector);
  }
  void ForgetSelector(absl::string_view text) override { pods_.Forget(text); }
  bool Covers() const override { return asked_ == wanted_ && pods_.Covers(); }

 private:
  const std::string ns_;
  AskedPods pods_;
  std::atomic<PodAmounts> wanted_;
  std::atomic<PodAmounts> asked_ = PodAmounts::kBoth;
  // ---- of the thread that asks
  std::shared_ptr<adapter::ResourceMetricsProvider> provider_;  // of `standing_`, which needs it
  std::unique_ptr<adapter::StandingPods> standing_;
};

constexpr char kNoCustomApi[] = "no custom metrics API (custom.metrics.k8s.io) registered";

SamplesRead TakeObjects(absl::StatusOr<adapter::CustomMetricList> list, Answer& answer) {
  if (!list.ok()) {
    answer.error = ApiErrorText(list.status());
    return {};
  }
  answer.objects = std::move(list->items);
  answer.objects_time = list->timestamp;
  return std::move(list->freshness.samples);
}

// custom.metrics.k8s.io about pods.
class PodsMetricQuestion : public WholeQuestion {
 public:
  PodsMetricQuestion(std::string ns, const MetricIdentifier& metric)
      : ns_(std::move(ns)), metric_(metric.name), selector_(SelectorOf(metric)) {}

  SamplesRead Ask(const AskContext& context, Answer& answer) override {
    AskedPods::Choice choice = pods_.ToAsk();
    answer.whole_namespace = choice.whole_namespace;
    if (context.providers.custom == nullptr) {
      answer.error = kNoCustomApi;
      return {};
    }
    return TakeObjects(context.providers.custom->Get({.resource = "pods",
                                                      .ns = ns_,
                                                      .name = "*",
                                                      .metric = metric_,
                                                      .object_selector = choice.selector,
                                                      .metric_selector = selector_,
                                                      .timeout = kReadTimeout,
                                                      .max_age = kReadAge}),
                       answer);
  }

  void NoteSelector(absl::string_view text, const kube::Selector& selector) override {
    pods_.Note(text, selector);
  }
  void ForgetSelector(absl::string_view text) override { pods_.Forget(text); }
  bool Covers() const override { return pods_.Covers(); }

 private:
  AskedPods pods_;
  const std::string ns_;
  const std::string metric_;
  const kube::Selector selector_;
};

// custom.metrics.k8s.io about one object.
class ObjectQuestion : public WholeQuestion {
 public:
  ObjectQuestion(std::string ns, const MetricSpec& spec)
      : ns_(std::move(ns)),
        object_(spec.described_object),
        metric_(spec.metric.name),
        selector_(SelectorOf(spec.metric)) {}

  SamplesRead Ask(const AskContext& context, Answer& answer) override {
    if (context.providers.custom == nullptr) {
      answer.error = kNoCustomApi;
      return {};
    }
    const std::string group = kube::ApiVersion::GroupOf(object_.api_version);
    adapter::CustomMetricRequest request = {.resource = "namespaces",
                                            .ns = std::nullopt,
                                            .namespace_itself = true,
                                            .name = ns_,
                                            .metric = metric_,
                                            .object_selector = {},
                                            .metric_selector = selector_,
                                            .timeout = kReadTimeout,
                                            .max_age = kReadAge};
    if (object_.kind != "Namespace" || !group.empty()) {
      const kube::ResourceInfo* resource = context.mapper->FindKind(group, object_.kind);
      if (resource == nullptr) {
        answer.error = absl::StrCat("unable to map kind ", object_.kind, group.empty() ? "" : ".",
                                    group, " to resource: no matches for kind \"", object_.kind,
                                    "\" in group \"", group, "\"");
        return {};
      }
      request.resource = resource->name.ToString();
      request.ns = ns_;
      request.namespace_itself = false;
      request.name = object_.name;
    }
    return TakeObjects(context.providers.custom->Get(request), answer);
  }

 private:
  const std::string ns_;
  const ObjectReference object_;
  const std::string metric_;
  const kube::Selector selector_;
};

// external.metrics.k8s.io about one metric: a part for each selector.
class ExternalQuestion : public Question {
 public:
  ExternalQuestion(std::string ns, std::string metric)
      : ns_(std::move(ns)), metric_(std::move(metric)) {}

  std::vector<PartAnswer> Ask(const AskContext& context) override {
    Stand(context.providers.external);
    std::vector<PartAnswer> answers;
    answers.reserve(asked_.size());
    if (standing_ == nullptr) {
      for (const PartId part : asked_) {
        answers.push_back({.part = part, .answer = std::make_shared<Answer>()});
        answers.back().answer->error =
            absl::StrCat("the server could not find the requested resource (get ", metric_,
                         ".external.metrics.k8s.io)");
      }
      return answers;
    }
    auto said = standing_->Ask(kReadTimeout);
    for (size_t i = 0; i < said.size(); ++i) {
      PartAnswer& answer = answers.emplace_back();
      answer.part = asked_[i];
      if (said[i].ok()) answer.read = std::move(said[i]->list.freshness.samples);
      if (said[i].ok() && said[i]->unchanged) {
        answer.time = said[i]->time;
        continue;
      }
      answer.answer = std::make_shared<Answer>();
      if (said[i].ok() && said[i]->list.kept) {
        // An error makes the decision hold. Its text is the same in each decision, since events and
        // statuses repeat it.
        answer.answer->error =
            "unable to fetch metrics: the source fails, and a kept value must not change the count";
      } else if (said[i].ok()) {
        answer.answer->series = std::move(said[i]->list.items);
      } else {
        answer.answer->error = ApiErrorText(said[i].status());
      }
    }
    return answers;
  }

  PartId AddPart(const MetricSpec& metric) override {
    absl::MutexLock lock(&mutex_);
    const auto [part, fresh] = parts_.try_emplace(metric.metric.selector_text);
    if (fresh) part->second = {.id = ++changes_, .selector = SelectorOf(metric.metric)};
    ++part->second.holders;
    texts_[part->second.id] = part->first;
    return part->second.id;
  }
  bool RemovePart(PartId id) override {
    absl::MutexLock lock(&mutex_);
    const auto text = texts_.find(id);
    const auto part = parts_.find(text->second);
    if (--part->second.holders > 0) return false;
    parts_.erase(part);
    texts_.erase(text);
    ++changes_;
    return true;
  }
  bool Covers() const override {
    absl::MutexLock lock(&mutex_);
    return changes_ == asked_changes_;
  }

 private:
  struct Part {
    PartId id = 0;
    kube::Selector selector;
    int holders = 0;
  };

  // Makes the standing request again if the parts or the provider have changed.
  void Stand(const std::shared_ptr<adapter::ExternalMetricsProvider>& provider) {
    std::vector<adapter::ExternalMetricRequest> requests;
    {
      absl::MutexLock lock(&mutex_);
      if (changes_ == asked_changes_ && provider == provider_) return;
      asked_changes_ = changes_;
      asked_.clear();
      for (const auto& [text, part] : parts_) {
        asked_.push_back(part.id);
        requests.push_back({.ns = ns_, .metric = metric_, .selector = part.selector});
      }
    }
    standing_ = provider == nullptr ? nullptr : provider->Stand(std::move(requests));
    provider_ = provider;
  }

  const std::string ns_;
  const std::string metric_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, Part> parts_ ABSL_GUARDED_BY(mutex_);  // by selector
  absl::flat_hash_map<PartId, std::string> texts_ ABSL_GUARDED_BY(mutex_);
  uint64_t changes_ ABSL_GUARDED_BY(mutex_) = 0;        // how often parts_ has changed
  uint64_t asked_changes_ ABSL_GUARDED_BY(mutex_) = 0;  // changes_ when it was last asked
  // ---- of the thread that asks
  std::shared_ptr<adapter::ExternalMetricsProvider> provider_;  // of `standing_`, which needs it
  std::unique_ptr<adapter::StandingExternal> standing_;
  std::vector<PartId> asked_;  // the part of each of its requests
};

class TriggerQuestion : public WholeQuestion {
 public:
  TriggerQuestion(std::shared_ptr<Trigger> trigger, Clock& clock)
      : trigger_(std::move(trigger)), clock_(clock) {}

  bool AnswersAtOnce() const override { return trigger_->AnswersAtOnce(); }

  SamplesRead Ask(const AskContext& context, Answer& answer) override {
    const MonotonicTime deadline = clock_.MonotonicNow() + kMaxTriggerTimeout;
    absl::StatusOr<std::vector<TriggerMetric>> metrics = trigger_->Metrics(kMaxTriggerTimeout);
    if (!metrics.ok()) {
      answer.error = std::string(metrics.status().message());
      // Activity may have been pushed. The server is not asked again.
      answer.trigger_readings = trigger_->Read(context.now, absl::ZeroDuration());
      return {};
    }
    answer.trigger_metrics = *std::move(metrics);
    answer.trigger_readings = trigger_->Read(context.now, deadline - clock_.MonotonicNow());
    answer.trigger_readings.resize(answer.trigger_metrics.size(),
                                   {.error = "no value was given", .time = context.now});
    return {};
  }

 private:
  const std::shared_ptr<Trigger> trigger_;
  Clock& clock_;
};

class ScaleQuestion : public WholeQuestion {
 public:
  ScaleQuestion(kube::ApiClient& client, kube::ResourceInfo target, std::string ns,
                std::string name)
      : client_(client), target_(std::move(target)), ns_(std::move(ns)), name_(std::move(name)) {}

  bool AnswersAtOnce() const override { return client_.InProcess(); }

  SamplesRead Ask(const AskContext& /*context*/, Answer& answer) override {
    absl::StatusOr<kube::Scale> scale = kube::GetScale(client_, target_, ns_, name_);
    if (scale.ok()) {
      answer.scale = *std::move(scale);
    } else {
      answer.error = ApiErrorText(absl::UnknownError(scale.status().message()));
    }
    return {};
  }

 private:
  kube::ApiClient& client_;
  const kube::ResourceInfo target_;
  const std::string ns_;
  const std::string name_;
};

}  // namespace

std::vector<Question::PartAnswer> WholeQuestion::Ask(const AskContext& context) {
  auto answer = std::make_shared<Answer>();
  SamplesRead read = Ask(context, *answer);
  return One(std::move(answer), std::move(read));
}

void AskedPods::Note(absl::string_view text, const kube::Selector& selector) {
  absl::MutexLock lock(&mutex_);
  Noted& noted = noted_[text];
  if (noted.times++ == 0) noted.selector = selector;
}

void AskedPods::Forget(absl::string_view text) {
  absl::MutexLock lock(&mutex_);
  const auto noted = noted_.find(text);
  if (--noted->second.times == 0) noted_.erase(noted);
}

bool AskedPods::Covers() const {
  absl::MutexLock lock(&mutex_);
  if (asked_for_all_ || noted_.empty()) return true;
  return noted_.size() == 1 && asked_ == noted_.begin()->first;
}

AskedPods::Choice AskedPods::ToAsk() {
  absl::MutexLock lock(&mutex_);
  std::optional<std::string> text;
  Choice choice;
  choice.whole_namespace = noted_.size() > 1;
  if (noted_.size() == 1) {
    text = noted_.begin()->first;
    choice.selector = noted_.begin()->second.selector;
  }
  choice.same = text == asked_ && choice.whole_namespace == asked_for_all_;
  asked_for_all_ = choice.whole_namespace;
  asked_ = std::move(text);
  return choice;
}

std::string QuestionKey(const std::string& ns, const MetricSpec& metric) {
  if (!metric.metric.selector_error.empty()) return "";
  const auto identified = [&](absl::string_view api) {
    return absl::StrCat(api, "\n", ns, "\n", metric.metric.name, "\n", metric.metric.selector_text);
  };
  switch (metric.type) {
    case MetricType::kResource:
    case MetricType::kContainerResource: return absl::StrCat("resource\n", ns);
    case MetricType::kPods: return identified("pods");
    case MetricType::kObject:
      return absl::StrCat(identified("object"), "\n", metric.described_object.api_version, "\n",
                          metric.described_object.kind, "\n", metric.described_object.name);
    case MetricType::kExternal: return absl::StrCat("external\n", ns, "\n", metric.metric.name);
    case MetricType::kUnknown: break;
  }
  return "";
}

std::shared_ptr<Question> MakeMetricQuestion(const std::string& ns, const MetricSpec& metric) {
  switch (metric.type) {
    case MetricType::kResource:
    case MetricType::kContainerResource: return std::make_shared<ResourceQuestion>(ns, metric);
    case MetricType::kPods: return std::make_shared<PodsMetricQuestion>(ns, metric.metric);
    case MetricType::kObject: return std::make_shared<ObjectQuestion>(ns, metric);
    case MetricType::kExternal: return std::make_shared<ExternalQuestion>(ns, metric.metric.name);
    case MetricType::kUnknown: break;
  }
  return nullptr;
}

std::shared_ptr<Question> MakeTriggerQuestion(std::shared_ptr<Trigger> trigger, Clock& clock) {
  return std::make_shared<TriggerQuestion>(std::move(trigger), clock);
}

std::shared_ptr<Question> MakeScaleQuestion(kube::ApiClient& client, kube::ResourceInfo target,
                                            std::string ns, std::string name) {
  return std::make_shared<ScaleQuestion>(client, std::move(target), std::move(ns), std::move(name));
}

}  // namespace flyball::scaler
