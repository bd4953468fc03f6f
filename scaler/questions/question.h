// Questions whose answers decisions depend on. They are asked of the metrics APIs (in this
// process), of triggers, and, where no watch tells the scale, of the scale subresource.
//
// One question is shared by all autoscalers that ask the same (question_board.h). Ask may block for
// kReadTimeout; it is never called twice at once.
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
#include "base/clock.h"
#include "kube/client/api_client.h"
#include "kube/objects/rest_mapping.h"
#include "kube/objects/selector.h"
#include "scaler/questions/answer.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

// How long a source may take to answer.
inline constexpr absl::Duration kReadTimeout = absl::Seconds(10);
// How old a sample of the adapter's may be, whatever its --query-freshness allows others.
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

  // Questions that return the same text here, other than "", are of one kind: AskTogether of any of
  // them asks for all. "": the question is asked by itself.
  virtual absl::string_view together() const { return ""; }
  virtual void AskTogether(const AskContext& context, absl::Span<Question* const> questions,
                           absl::Span<Answer* const> answers) {
    for (size_t i = 0; i < questions.size(); ++i) questions[i]->Ask(context, *answers[i]);
  }

  // Whether all answers of that origin would be given again if they were asked for now (see
  // adapter/provider.h). nullopt: only asking tells. May be called while the question is asked.
  virtual std::optional<adapter::Repeated> Again(const AskContext& context,
                                                 const adapter::OriginPtr& origin) {
    (void)context, (void)origin;
    return std::nullopt;
  }

  // Called for each autoscaler before it asks, when the selector of its pods has changed.
  virtual void NoteSelector(absl::string_view text, const kube::Selector& selector) {
    (void)text, (void)selector;
  }

  // Called when an autoscaler begins to use the question for that metric.
  virtual void NoteMetric(const MetricSpec& metric) { (void)metric; }

  // Whether the answer is enough for all that ask now: somebody may have come while it was asked
  // for.
  virtual bool Covers(const Answer& answer) const {
    (void)answer;
    return true;
  }
};

// A question about pods. While all that ask have the same selector, only the pods of that are asked
// for; once there are several selectors, all pods of the namespace.
class PodsQuestion : public Question {
 public:
  void NoteSelector(absl::string_view text, const kube::Selector& selector) override;
  bool Covers(const Answer& answer) const override;

 protected:
  // The selector to ask with; `whole_namespace` is set when it selects all pods.
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

// The question of a metric spec. nullptr: there is nothing to ask, since its type is unknown or its
// selector does not compile; the math reports that.
std::shared_ptr<Question> MakeMetricQuestion(const std::string& ns, const MetricSpec& metric);

// Asks a trigger for its metrics and their readings. The clock outlives the question.
std::shared_ptr<Question> MakeTriggerQuestion(std::shared_ptr<Trigger> trigger, Clock& clock);

// Asks for the scale subresource of one object. The client outlives the question.
std::shared_ptr<Question> MakeScaleQuestion(kube::ApiClient& client, kube::ResourceInfo target,
                                            std::string ns, std::string name);

}  // namespace flyball::scaler
