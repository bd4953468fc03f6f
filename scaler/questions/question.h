// The questions that decisions depend on. They are asked of the providers of the metrics APIs (in
// this process), of triggers, and, where no watch reports the scale, of its subresource.
//
// Autoscalers that ask the same share one question (question_board.h). A question about external
// metrics has a part for each selector, since one request asks for all selectors of a metric; any
// other question has one part. Ask may block for kReadTimeout and is never called twice at once.
// All other methods may be called at any time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
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
// Maximum age of an answer for a custom metric, even if --query-freshness allows other clients
// older ones. All other metrics are always queried.
inline constexpr absl::Duration kReadAge = absl::Milliseconds(100);

struct AskContext {
  adapter::Providers providers;
  std::shared_ptr<const kube::RestMapper> mapper;
  absl::Time now;
};

class Question {
 public:
  virtual ~Question() = default;

  // Identifies a part: no two parts of one question ever have the same id.
  using PartId = uint64_t;
  struct PartAnswer {
    PartId part = 0;
    std::shared_ptr<Answer> answer;  // nullptr: the part's last answer is still valid...
    std::optional<absl::Time> time = std::nullopt;  // ...and this is its LastAnswer::time
    SamplesRead read = {};  // samples that the answer was made of; also set if `answer` is null
  };
  // Asks, and returns an answer for each part.
  virtual std::vector<PartAnswer> Ask(const AskContext& context) = 0;

  // Whether Ask answers at once from this process's memory, so that handing it to another thread
  // would cost more than the call. The result never changes.
  virtual bool AnswersAtOnce() const { return false; }

  // Whether the last answers cover all autoscalers that ask now. While the question was being
  // asked, one may have been added or have changed its selector.
  virtual bool Covers() const { return true; }

  // Called when an autoscaler begins to use the question for that metric. RemovePart is called when
  // it no longer does, and returns whether the part has no users left.
  virtual PartId AddPart(const MetricSpec& metric) {
    (void)metric;
    return 0;
  }
  virtual bool RemovePart(PartId part) {
    (void)part;
    return false;
  }

  // Called before a part is asked, if the selector of its holder's pods has changed. ForgetSelector
  // is called with that text when it changes again or the part is removed.
  virtual void NoteSelector(absl::string_view text, const kube::Selector& selector) {
    (void)text, (void)selector;
  }
  virtual void ForgetSelector(absl::string_view text) { (void)text; }
};

// A question with one part.
class WholeQuestion : public Question {
 public:
  std::vector<PartAnswer> Ask(const AskContext& context) final;

 protected:
  // Fills the fields of `answer` that belong to the question, or its error. Returns the samples
  // that the answer was made of.
  virtual SamplesRead Ask(const AskContext& context, Answer& answer) = 0;
};

// Which pods a question is about. If all its autoscalers have the same selector, only the pods of
// that selector are asked for, otherwise all pods of the namespace.
//
// Thread-safe.
class AskedPods {
 public:
  void Note(absl::string_view text, const kube::Selector& selector);
  // Undoes one Note of that text.
  void Forget(absl::string_view text);
  struct Choice {
    kube::Selector selector;
    bool whole_namespace = false;  // it selects all pods, since there are several selectors
    bool same = false;             // as in the last call
  };
  // The selector to ask with.
  Choice ToAsk();
  // Whether the selector that ToAsk returned last covers all noted selectors.
  bool Covers() const;

 private:
  struct Noted {
    kube::Selector selector;
    int times = 0;
  };

  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, Noted> noted_ ABSL_GUARDED_BY(mutex_);  // by text
  bool asked_for_all_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<std::string> asked_
      ABSL_GUARDED_BY(mutex_);  // the text of what ToAsk returned last
};

// A text that is the same for all metrics that share a question; "" for a metric that has none.
std::string QuestionKey(const std::string& ns, const MetricSpec& metric);

// The question of a metric spec. nullptr if its type is unknown or its selector does not compile;
// the math reports that.
std::shared_ptr<Question> MakeMetricQuestion(const std::string& ns, const MetricSpec& metric);

// Asks a trigger for its metrics and their readings. The clock outlives the question.
std::shared_ptr<Question> MakeTriggerQuestion(std::shared_ptr<Trigger> trigger, Clock& clock);

// Asks for the scale subresource of one object. The client outlives the question.
std::shared_ptr<Question> MakeScaleQuestion(kube::ApiClient& client, kube::ResourceInfo target,
                                            std::string ns, std::string name);

}  // namespace flyball::scaler
