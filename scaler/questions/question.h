// Questions whose answers decisions depend on. They are asked of the metrics APIs (in this
// process), of triggers, and, where no watch tells the scale, of the scale subresource.
//
// One question is shared by all autoscalers that ask the same (question_board.h). A question about
// external metrics has a part for each selector, since all selectors of a metric are asked for
// together; any other has one part. Ask may block for kReadTimeout; it is never called twice at
// once. Everything else may be called at any time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "adapter/provider.h"
#include "base/clock.h"
#include "base/freshness.h"
#include "kube/client/api_client.h"
#include "kube/objects/rest_mapping.h"
#include "kube/objects/selector.h"
#include "scaler/questions/answer.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

// How long a source may take to answer.
inline constexpr absl::Duration kReadTimeout = absl::Seconds(10);
// How old a sample of a custom metric may be, whatever the adapter's --query-freshness allows
// others; the samples of all other metrics are of the moment.
inline constexpr absl::Duration kReadAge = absl::Milliseconds(100);

struct AskContext {
  adapter::Providers providers;
  std::shared_ptr<const kube::RestMapper> mapper;
  absl::Time now;
};

class Question {
 public:
  virtual ~Question() = default;

  // Names a part: no two parts of one question ever have the same.
  using PartId = uint64_t;
  struct PartAnswer {
    PartId part = 0;
    std::shared_ptr<Answer> answer;  // nullptr: the part's last answer still holds...
    std::optional<absl::Time> time = std::nullopt;  // ...and LastAnswer::time is this
    SamplesRead read = {};                          // what it was made of, also if it still holds
  };
  // The answers to all parts.
  virtual std::vector<PartAnswer> Ask(const AskContext& context) = 0;

  // Whether Ask answers out of this process's memory and at once, so that a thread of its own would
  // cost more. Always the same.
  virtual bool AnswersAtOnce() const { return false; }

  // Whether the last answers are enough for all that ask now: somebody may have come while they
  // were asked for.
  virtual bool Covers() const { return true; }

  // Called when an autoscaler begins to use the question for that metric, and RemovePart when it no
  // longer does. RemovePart returns whether nobody does any more.
  virtual PartId AddPart(const MetricSpec& metric) {
    (void)metric;
    return 0;
  }
  virtual bool RemovePart(PartId part) {
    (void)part;
    return false;
  }

  // Called for each autoscaler before it asks, when the selector of its pods has changed.
  virtual void NoteSelector(absl::string_view text, const kube::Selector& selector) {
    (void)text, (void)selector;
  }
};

// A question with one part.
class WholeQuestion : public Question {
 public:
  std::vector<PartAnswer> Ask(const AskContext& context) final;

 protected:
  // Fills the part of `answer` that belongs to the question, or its error. Returns what it was made
  // of.
  virtual SamplesRead Ask(const AskContext& context, Answer& answer) = 0;
};

// Which pods a question is about. While all that ask have the same selector, only the pods of that
// are asked for; once there are several selectors, all pods of the namespace.
//
// Thread-safe.
class AskedPods {
 public:
  void Note(absl::string_view text, const kube::Selector& selector);
  // The selector to ask with; `whole_namespace` is set when it selects all pods.
  kube::Selector ToAsk(bool& whole_namespace);
  // Whether what was asked with last is enough for all.
  bool Covers() const;

 private:
  mutable absl::Mutex mutex_;
  bool noted_ ABSL_GUARDED_BY(mutex_) = false;
  bool several_ ABSL_GUARDED_BY(mutex_) = false;
  bool asked_for_all_ ABSL_GUARDED_BY(mutex_) = false;
  std::string text_ ABSL_GUARDED_BY(mutex_);
  kube::Selector selector_ ABSL_GUARDED_BY(mutex_);
};

// The same text for metrics of the same question; "" for a metric without one.
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
