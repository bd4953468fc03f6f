// The questions that decisions depend on. They are asked of the providers of the metrics APIs (in
// this process), of triggers, and, where no watch tells the scale, of the scale subresource.
//
// One question is shared by all autoscalers that ask the same (question_board.h). A question about
// external metrics has a part for each selector, since all selectors of a metric are asked for
// together; any other question has one part. Ask may block for kReadTimeout and is never called
// twice at once. Everything else may be called at any time.
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
// How old an answer to a query for a custom metric may be, even where --query-freshness allows
// other clients older ones. For all other metrics a new query is made.
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
    std::shared_ptr<Answer> answer;  // nullptr: the part's last answer still holds...
    std::optional<absl::Time> time = std::nullopt;  // ...and this is its LastAnswer::time
    SamplesRead read = {};  // the samples that the answer was made of, also where it still holds
  };
  // Asks, and returns the answers to all parts.
  virtual std::vector<PartAnswer> Ask(const AskContext& context) = 0;

  // Whether Ask answers from this process's memory at once, so that handing it to another thread
  // would cost more than it takes. The result never changes.
  virtual bool AnswersAtOnce() const { return false; }

  // Whether the last answers cover all autoscalers that ask now: one may have been added, or may
  // have changed its selector, while the question was being asked.
  virtual bool Covers() const { return true; }

  // Called when an autoscaler begins to use the question for that metric; RemovePart is called when
  // it no longer does, and returns whether the part has no users left.
  virtual PartId AddPart(const MetricSpec& metric) {
    (void)metric;
    return 0;
  }
  virtual bool RemovePart(PartId part) {
    (void)part;
    return false;
  }

  // Called for each part before it is asked, when the selector of its holder's pods has changed;
  // ForgetSelector is called with that text when it has changed again, or the part is gone.
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
  // that it was made of.
  virtual SamplesRead Ask(const AskContext& context, Answer& answer) = 0;
};

// Which pods a question is about. While all autoscalers that ask it have the same selector, only
// the pods of that selector are asked for; while there are several, all pods of the namespace.
//
// Thread-safe.
class AskedPods {
 public:
  void Note(absl::string_view text, const kube::Selector& selector);
  // Takes one Note of that text back.
  void Forget(absl::string_view text);
  struct Choice {
    kube::Selector selector;
    bool whole_namespace = false;  // it selects all pods, since there are several selectors
    bool same = false;             // as the last time
  };
  // The selector to ask with.
  Choice ToAsk();
  // Whether the selector that ToAsk returned last covers all that are noted.
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

// A text that is the same for all metrics which one question covers; "" for a metric that has no
// question.
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
