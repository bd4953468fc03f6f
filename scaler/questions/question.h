// Questions that decisions depend on: what is asked of the metrics APIs (in-process), of triggers
// and, where no watch tells it, of the scale subresource.
//
// A question is made once for what it asks and shared by everybody who asks the same. Ask may block
// until its time is over; it is never called twice at once.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "adapter/provider.h"
#include "kube/client/api_client.h"
#include "kube/objects/rest_mapping.h"
#include "kube/objects/selector.h"
#include "scaler/questions/answer.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

// How long a source may take.
inline constexpr absl::Duration kReadTimeout = absl::Seconds(10);
// How old what it gives may be, whatever others are content with.
inline constexpr absl::Duration kReadAge = absl::Milliseconds(100);

struct AskContext {
  adapter::Providers providers;
  std::shared_ptr<const kube::RestMapper> mapper;
  absl::Time now;
};

class Question {
 public:
  virtual ~Question() = default;

  // Fills the part of `answer` that belongs to the question, or its error.
  virtual void Ask(const AskContext& context, Answer& answer) = 0;

  // Questions with the same text (not "") may be asked together, by any one of them.
  virtual absl::string_view together() const { return ""; }
  virtual void AskTogether(const AskContext& context, absl::Span<Question* const> questions,
                           absl::Span<Answer* const> answers) {
    for (size_t i = 0; i < questions.size(); ++i) questions[i]->Ask(context, *answers[i]);
  }

  // Whether all answers of that origin would be given again if they were asked for now, as
  // provider.h says it. nullopt: that is only known by asking. May be called while it is asked.
  virtual std::optional<adapter::Repeated> Again(const AskContext& context,
                                                 const adapter::OriginPtr& origin) {
    (void)context, (void)origin;
    return std::nullopt;
  }

  // Called by each asker before it asks, when the selector of its pods is another one than before.
  virtual void NoteSelector(absl::string_view text, const kube::Selector& selector) {
    (void)text, (void)selector;
  }

  // Called when somebody holds the question for that metric.
  virtual void NoteMetric(const MetricSpec& metric) { (void)metric; }

  // Whether the answer is one to all who ask now.
  virtual bool Covers(const Answer& answer) const {
    (void)answer;
    return true;
  }
};

// A question about pods. While one selector asks, only its pods are asked for; as soon as there are
// several, all of the namespace.
class PodsQuestion : public Question {
 public:
  void NoteSelector(absl::string_view text, const kube::Selector& selector) override;
  bool Covers(const Answer& answer) const override;

 protected:
  // The selector to ask with; whether it stands for all pods.
  kube::Selector SelectorToAsk(bool& whole_namespace);

 private:
  mutable absl::Mutex mutex_;
  bool asked_ ABSL_GUARDED_BY(mutex_) = false;
  bool several_ ABSL_GUARDED_BY(mutex_) = false;
  std::string text_ ABSL_GUARDED_BY(mutex_);
  kube::Selector selector_ ABSL_GUARDED_BY(mutex_);
};

// The same text for questions that are the same; "" for a metric without a question.
std::string QuestionKey(const std::string& ns, const MetricSpec& metric);

// The question of a metric spec. nullptr when there is nothing to ask: its type is unknown or its
// selector does not compile, which the math reports.
std::shared_ptr<Question> MakeMetricQuestion(const std::string& ns, const MetricSpec& metric);

// Metrics and readings of a trigger.
std::shared_ptr<Question> MakeTriggerQuestion(std::shared_ptr<Trigger> trigger);

// The client outlives the question.
std::shared_ptr<Question> MakeScaleQuestion(kube::ApiClient& client, kube::ResourceInfo target,
                                            std::string ns, std::string name);

}  // namespace flyball::scaler
