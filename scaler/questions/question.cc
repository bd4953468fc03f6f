#include "scaler/questions/question.h"

#include <atomic>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "kube/objects/api_version.h"

namespace flyball::scaler {
namespace {

kube::Selector SelectorOf(const MetricIdentifier& metric) {
  if (!metric.selector.has_value()) return {};
  return metric.selector->ToSelector().value_or(kube::Selector());
}

// nullopt: neither alone.
std::optional<adapter::PodAmounts> AmountsOf(const MetricSpec& metric) {
  if (metric.type != MetricType::kResource) return std::nullopt;  // names containers
  if (metric.resource == "cpu") return adapter::PodAmounts::kCpu;
  if (metric.resource == "memory") return adapter::PodAmounts::kMemory;
  return std::nullopt;
}

// metrics.k8s.io: all that is read of the pods at once.
class ResourceQuestion : public PodsQuestion {
 public:
  ResourceQuestion(std::string ns, const MetricSpec& metric)
      : ns_(std::move(ns)), wanted_(AmountsOf(metric).value_or(adapter::PodAmounts::kBoth)) {}

  void Ask(const AskContext& context, Answer& answer) override {
    adapter::Repeat repeat{.max_age = kReadAge,
                           .origin = std::exchange(answer.repeated.origin, nullptr)};
    const kube::Selector selector = SelectorToAsk(answer.whole_namespace);
    answer.amounts = wanted_;
    if (context.providers.resource == nullptr) {
      answer.error = "the server could not find the requested resource (get pods.metrics.k8s.io)";
      return;
    }
    // Of another selection the last answer says nothing.
    if (answer.whole_namespace != whole_namespace_) repeat.origin = nullptr;
    whole_namespace_ = answer.whole_namespace;
    auto list =
        context.providers.resource->PodsAgain(ns_, selector, answer.amounts, kReadTimeout, repeat);
    if (!list.ok()) {
      answer.error = ApiErrorText(list.status());
      return;
    }
    answer.repeated = std::move(list->repeated);
    answer.pods = std::move(list->items);
  }

  // As soon as not all want the same, all is asked for.
  void NoteMetric(const MetricSpec& metric) override {
    if (AmountsOf(metric) != wanted_) wanted_ = adapter::PodAmounts::kBoth;
  }
  bool Covers(const Answer& answer) const override {
    const bool enough = answer.amounts == adapter::PodAmounts::kBoth || answer.amounts == wanted_;
    return enough && PodsQuestion::Covers(answer);
  }

 private:
  const std::string ns_;
  std::atomic<adapter::PodAmounts> wanted_;
  bool whole_namespace_ = false;  // was asked for last
};

constexpr char kNoCustomApi[] = "no custom metrics API (custom.metrics.k8s.io) registered";

void TakeObjects(absl::StatusOr<adapter::CustomMetricList> list, Answer& answer) {
  if (!list.ok()) {
    answer.error = ApiErrorText(list.status());
    return;
  }
  answer.objects = std::move(list->items);
  answer.objects_time = list->timestamp;
}

// custom.metrics.k8s.io about pods.
class PodsMetricQuestion : public PodsQuestion {
 public:
  PodsMetricQuestion(std::string ns, const MetricIdentifier& metric)
      : ns_(std::move(ns)), metric_(metric.name), selector_(SelectorOf(metric)) {}

  void Ask(const AskContext& context, Answer& answer) override {
    const kube::Selector selector = SelectorToAsk(answer.whole_namespace);
    if (context.providers.custom == nullptr) {
      answer.error = kNoCustomApi;
      return;
    }
    TakeObjects(context.providers.custom->Get({.resource = "pods",
                                               .ns = ns_,
                                               .name = "*",
                                               .metric = metric_,
                                               .object_selector = selector,
                                               .metric_selector = selector_,
                                               .timeout = kReadTimeout,
                                               .max_age = kReadAge}),
                answer);
  }

 private:
  const std::string ns_;
  const std::string metric_;
  const kube::Selector selector_;
};

// custom.metrics.k8s.io about one object.
class ObjectQuestion : public Question {
 public:
  ObjectQuestion(std::string ns, const MetricSpec& spec)
      : ns_(std::move(ns)),
        object_(spec.described_object),
        metric_(spec.metric.name),
        selector_(SelectorOf(spec.metric)) {}

  void Ask(const AskContext& context, Answer& answer) override {
    if (context.providers.custom == nullptr) {
      answer.error = kNoCustomApi;
      return;
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
        return;
      }
      request.resource = resource->name.ToString();
      request.ns = ns_;
      request.namespace_itself = false;
      request.name = object_.name;
    }
    TakeObjects(context.providers.custom->Get(request), answer);
  }

 private:
  const std::string ns_;
  const ObjectReference object_;
  const std::string metric_;
  const kube::Selector selector_;
};

class ExternalQuestion : public Question {
 public:
  ExternalQuestion(const std::string& ns, const MetricIdentifier& metric)
      : together_(absl::StrCat("external\n", ns, "\n", metric.name)),
        request_{.ns = ns,
                 .metric = metric.name,
                 .selector = SelectorOf(metric),
                 .timeout = kReadTimeout,
                 .repeat = adapter::Repeat{.max_age = kReadAge, .origin = nullptr}} {}

  void Ask(const AskContext& context, Answer& answer) override {
    Question* const self = this;
    Answer* const only = &answer;
    AskTogether(context, absl::MakeConstSpan(&self, 1), absl::MakeConstSpan(&only, 1));
  }

  absl::string_view together() const override { return together_; }
  void AskTogether(const AskContext& context, absl::Span<Question* const> questions,
                   absl::Span<Answer* const> answers) override {
    std::vector<const adapter::ExternalMetricRequest*> requests;
    requests.reserve(questions.size());
    for (size_t i = 0; i < questions.size(); ++i) {
      adapter::ExternalMetricRequest& request =
          static_cast<ExternalQuestion*>(questions[i])->request_;
      request.repeat->origin = std::exchange(answers[i]->repeated.origin, nullptr);
      requests.push_back(&request);
    }
    if (context.providers.external == nullptr) {
      for (Answer* answer : answers) {
        answer->error = absl::StrCat("the server could not find the requested resource (get ",
                                     request_.metric, ".external.metrics.k8s.io)");
      }
      return;
    }
    auto lists = context.providers.external->GetAll(requests);
    for (size_t i = 0; i < answers.size(); ++i) {
      if (!lists[i].ok()) {
        answers[i]->error = ApiErrorText(lists[i].status());
        continue;
      }
      answers[i]->repeated = std::move(lists[i]->repeated);
      answers[i]->series = std::move(lists[i]->items);
    }
  }

  std::optional<adapter::Repeated> Again(const AskContext& context,
                                         const adapter::OriginPtr& origin) override {
    if (context.providers.external == nullptr) return std::nullopt;
    // When it takes longer it is asked in full after that.
    return context.providers.external->Again(origin, kReadTimeout / 2, kReadAge);
  }

 private:
  const std::string together_;
  adapter::ExternalMetricRequest request_;
};

class TriggerQuestion : public Question {
 public:
  TriggerQuestion(std::shared_ptr<Trigger> trigger, Clock& clock)
      : trigger_(std::move(trigger)), clock_(clock) {}

  void Ask(const AskContext& context, Answer& answer) override {
    const MonotonicTime deadline = clock_.MonotonicNow() + kReadTimeout;
    absl::StatusOr<std::vector<TriggerMetric>> metrics = trigger_->Metrics(kReadTimeout);
    if (!metrics.ok()) {
      answer.error = std::string(metrics.status().message());
      return;
    }
    answer.trigger_metrics = *std::move(metrics);
    answer.trigger_readings = trigger_->Read(context.now, deadline - clock_.MonotonicNow());
    answer.trigger_readings.resize(answer.trigger_metrics.size(),
                                   {.error = "no value was given", .time = context.now});
  }

 private:
  const std::shared_ptr<Trigger> trigger_;
  Clock& clock_;
};

class ScaleQuestion : public Question {
 public:
  ScaleQuestion(kube::ApiClient& client, kube::ResourceInfo target, std::string ns,
                std::string name)
      : client_(client), target_(std::move(target)), ns_(std::move(ns)), name_(std::move(name)) {}

  void Ask(const AskContext& /*context*/, Answer& answer) override {
    absl::StatusOr<kube::Scale> scale = kube::GetScale(client_, target_, ns_, name_);
    if (scale.ok()) {
      answer.scale = *std::move(scale);
    } else {
      answer.error = ApiErrorText(absl::UnknownError(scale.status().message()));
    }
  }

 private:
  kube::ApiClient& client_;
  const kube::ResourceInfo target_;
  const std::string ns_;
  const std::string name_;
};

}  // namespace

void PodsQuestion::NoteSelector(absl::string_view text, const kube::Selector& selector) {
  absl::MutexLock lock(&mutex_);
  if (asked_ && text != text_) several_ = true;
  asked_ = true;
  if (text == text_) return;
  text_ = std::string(text);
  selector_ = selector;
}

bool PodsQuestion::Covers(const Answer& answer) const {
  absl::MutexLock lock(&mutex_);
  return answer.whole_namespace || !several_;
}

kube::Selector PodsQuestion::SelectorToAsk(bool& whole_namespace) {
  absl::MutexLock lock(&mutex_);
  whole_namespace = several_;
  return several_ ? kube::Selector() : selector_;
}

std::string QuestionKey(const std::string& ns, const MetricSpec& metric) {
  if (!metric.metric.selector_error.empty()) return "";
  const auto identified = [&](absl::string_view api) {
    return absl::StrCat(api, "\n", ns, "\n", metric.metric.name, "\n", metric.metric.selector_text);
  };
  switch (metric.type) {
    case MetricType::kResource:
    case MetricType::kContainerResource:
      return absl::StrCat("resource\n", ns);
    case MetricType::kPods:
      return identified("pods");
    case MetricType::kObject:
      return absl::StrCat(identified("object"), "\n", metric.described_object.api_version, "\n",
                          metric.described_object.kind, "\n", metric.described_object.name);
    case MetricType::kExternal:
      return identified("external");
    case MetricType::kUnknown:
      break;
  }
  return "";
}

std::shared_ptr<Question> MakeMetricQuestion(const std::string& ns, const MetricSpec& metric) {
  switch (metric.type) {
    case MetricType::kResource:
    case MetricType::kContainerResource:
      return std::make_shared<ResourceQuestion>(ns, metric);
    case MetricType::kPods:
      return std::make_shared<PodsMetricQuestion>(ns, metric.metric);
    case MetricType::kObject:
      return std::make_shared<ObjectQuestion>(ns, metric);
    case MetricType::kExternal:
      return std::make_shared<ExternalQuestion>(ns, metric.metric);
    case MetricType::kUnknown:
      break;
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
